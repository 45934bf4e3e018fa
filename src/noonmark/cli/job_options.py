"""The options that describe a job, and what they mean on the wire."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

import msgspec
import typer

from noonmark.errors import InvalidInput
from noonmark.schedule.spec import At, Cron, Every, Manual, Now, ScheduleSpec


class MisfirePolicy(StrEnum):
    SKIP = "skip"
    ONCE = "once"
    ALL = "all"


_WHEN, _HOW = "When", "How"
Ref = Annotated[str, typer.Argument(metavar="REF", help="The job's name or id.")]
EveryOption = Annotated[
    str | None,
    typer.Option("--every", metavar="PERIOD", help="At a fixed rate: 30s, 5m, 1h30m.", rich_help_panel=_WHEN),
]
CronOption = Annotated[
    str | None, typer.Option("--cron", metavar="EXPR", help='By the clock: "0 1 * * *".', rich_help_panel=_WHEN)
]
ZoneOption = Annotated[
    str | None, typer.Option("--tz", metavar="ZONE", help="Time zone of --cron; UTC by default.", rich_help_panel=_WHEN)
]
AtOption = Annotated[
    str | None, typer.Option("--at", metavar="ISO", help="Once: 2030-01-31T09:00:00+01:00.", rich_help_panel=_WHEN)
]
NowOption = Annotated[bool, typer.Option("--now", help="Once, right away.", rich_help_panel=_WHEN)]
ManualOption = Annotated[bool, typer.Option("--manual", help="Only when triggered.", rich_help_panel=_WHEN)]
MisfireOption = Annotated[
    MisfirePolicy | None,
    typer.Option("--misfire", help="Occurrences missed while nobody could fire them.", rich_help_panel=_WHEN),
]
JitterOption = Annotated[
    float | None, typer.Option("--jitter-s", help="Spread starts over this many seconds.", rich_help_panel=_WHEN)
]
InputOption = Annotated[
    str | None,
    typer.Option("--input", metavar="JSON", help="Arguments of the task: an object or a list.", rich_help_panel=_HOW),
]
PriorityOption = Annotated[int | None, typer.Option(help="0 (last) to 9 (first).", rich_help_panel=_HOW)]
QueueOption = Annotated[str | None, typer.Option(help="Which workers take it.", rich_help_panel=_HOW)]
TimeoutOption = Annotated[
    float | None, typer.Option("--timeout-s", help="Time limit of an attempt.", rich_help_panel=_HOW)
]
AttemptsOption = Annotated[
    int | None, typer.Option("--max-attempts", help="Tries before it is a dead letter.", rich_help_panel=_HOW)
]


def read_schedule(
    every: str | None, cron: str | None, tz: str | None, at: str | None, now: bool, manual: bool
) -> ScheduleSpec | None:
    """The one schedule that was asked for, or None."""
    asked: list[ScheduleSpec] = []
    if every is not None:
        asked.append(Every(every=every))
    if cron is not None:
        asked.append(Cron(cron=cron, tz=tz or "UTC"))
    if at is not None:
        asked.append(At(at=read_time("--at", at)))
    if now:
        asked.append(Now())
    if manual:
        asked.append(Manual())
    if len(asked) > 1:
        raise InvalidInput("schedule", "more than one was given", "use one of --every, --cron, --at, --now, --manual")
    if tz is not None and cron is None:
        raise InvalidInput("--tz", "a time zone is for --cron alone", "add --cron, or leave --tz out")
    return asked[0] if asked else None


def read_time(field: str, text: str) -> datetime:
    fix = "write it as 2030-01-31T09:00:00+01:00, or with Z for UTC"
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(field, f"{text!r} is not a time", fix) from None
    if moment.tzinfo is None:
        raise InvalidInput(field, f"{text!r} has no time zone", fix)
    return moment


def read_input(text: str | None) -> msgspec.Raw | None:
    """JSON that is passed on as it was written."""
    if text is None:
        return None
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        fix = """quote it for the shell: --input '{"name": "Ada"}'"""
        raise InvalidInput("--input", f"this is not JSON: {error}", fix) from None
    return msgspec.Raw(text.encode())
