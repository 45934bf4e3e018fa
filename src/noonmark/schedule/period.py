"""Reads a period: "5m", "1h30m" or a number of seconds."""

import re

from noonmark.schedule.errors import ScheduleError

MAX_PERIOD_S = 3660 * 86_400
_FIELD = "schedule.every"
_FIX = 'write whole seconds of at least 1 as a number (90) or in units, the largest first ("1h30m", "90s", "2d", "1w")'
_TEXT = re.compile(r"(?:([0-9]+)w)?(?:([0-9]+)d)?(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+)s)?")
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


def _from_number(number: int | float) -> int:
    if not abs(number) <= 1e15:  # nan as well
        raise ScheduleError(_FIELD, "the number is out of bounds", _FIX)
    if isinstance(number, bool) or number != int(number):
        raise ScheduleError(_FIELD, f"{number} is not a whole number of seconds", _FIX)
    return int(number)


def _from_text(text: str) -> int:
    compact = text.strip().lower().replace(" ", "")
    match = _TEXT.fullmatch(compact)
    if not compact or len(compact) > 40 or match is None:
        raise ScheduleError(_FIELD, f"{text[:40]!r} is not a period in whole seconds", _FIX)
    return sum(int(count) * size for count, size in zip(match.groups(default="0"), _SECONDS, strict=True))
