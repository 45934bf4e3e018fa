"""How often: too often, unevenly, or not for a long time."""

import re
from collections.abc import Iterator
from itertools import pairwise

from noonmark.schedule.preview.context import PreviewContext
from noonmark.schedule.preview.model import Notice
from noonmark.schedule.preview.words import SECOND_US, length_text, moment_text
from noonmark.schedule.spec import Cron, Every

_YEAR_US = 366 * 86_400 * SECOND_US
_MINUTE_US = 60 * SECOND_US
_OFTEN = 12
"""Fires in a minute from which it is worth a word."""
_STEP = re.compile(r"\*/([0-9]+)")
_FIELDS = (("second", 60, "minute"), ("minute", 60, "hour"), ("hour", 24, "day"))


def long_silence(context: PreviewContext) -> Iterator[Notice]:
    if context.coming and context.coming[0] - context.now_us > _YEAR_US:
        first = moment_text(context.coming[0], context.where)
        yield Notice("long_silence", f"fires for the first time more than a year from now, at {first}")


def very_frequent(context: PreviewContext) -> Iterator[Notice]:
    if not context.coming:
        return
    minute = sum(at_us < context.coming[0] + _MINUTE_US for at_us in context.coming)
    if minute >= _OFTEN:
        pace = "every second" if minute == 60 else f"{minute} times in a minute"
        yield Notice("very_frequent", f"fires {pace}; each fire is a run of its own, with its own history")


def jitter_overlaps(context: PreviewContext) -> Iterator[Notice]:
    waits = [later - earlier for earlier, later in pairwise(context.coming)]
    if waits and min(waits) < context.jitter_s * SECOND_US:
        yield Notice(
            "jitter_overlaps",
            f"the jitter of {context.jitter_s:g} seconds is longer than the {length_text(min(waits) // SECOND_US)} "
            "between two fires; a job keeps its own place in the window, so its fires stay in order",
        )


def uneven_steps(context: PreviewContext) -> Iterator[Notice]:
    """`*/7` minutes counts from each full hour anew."""
    if not isinstance(context.plain, Cron):
        return
    for expression in context.plain.cron.split(";"):
        fields = expression.split()
        named = zip(fields[:-3], _FIELDS[-len(fields[:-3]) :], strict=True)
        for field, (unit, whole, larger) in named:
            step = _STEP.fullmatch(field)
            if step and whole % int(step[1]) and int(step[1]) < whole:
                yield _uneven(field, unit, larger, length=int(step[1]), last=whole % int(step[1]))
        if (step := _STEP.fullmatch(fields[-3])) and int(step[1]) > 1:
            yield Notice(
                "uneven_steps",
                f"{fields[-3]} days counts from the 1st of each month anew, so two fires may be a day apart",
            )


def fixed_delay(context: PreviewContext) -> Iterator[Notice]:
    if isinstance(context.plain, Every) and context.plain.pace == "delay":
        yield Notice("fixed_delay", "each fire waits for the end of the run before, so its times are not known ahead")


def _uneven(field: str, unit: str, larger: str, *, length: int, last: int) -> Notice:
    plural = "" if last == 1 else "s"
    return Notice(
        "uneven_steps",
        f"{field} {unit}s counts from each full {larger} anew: the last step before it is {last} {unit}{plural} long "
        f"instead of {length} (`every {length} {unit}s` keeps an even pace)",
    )
