"""How command lines are read: errors as one line and an exit code, `--watch` without a number, a command by default."""

import re
from typing import Any

import typer
from typer.core import TyperGroup

from noonmark.cli.exits import Exit
from noonmark.cli.output import WATCH_S
from noonmark.errors import NoonmarkError

_SECONDS = re.compile(r"[0-9]+(\.[0-9]*)?|\.[0-9]+")


class Root(TyperGroup):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, with_interval(args))

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except NoonmarkError as error:
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            raise typer.Exit(Exit.INTERRUPTED) from None


class Starting(TyperGroup):
    """A noun that also is a process: `noonmark node …` is `noonmark node start …`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        first = args[0] if args else ""
        if first not in self.commands and first not in ctx.help_option_names:
            args = ["start", *args]
        return super().parse_args(ctx, args)


def with_interval(arguments: list[str]) -> list[str]:
    """`--watch` alone means every two seconds; an option with a value at will is more than the parser knows."""
    found: list[str] = []
    for position, argument in enumerate(arguments):
        following = arguments[position + 1] if position + 1 < len(arguments) else ""
        alone = argument in ("--watch", "-w") and not _SECONDS.fullmatch(following)
        found.append(f"--watch={WATCH_S:g}" if alone else argument)
        if argument == "--":
            return found + arguments[position + 1 :]
    return found
