"""What is left out or counted in a way of its own: bounds, times in the past, creation, midnight, H."""

import re
from collections.abc import Iterator

from noonmark.schedule.preview.context import PreviewContext
from noonmark.schedule.preview.model import Notice
from noonmark.schedule.preview.words import moment_text
from noonmark.schedule.spec import Cron, English, Every, Recurring, Rrule, Times, instant_us

_NAMES_A_TIME = re.compile(
    r"\bat\b|\bmidnight\b|\bnoon\b|[0-9]:[0-9]|[0-9] ?[ap]\.?m\b|\b(?:hour|minute|second)", re.IGNORECASE
)
_AT_MIDNIGHT = re.compile(r"0 0 \S+ \S+ \S+")
_HASH = re.compile(r"\bH\b")


def past_times(context: PreviewContext) -> Iterator[Notice]:
    if isinstance(context.plain, Times):
        past = sum(instant_us(moment) <= context.now_us for moment in context.plain.times)
        if past:
            which = "1 of its times is" if past == 1 else f"{past} of its times are"
            yield Notice("past_times", f"{which} in the past and will not fire")


def midnight(context: PreviewContext) -> Iterator[Notice]:
    written = context.written
    if not isinstance(written, English) or _NAMES_A_TIME.search(written.english):
        return
    if isinstance(context.plain, Cron) and _AT_MIDNIGHT.fullmatch(context.plain.cron):
        yield Notice("midnight", "names no time of day, so it fires at midnight (add `at 9:00`)")


def ending(context: PreviewContext) -> Iterator[Notice]:
    last_us = context.last_us
    if last_us is None or not isinstance(context.plain, Recurring) or isinstance(context.plain, Times):
        return
    yield Notice("ends", f"fires for the last time at {moment_text(last_us, context.where)}")


def hash_without_name(context: PreviewContext) -> Iterator[Notice]:
    if not context.key and isinstance(context.plain, Cron) and _HASH.search(context.plain.cron):
        yield Notice("hash_without_name", "H depends on the job's name: these times are those of a job without one")


def counted_from_creation(context: PreviewContext) -> Iterator[Notice]:
    match context.plain:
        case Rrule(rrule=rule) if "DTSTART" not in rule:
            sets_it = "DTSTART"
        case Every(anchor=None, pace="rate"):
            sets_it = "an anchor"
        case _:
            return
    hint = "" if isinstance(context.written, English) else f" ({sets_it} sets the first time)"
    yield Notice("counted_from_creation", f"is counted from the creation of the job, here taken as now{hint}")
