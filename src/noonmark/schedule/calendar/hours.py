"""Hours of a day, and windows from one time to another."""

import re
from datetime import UTC, datetime

from noonmark.schedule.calendar.days import date_of, read_day
from noonmark.schedule.errors import ScheduleError

DAY_S = 86_400
_CLOCK = r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?"
_HOURS = re.compile(f"{_CLOCK}-{_CLOCK}")
_MOMENT = re.compile(rf"([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})t{_CLOCK}(z|[+-][0-9]{{2}}:?[0-9]{{2}})?")
_LAST_S = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp())


def read_hours(text: str, field: str) -> tuple[int, int] | None:
    """Start and end of `22:00-06:00` in seconds of the day, the end after the start; None if it is no such text."""
    found = _HOURS.fullmatch(text)
    if found is None:
        return None
    start_s, end_s = _seconds(found.groups()[:3], field), _seconds(found.groups()[3:], field)
    if start_s in (DAY_S, end_s):
        fix = "use hours such as 22:00-06:00; 00:00-24:00 is a whole day"
        raise ScheduleError(field, f"{text!r} is not a stretch of hours", fix)
    return start_s, end_s if end_s > start_s else end_s + DAY_S


def write_hours(start_s: int, end_s: int) -> str:
    return f"{_clock(start_s)}-{_clock(end_s if end_s <= DAY_S else end_s - DAY_S)}"


def read_window(text: str, field: str) -> tuple[int, int, bool] | None:
    """Start and end of `2026-12-24T18:00/2026-12-25T06:00` in seconds since 1970, and whether they are instants."""
    start, _, end = text.partition("/")
    first, last = _MOMENT.fullmatch(start), _MOMENT.fullmatch(end)
    if first is None or last is None:
        return None
    if (first[5] is None) != (last[5] is None):
        raise ScheduleError(field, "one end has an offset and the other has none", "write both with or both without")
    start_s, end_s = _moment(first, field), _moment(last, field)
    if start_s >= end_s:
        raise ScheduleError(field, f"{text.upper()!r} ends before it begins", "put the earlier time first")
    return start_s, end_s, first[5] is not None


def write_window(start_s: int, end_s: int, instants: bool) -> str:
    ends = (f"{date_of(at_s // DAY_S)}T{_clock(at_s % DAY_S)}" + "Z" * instants for at_s in (start_s, end_s))
    return "/".join(ends)


def _moment(found: re.Match[str], field: str) -> int:
    at_s = read_day(found[1], field) * DAY_S + _seconds(found.groups()[1:4], field)
    if found[5] not in (None, "z"):
        hours, minutes = int(found[5][1:3]), int(found[5][-2:])
        if hours > 14 or minutes > 59:
            raise ScheduleError(field, f"{found[5]!r} is not an offset", "use one such as +02:00, or Z for UTC")
        at_s -= (hours * 3600 + minutes * 60) * (-1 if found[5][0] == "-" else 1)
    if not 0 <= at_s <= _LAST_S:
        raise ScheduleError(field, f"{found[0].upper()!r} is out of bounds", "use the years 1970 to 9999")
    return at_s


def _seconds(parts: tuple[str | None, ...], field: str) -> int:
    hours, minutes, seconds = (int(part or 0) for part in parts)
    at_s = hours * 3600 + minutes * 60 + seconds
    if minutes > 59 or seconds > 59 or at_s > DAY_S:
        text = ":".join(part for part in parts if part is not None)
        raise ScheduleError(field, f"{text!r} is not a time of day", "use 00:00 to 24:00")
    return at_s


def _clock(at_s: int) -> str:
    text = f"{at_s // 3600:02d}:{at_s // 60 % 60:02d}"
    return f"{text}:{at_s % 60:02d}" if at_s % 60 else text
