"""What `noonmark up` says when everything runs."""

import shlex
import shutil
import sys
from pathlib import Path

from rich.markup import escape

from noonmark.cli.up.follow import SAMPLE
from noonmark.client.client import DEFAULT_SERVER
from noonmark.client.local_key import DATA_DIR, FILE

FIRST_TASK = '''\
    from noonmark.app import App

    app = App()

    @app.task
    async def greet(name: str) -> str:
        return f"Hello, {name}!"'''


def own_command() -> str:
    """How the reader can call us: by name if that is on the path, else as we were called."""
    if shutil.which("noonmark"):
        return "noonmark"
    called = Path(sys.argv[0])
    if called.name != "noonmark":
        return "python -m noonmark"
    here = Path.cwd()
    return shlex.quote(
        str(called.relative_to(here) if called.is_absolute() and called.is_relative_to(here) else called)
    )


def welcome(url: str, data_dir: Path, embedded: bool, token: str | None, sample: bool) -> str:
    """In rich's markup."""
    us = escape(own_command())
    lines = ["", "[bold]Noonmark is up.[/bold]", "", f"  API    {url}"]
    if embedded:
        lines.append(f"  Data   {escape(str(data_dir / 'postgres'))}")
    lines.append(f"  Logs   {escape(str(data_dir))}/*.log")
    if not token:
        lines.append(f"  Key    {escape(str(data_dir / FILE))}  [dim]an admin's; the command line finds it[/dim]")
    lines += ["", "In another terminal:", ""]
    if url != DEFAULT_SERVER:
        lines.append(f"  [bold]export NOONMARK_SERVER={url}[/bold]")
    if token:
        lines.append("  [bold]export NOONMARK_TOKEN=…[/bold]  the token that you gave")
    elif data_dir != Path.cwd() / DATA_DIR:
        lines.append(f"  [bold]export NOONMARK_DATA_DIR={escape(shlex.quote(str(data_dir)))}[/bold]")
    lines.append(f"  [bold]{us} job list[/bold]")
    if sample:
        lines.append(f"  [bold]{us} job runs {SAMPLE}[/bold]")
    lines += [
        "",
        "Your own first task, in tasks.py:",
        "",
        escape(FIRST_TASK),
        "",
        f"  [bold]{us} worker tasks:app[/bold]",
        f"""  [bold]{us} job create greet --task greet --every 10s --input '{{"name": "Ada"}}'[/bold]""",
        "",
        "Ctrl-C stops everything; the data stays." + (f" Runs of the sample job {SAMPLE!r}:" if sample else ""),
        "",
    ]
    return "\n".join(lines)
