"""Answers as their reader wants them: tables for people, JSON and YAML for programs; once, or again and again."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Any

import msgspec
import typer

from noonmark.errors import TooBusy, Unavailable

WATCH_S = 2.0
_CLEAR = "\x1b[H\x1b[2J"


class Output(StrEnum):
    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"


class Screen:
    """Where answers go. One that is watched is redrawn on a terminal; piped, only what is new is written."""

    def __init__(self, output: Output, *, watching: bool = False) -> None:
        self.output = output
        self.watching = watching
        self._written: set[str] = set()

    def show(self, answer: Any, as_table: Callable[[], Any]) -> None:
        match self.output:
            case Output.JSON:
                self._write(to_json(answer, lines=not self.watching or sys.stdout.isatty()))
            case Output.YAML:
                self._write(("---\n" if self.watching else "") + to_yaml(answer))
            case _:
                self._draw(as_table())

    async def repeat(self, once: Callable[[], Awaitable[None]], interval_s: float) -> None:
        """Until Ctrl-C. The first time must work out; later a server that is away may come back."""
        await once()
        while True:
            await asyncio.sleep(interval_s)
            try:
                await once()
            except (Unavailable, TooBusy) as error:
                typer.echo(f"error: {error}", err=True)

    def _write(self, text: str) -> None:
        if not self.watching:
            typer.echo(text)
        elif sys.stdout.isatty():
            typer.echo(_CLEAR + text)
        elif text not in self._written:
            self._written = {text}
            typer.echo(text)

    def _draw(self, shown: Any) -> None:
        from noonmark.cli.show import console

        screen = console()
        if not self.watching:
            screen.print(shown)
        elif screen.is_terminal:
            screen.clear()
            screen.print(shown)
        else:
            with screen.capture() as captured:
                screen.print(shown)
            lines = [line.rstrip() for line in captured.get().splitlines()]
            for line in lines:
                if line not in self._written:
                    typer.echo(line)
            self._written = set(lines)
        sys.stdout.flush()


def to_json(answer: Any, *, lines: bool = True) -> str:
    encoded = msgspec.json.encode(answer)
    return (msgspec.json.format(encoded, indent=2) if lines else encoded).decode()


def to_yaml(answer: Any) -> str:
    import yaml

    # By way of JSON, so that times and raw inputs look as an API client would see them.
    plain = msgspec.json.decode(msgspec.json.encode(answer))
    return yaml.dump(plain, Dumper=yaml_dumper(), sort_keys=False, allow_unicode=True, width=120).rstrip("\n")


def yaml_dumper() -> Any:
    """Writes text of several lines as a block."""
    import yaml

    class Dumper(yaml.SafeDumper):
        def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
            super().increase_indent(flow, False)

    def block(dumper: Any, text: str) -> Any:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)

    Dumper.add_representer(str, block)
    return Dumper
