"""Reads a period of fixed length: "5m", "1 hour 30 minutes", "PT5M" or a number of seconds."""

import re

from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.forms.duration import read_duration

MAX_PERIOD_S = 3660 * 86_400
MAX_OFFSET_S = 43_200
_FIELD = "schedule.every"
_OFFSET_FIELD = "schedule.offset"
_OFFSET_FIX = 'use a number of seconds or a text such as "-30m", within 12 hours'
_FIX = (
    "write whole seconds of at least 1 as a number (90), in units, the largest first "
    '("1h30m", "90s", "2 days", "1w"), or as an ISO 8601 duration ("PT1H30M")'
)
_CALENDAR_FIX = "use days, an RRULE (FREQ=MONTHLY) or an ISO 8601 interval (R/2026-01-31T09:00/P1M)"
_UNITS = ("w|weeks?", "d|days?", "h|hrs?|hours?", "m|mins?|minutes?", "s|secs?|seconds?")
_TEXT = re.compile(r"\s*".join(rf"(?:([0-9]+)\s*(?:{unit}))?" for unit in _UNITS))
_SECONDS = (604_800, 86_400, 3_600, 60, 1)


def period_s(every: str | int | float) -> int:
    """The whole seconds of a period, or a ScheduleError."""
    seconds = _from_text(every) if isinstance(every, str) else _from_number(every)
    if seconds < 1:
        raise ScheduleError(_FIELD, f"{every!r} is below the shortest period of 1 second", _FIX)
    if seconds > MAX_PERIOD_S:
        raise ScheduleError(_FIELD, f"{str(every)[:40]!r} is above the longest period", "use at most 3660 days")
    return seconds


def period_text(seconds: int) -> str:
    """The shortest way to write a period in units: 5400 is "1h30m"."""
    text = ""
    for unit, size in zip("wdhms", _SECONDS, strict=True):
        count, seconds = divmod(seconds, size)
        text += f"{count}{unit}" if count else ""
    return text


def is_period(text: str) -> bool:
    """Whether a text looks like a period, be it out of bounds."""
    lowered = _lowered(text)
    return bool(lowered) and (read_duration(lowered) is not None or _TEXT.fullmatch(lowered) is not None)


def offset_s(offset: str | int) -> int:
    """The whole seconds of an offset within 12 hours, before (`-30m`) or after."""
    seconds = _signed(offset) if isinstance(offset, str) else offset
    if isinstance(offset, bool) or not -MAX_OFFSET_S <= seconds <= MAX_OFFSET_S:
        raise ScheduleError(_OFFSET_FIELD, f"{str(offset)[:40]!r} is out of bounds", _OFFSET_FIX)
    return seconds


def _signed(offset: str) -> int:
    length = offset.strip()
    sign = -1 if length.startswith("-") else 1
    length = length[1:] if length.startswith(("+", "-")) else length
    try:
        return 0 if length in ("0", "0s") else sign * period_s(length)
    except ScheduleError as error:
        message = f"{offset[:40]!r} is not an offset in whole seconds"
        raise ScheduleError(_OFFSET_FIELD, message, _OFFSET_FIX) from error


def _from_number(number: int | float) -> int:
    if not abs(number) <= 1e15:  # nan as well
        raise ScheduleError(_FIELD, "the number is out of bounds", _FIX)
    if isinstance(number, bool) or number != int(number):
        raise ScheduleError(_FIELD, f"{number} is not a whole number of seconds", _FIX)
    return int(number)


def _from_text(text: str) -> int:
    lowered = _lowered(text)
    if lowered.startswith("p"):
        return _from_duration(text.strip())
    match = _TEXT.fullmatch(lowered)
    if not lowered or match is None:
        raise ScheduleError(_FIELD, f"{text[:40]!r} is not a period in whole seconds", _FIX)
    return sum(int(count) * size for count, size in zip(match.groups(default="0"), _SECONDS, strict=True))


def _lowered(text: str) -> str:
    return text.strip().lower() if len(text) <= 60 else ""


def _from_duration(text: str) -> int:
    duration = read_duration(text.lower())
    if duration is None:
        raise ScheduleError(_FIELD, f"{text[:40]!r} is not an ISO 8601 duration in whole seconds", _FIX)
    if duration.months:
        raise ScheduleError(_FIELD, f"{text[:40]!r} has no fixed length: months and years differ", _CALENDAR_FIX)
    return duration.fixed_s
