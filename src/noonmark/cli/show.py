"""Answers as tables: aligned columns, colour only on a terminal, nothing cut off when piped."""

import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from noonmark.schedule import write_schedule
from noonmark.schedule.spec import At, English, Every
from noonmark.wire.resources import Job

PIPED_WIDTH = 400
_STYLES = {
    "active": "green", "alive": "green", "succeeded": "green", "ok": "green", "running": "cyan",
    "warn": "yellow", "fail": "red",
    "paused": "yellow", "silent": "yellow", "retrying": "yellow", "parked": "yellow", "released": "yellow",
    "dead": "red", "failed": "red", "timed_out": "red", "expired": "red", "lost": "red",
    "cancelled": "dim", "withdrawn": "dim",
}  # fmt: skip


def console(*, stderr: bool = False) -> Console:
    """With NO_COLOR, and when piped, there is no escape sequence at all, not even for bold."""
    colours: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    screen = Console(stderr=stderr, highlight=False, soft_wrap=False, color_system=colours)
    return screen if screen.is_terminal else Console(stderr=stderr, highlight=False, width=PIPED_WIDTH, no_color=True)


def show(shown: Any) -> None:
    console().print(shown)


def plain(value: Any) -> str:
    """One line that is safe on a terminal: stored texts may hold escape sequences."""
    match value:
        case None:
            return "-"
        case datetime():
            return value.astimezone().strftime("%Y-%m-%d %H:%M:%S")
        case msgspec.Raw():
            text = bytes(value).decode(errors="replace")
        case list() | tuple():
            text = ", ".join(map(str, value)) or "-"
        case dict():
            text = msgspec.json.encode(value).decode()
        case _:
            text = str(value)
    return "".join(character if character.isprintable() else " " for character in text)


def first_line(text: str | None, width: int = 80) -> str:
    line = (text or "").strip().split("\n")[-1].strip()  # the last line of a traceback names the exception
    return line if len(line) <= width else line[: width - 1] + "…"


def style_of(word: str) -> str:
    return _STYLES.get(word, "")


def _cell(value: Any) -> Text:
    text = plain(value)
    return Text(text, style=style_of(text), overflow="fold")


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], empty: str = "Nothing to show.") -> Any:
    shown = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        shown.add_column(column.upper())
    for row in rows:
        shown.add_row(*map(_cell, row))
    return shown if shown.row_count else Text(empty)


def facts(pairs: Iterable[tuple[str, Any]]) -> Any:
    """One thing, a line for each of its sides."""
    shown = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for name, value in pairs:
        shown.add_row(Text(name, style="bold"), _cell(value))
    return shown


def schedule_text(job: Job) -> str:
    """As it is written if it is English, else in its one canonical form."""
    match job.schedule:
        case English(english=text):
            return text
        case At(at=at):
            return f"at {plain(at)}"
    text = job.canonical or write_schedule(job.schedule)
    return f"every {text}" if isinstance(job.schedule, Every) and job.schedule.pace == "rate" else text


def duration_text(seconds: float) -> str:
    """40 µs, 3 ms, 1.2 s, 4 min, 8 h."""
    if 0 < seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{max(seconds, 0) * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h"
