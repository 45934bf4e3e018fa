"""What the shell offers at Tab beyond options: names of jobs, if the server tells them at once."""

from enum import StrEnum
from typing import Annotated, Any

import typer

WITHIN_S = 0.8
MAX_OFFERED = 50


def complete_jobs(ctx: Any, incomplete: str) -> list[str]:
    """Silent whatever goes wrong: a completion has nobody to complain to."""
    import asyncio

    async def ask() -> list[str]:
        from noonmark.cli.session import client_of

        async with asyncio.timeout(WITHIN_S), client_of(ctx.params) as client:
            page = await client.list_jobs(name_prefix=incomplete or None, limit=MAX_OFFERED)
            return [job.name for job in page.items]

    try:
        return asyncio.run(ask())
    except Exception:
        return []


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"


def completion(shell: Annotated[Shell, typer.Argument(help="Yours.")]) -> None:
    """Print the script that completes commands, options and names of jobs: eval "$(noonmark completion bash)"."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    typer.echo(get_completion_script(prog_name="noonmark", complete_var="_NOONMARK_COMPLETE", shell=shell.value))
