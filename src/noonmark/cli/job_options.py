"""The options that describe a job, and their form on the wire."""

from enum import StrEnum
from typing import Annotated

import msgspec
import typer

from noonmark.cli.completion import complete_jobs
from noonmark.errors import InvalidInput
from noonmark.model.job import Misfire


class MisfirePolicy(StrEnum):
    SKIP = "skip"
    ONCE = "once"
    ALL = "all"


_WHEN, _HOW = "When", "How"
Ref = Annotated[str, typer.Argument(metavar="REF", help="The job's name or id.", autocompletion=complete_jobs)]
Refs = Annotated[
    list[str] | None, typer.Argument(metavar="REF...", help="Names or ids of jobs.", autocompletion=complete_jobs)
]
Limit = Annotated[int, typer.Option("--limit", min=1, help="How many at most.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
AtOption = Annotated[
    str | None, typer.Option("--at", metavar="ISO", help="Once: 2030-01-31T09:00:00+01:00.", rich_help_panel=_WHEN)
]
MisfireOption = Annotated[
    MisfirePolicy | None,
    typer.Option("--misfire", help="Occurrences missed while nobody could fire them.", rich_help_panel=_WHEN),
]
MisfireWindowOption = Annotated[
    float | None,
    typer.Option("--misfire-window-s", min=0, help="Missed by longer than this: not caught up.", rich_help_panel=_WHEN),
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

LabelOption = Annotated[
    list[str] | None,
    typer.Option("--label", "-l", metavar="KEY=VALUE", help="To select jobs by; repeatable.", rich_help_panel=_HOW),
]
LabelFilter = Annotated[
    list[str] | None,
    typer.Option("--label", "-l", metavar="KEY[=VALUE]", help="Only with this label; repeatable: with all of them."),
]


def read_labels(texts: list[str] | None) -> dict[str, str]:
    labels: dict[str, str] = {}
    for text in texts or ():
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise InvalidInput("--label", f"{text!r} has no value", "write it as KEY=VALUE")
        labels[key] = value
    return labels


def label_text(labels: dict[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in sorted(labels.items())) or "-"


def label_filter(texts: list[str] | None) -> list[str]:
    """As the API wants them: `key` or `key:value`."""
    return [text.replace("=", ":", 1) for text in texts or ()]


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


def changed_misfire(misfire: Misfire, policy: MisfirePolicy | None, window_s: float | None) -> Misfire:
    given = {"policy": None if policy is None else policy.value, "window_s": window_s}
    return msgspec.structs.replace(misfire, **{name: value for name, value in given.items() if value is not None})


def misfire_text(misfire: Misfire) -> str:
    return misfire.policy if misfire.window_s is None else f"{misfire.policy}, up to {misfire.window_s:g} s late"
