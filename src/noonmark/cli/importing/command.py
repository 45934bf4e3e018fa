"""The commands: a manifest on stdout and the report on stderr, or --out FILE, or --apply."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from noonmark.cli.importing.found import Found, Note
from noonmark.cli.manifest.export import HINT, entry_of
from noonmark.cli.output import Output, to_yaml
from noonmark.cli.session import Api, changes
from noonmark.clock import own_time_us
from noonmark.errors import InvalidInput

imports = typer.Typer(no_args_is_help=True, help="Bring jobs from elsewhere, with a report of what was left behind.")

OutFile = Annotated[Path | None, typer.Option("--out", metavar="FILE", dir_okay=False, help="Write the manifest here.")]
ApplyFlag = Annotated[bool, typer.Option("--apply", help="Make the jobs at once, as `noonmark apply` does.")]
YesFlag = Annotated[bool, typer.Option("--yes", "-y", help="With --apply: do not ask.")]
ManagedBy = Annotated[
    str | None, typer.Option("--managed-by", metavar="NAME", help="The manifest's name, for `apply --prune`.")
]
Zone = Annotated[str | None, typer.Option("--tz", metavar="ZONE", help="The zone of times that name none.")]


@imports.command("crontab")
@changes
async def crontab(
    api: Api,
    file: Annotated[str, typer.Argument(metavar="FILE", help="What `crontab -l` says, or - for stdin.")],
    system: Annotated[bool, typer.Option("--system", help="Lines name a user: /etc/crontab, /etc/cron.d.")] = False,
    user: Annotated[
        str | None, typer.Option("--user", help="Whose crontab it is; with --system only this user's lines.")
    ] = None,
    task: Annotated[str, typer.Option("--task", help="The task that runs the commands.")] = "shell",
    tz: Zone = None,
    managed_by: ManagedBy = None,
    out: OutFile = None,
    apply: ApplyFlag = False,
    yes: YesFlag = False,
) -> None:
    """Import a crontab: schedules, environment, comments as names, % as standard input."""
    from noonmark.cli.importing.crontab import Options, read_crontab

    found = Found(own_time_us())
    source = "stdin" if file == "-" else file
    read_crontab(_text(file), found, Options(source=source, system=system, user=user, task=task, tz=tz))
    await _deliver(api, found, managed_by, out, apply, yes)


@imports.command("celery")
@changes
async def celery(
    api: Api,
    target: Annotated[str, typer.Argument(metavar="MODULE", help="Or a file; :app names the object. It is run.")],
    managed_by: ManagedBy = None,
    out: OutFile = None,
    apply: ApplyFlag = False,
    yes: YesFlag = False,
) -> None:
    """Import the beat schedule of a Celery app."""
    from noonmark.cli.importing.celery import import_celery

    found = Found(own_time_us())
    import_celery(target, found)
    await _deliver(api, found, managed_by, out, apply, yes)


@imports.command("apscheduler")
@changes
async def apscheduler(
    api: Api,
    target: Annotated[
        str, typer.Argument(metavar="MODULE", help="Or a file, also JSON; :scheduler names the object. It is run.")
    ],
    tz: Zone = None,
    managed_by: ManagedBy = None,
    out: OutFile = None,
    apply: ApplyFlag = False,
    yes: YesFlag = False,
) -> None:
    """Import the jobs of an APScheduler 3: a scheduler, or a list of what add_job is called with."""
    from noonmark.cli.importing.apscheduler import import_apscheduler

    found = Found(own_time_us())
    import_apscheduler(target, found, tz or "UTC")
    await _deliver(api, found, managed_by, out, apply, yes)


async def _deliver(api: Api, found: Found, managed_by: str | None, out: Path | None, apply: bool, yes: bool) -> None:
    from noonmark.cli.show import console

    text = manifest_text(found, managed_by)
    if out is not None:
        _write(out, text)
    for_programs = api.output in (Output.JSON, Output.YAML)
    if not for_programs:
        console(stderr=True).print(report_table(found))
    if apply:
        from noonmark.cli.manifest.apply import apply_manifests
        from noonmark.cli.manifest.read import read_text

        await apply_manifests(api, read_text("the import", text), yes=yes, details={"notes": found.notes})
    elif for_programs:
        report = {"jobs": [entry_of(job.spec) for job in found.jobs], "notes": found.notes}
        api.show(report, lambda: None)
    elif out is None:
        typer.echo(text, nl=False)


def manifest_text(found: Found, managed_by: str | None) -> str:
    """Each job under the comments that it had."""
    lines = [HINT]
    if managed_by is not None:
        lines.append(f"managed_by: {managed_by}")
    lines.append("jobs:" if found.jobs else "jobs: []")
    for job in found.jobs:
        lines += [f"  # {comment}" for comment in job.comment]
        lines += [f"  {line}".rstrip() for line in to_yaml([entry_of(job.spec)]).splitlines()]
    return "\n".join(lines) + "\n"


def report_table(found: Found) -> Any:
    from rich.console import Group

    from noonmark.cli.show import table

    left = sum(not note.carried for note in found.notes)
    said = f"{len(found.jobs)} {'job' if len(found.jobs) == 1 else 'jobs'}, {left} not carried over"
    rows = [_row(note) for note in found.notes]
    parts: list[Any] = [table(["where", "job", "what", "advice"], rows)] if rows else []
    return Group(*parts, said + ".")


def _row(note: Note) -> tuple[str, ...]:
    return (note.where, "yes" if note.carried else "no", note.what, note.advice)


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise InvalidInput("--out", f"cannot write {file}: {error.strerror}", "name a file of your own") from None


def _text(file: str) -> str:
    if file == "-":
        return sys.stdin.read()
    try:
        return Path(file).read_text("utf-8", "surrogateescape")
    except OSError as error:
        raise InvalidInput("FILE", f"cannot read {file}: {error.strerror}", "name a crontab, or - for stdin") from None
