"""ISO 8601 repeating intervals: `R/2026-01-01T00:00Z/PT5M`, with a start, an end, or neither, counted from creation.

An occurrence is the start of an interval. With `R5` there are five, the first at the start. `R/start/end` repeats by
the time between the two; `R/duration/end` counts back from the end, at which the last occurrence falls. Without a
start, the first comes one duration after creation.
"""

import re
from datetime import UTC, datetime, timedelta

import msgspec

from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.forms.duration import Duration, duration_text, read_duration
from noonmark.schedule.forms.period import MAX_PERIOD_S
from noonmark.schedule.forms.steps import StepsPattern, steps_body
from noonmark.schedule.zones import zone

__all__ = ["IntervalParts", "StepsPattern", "canonical_interval", "read_interval"]

MAX_COUNT = 10_000
_FIELD = "schedule.iso"
_SECOND_US = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIX = "write R/2026-01-01T00:00Z/PT5M, R5/… for five occurrences, or R/PT5M to count from creation"
_TIME_FIX = "write 2026-01-31T09:00, with Z or an offset such as +01:00 unless tz is meant, from 1900 to 2199"
_REPEAT = re.compile(r"R([0-9]{0,9})")
_TIME = re.compile(
    r"[0-9]{4}(?:-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}(?::[0-9]{2}){1,2})?|[0-9]{4}(?:T[0-9]{4}(?:[0-9]{2})?)?)"
    r"(?:(?<=[0-9T:]{3})(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?))?"
)
_MAX_MONTHS = 1_200


class IntervalParts(msgspec.Struct, frozen=True, kw_only=True):
    """Either a fixed period, counted from `start_us`, or steps of the calendar."""

    tz: str
    period_s: int | None = None
    steps: str | None = None
    """The body of a StepsPattern, by the wall clock of the zone."""
    start_us: int
    """No occurrence before."""
    end_us: int | None = None
    """No occurrence after."""
    count: int | None = None
    """So many occurrences from the start."""


class _Written(msgspec.Struct, frozen=True):
    """The parts of a text; times are aware, and at most one of start and end is given."""

    count: int | None
    step: Duration
    start: datetime | None = None
    end: datetime | None = None


def read_interval(text: str, tz: str, created_us: int) -> IntervalParts:
    """The interval of a job that was created at a time, or a ScheduleError; tz is a canonical zone."""
    written = _read(text, tz)
    step, count = written.step, written.count
    if _by_calendar(step, tz):
        start = written.start or _at(created_us // _SECOND_US, tz)
        start_us = _instant_s(start) * _SECOND_US if written.start else (created_us // _SECOND_US + 1) * _SECOND_US
        return IntervalParts(tz=tz, steps=steps_body(start, step), start_us=start_us, count=count)
    period = step.fixed_s
    end_us = None
    if written.end is not None:
        end_s = _instant_s(written.end)
        to_come = max((end_s - 1 - created_us // _SECOND_US) // period, 0)
        start_s = end_s - (to_come if count is None else count - 1) * period
        end_us = end_s * _SECOND_US
    elif written.start is not None:
        start_s = _instant_s(written.start)
    else:
        start_s = created_us // _SECOND_US + period
    return IntervalParts(tz=tz, period_s=period, start_us=start_s * _SECOND_US, end_us=end_us, count=count)


def canonical_interval(text: str, tz: str) -> str:
    """One way to write it: `R5/2026-01-01T00:00:00Z/PT5M`; what the calendar counts starts by the clock of the zone."""
    written = _read(text, tz)
    repeat = "R" if written.count is None else f"R{written.count}"
    step = duration_text(written.step)
    if written.start is not None and _by_calendar(written.step, tz):
        return f"{repeat}/{written.start:%Y-%m-%dT%H:%M:%S}/{step}"
    start, end = (_utc_text(moment) for moment in (written.start, written.end))
    return f"{repeat}/{start}/{step}" if start else f"{repeat}/{step}/{end}" if end else f"{repeat}/{step}"


def _read(text: str, tz: str) -> _Written:
    if len(text) > 100:
        raise ScheduleError(_FIELD, f"{text[:40]!r}… is too long", _FIX)
    repeat, *rest = text.strip().upper().split("/")
    count = _count(repeat)
    match [read_duration(part) or _time(part, tz) for part in rest]:
        case [Duration() as step]:
            return _Written(count, _checked(step, rest[0]))
        case [datetime() as start, Duration() as step]:
            return _Written(count, _checked(step, rest[1]), start)
        case [datetime() as start, datetime() as end]:
            between = Duration(seconds=_instant_s(end) - _instant_s(start))
            return _Written(count, _checked(between, "/".join(rest)), start)
        case [Duration() as step, datetime() as end]:
            if _by_calendar(step, tz):
                fix = f"write the start: {repeat}/start/{rest[0]}"
                raise ScheduleError(_FIELD, f"{rest[0]!r} cannot be counted back from an end", fix)
            return _Written(count, _checked(step, rest[0]), end=end)
    raise ScheduleError(_FIELD, f"{text!r} is not a repeating interval", _FIX)


def _by_calendar(step: Duration, tz: str) -> bool:
    """Days of UTC all have 24 hours; those of other zones, and months, have the length that the calendar says."""
    return bool(step.months or (step.days and tz != "UTC"))


def _count(repeat: str) -> int | None:
    match = _REPEAT.fullmatch(repeat)
    if match is None:
        raise ScheduleError(_FIELD, f"{repeat!r} is not R or R and a number", _FIX)
    if not match[1]:
        return None
    if not 1 <= int(match[1]) <= MAX_COUNT:
        fix = f"use R1 to R{MAX_COUNT}, or R for no limit"
        raise ScheduleError(_FIELD, f"{repeat!r} is not a number of occurrences that we know", fix)
    return int(match[1])


def _checked(step: Duration, text: str) -> Duration:
    if step.months == 0 and step.fixed_s < 1:
        raise ScheduleError(_FIELD, f"{text!r} is below the shortest period of 1 second", _FIX)
    if step.months > _MAX_MONTHS or step.fixed_s > MAX_PERIOD_S:
        raise ScheduleError(_FIELD, f"{text!r} is above the longest period", "use at most 100 years or 3660 days")
    return step


def _time(text: str, tz: str) -> datetime:
    """A time on the clock of the zone."""
    try:
        moment = datetime.fromisoformat(text) if _TIME.fullmatch(text) else None
    except ValueError:
        moment = None
    if moment is None or not 1900 <= moment.year <= 2199:
        raise ScheduleError(_FIELD, f"{text!r} is neither a time nor a duration in whole seconds", _TIME_FIX)
    return moment.replace(tzinfo=zone(tz)) if moment.tzinfo is None else moment.astimezone(zone(tz))


def _at(instant_s: int, tz: str) -> datetime:
    return (_EPOCH + timedelta(seconds=instant_s)).astimezone(zone(tz))


def _instant_s(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(seconds=1)


def _utc_text(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
