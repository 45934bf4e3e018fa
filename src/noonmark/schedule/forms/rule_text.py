"""Reads the lines of an RFC 5545 rule: DTSTART, RRULE, EXDATE and RDATE, or the one line that we write."""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Never

import msgspec

from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.forms.rule_parts import EPOCH, WEEKDAYS, RuleParts
from noonmark.schedule.zones import canonical_zone, zone

FIELD = "schedule.rrule"
MAX_COUNT = 10_000
_MAX_TEXT = 16_384
_MAX_DATES = 500
_MAX_INTERVAL = 1_000_000
_FREQUENCIES = ("YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY")
_SHAPE_FIX = "write lines such as DTSTART;TZID=Europe/Berlin:20260101T090000 and RRULE:FREQ=WEEKLY;BYDAY=MO,TH"
_MOMENT_FIX = "write 20260131T090000, or 20260131T080000Z for UTC, with a year from 1900 to 2199"
# A folded line goes on after a line break and a space; a line that is merely indented does not.
_FOLD = re.compile(r"\n[ \t](?![ \t]*(?:DTSTART|RRULE|EXRULE|RDATE|EXDATE)\b)", re.IGNORECASE)
_MOMENT = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})(?:T([0-9]{2})([0-9]{2})([0-9]{2})(Z?))?")
_DAY = re.compile(r"([+-]?[0-9]{1,2})?(MO|TU|WE|TH|FR|SA|SU)")
_NUMBER = re.compile(r"[+-]?[0-9]{1,3}")
# The field of RuleParts, the least and greatest value, and whether it may be counted from the end (-1 is the last).
_LISTS = {
    "BYMONTH": ("months", 1, 12, False),
    "BYWEEKNO": ("week_numbers", 1, 53, True),
    "BYYEARDAY": ("year_days", 1, 366, True),
    "BYMONTHDAY": ("month_days", 1, 31, True),
    "BYHOUR": ("hours", 0, 23, False),
    "BYMINUTE": ("minutes", 0, 59, False),
    "BYSECOND": ("seconds", 0, 59, False),
    "BYSETPOS": ("positions", 1, 366, True),
}


class _Line(msgspec.Struct, frozen=True):
    text: str
    name: str
    value: str
    tzid: str | None = None


class _Moment(msgspec.Struct, frozen=True):
    wall: datetime
    utc: bool
    date_only: bool


def parse_rule(text: str, tz: str | None) -> RuleParts:
    """The parts of a rule, or a ScheduleError that quotes the part that is wrong."""
    if len(text) > _MAX_TEXT:
        raise ScheduleError(FIELD, f"the text is above the bound of {_MAX_TEXT} characters", "use a shorter rule")
    by_name: dict[str, list[_Line]] = {}
    for line in _lines(text):
        by_name.setdefault(line.name, []).append(line)
    for name, lines in by_name.items():
        if len(lines) > 1 and name not in ("EXDATE", "RDATE"):
            fix = "make one job for each rule" if name == "FREQ" else f"leave one {name}"
            refuse(lines[1].text, f"is a second {name}", fix)
    if "FREQ" not in by_name:
        raise ScheduleError(FIELD, f"{text[:60]!r} has no FREQ", _SHAPE_FIX)
    start = by_name["DTSTART"][0] if "DTSTART" in by_name else None
    where = _zone_of(start, tz)
    whole_days = start is not None and _moment(start.value, start.text).date_only
    values: dict[str, Any] = {"tz": where, "start_s": start and _wall_s(start.value, start, where, dates=True)}
    for name, (field, least, greatest, from_end) in _LISTS.items():
        if name in by_name:
            line = by_name[name][0]
            values[field] = _unique(_bounded(item, line, least, greatest, from_end) for item in _items(line))
    for name, field in (("RDATE", "extra_s"), ("EXDATE", "removed_s")):
        items = [(item, line) for line in by_name.get(name, ()) for item in _items(line)]
        dates = [_wall_s(item, line, where, dates=whole_days) for item, line in items]
        if len(dates) > _MAX_DATES:
            refuse(by_name[name][0].text, f"is one of {len(dates)} dates", f"use at most {_MAX_DATES}")
        values[field] = _unique(dates)
    single: dict[str, tuple[str, Callable[[_Line], object]]] = {
        "FREQ": ("freq", _frequency),
        "INTERVAL": ("interval", lambda line: _whole(line, _MAX_INTERVAL)),
        "COUNT": ("count", lambda line: _whole(line, MAX_COUNT)),
        "UNTIL": ("until_s", lambda line: _until_s(line, where)),
        "WKST": ("week_start", _week_start),
        "BYDAY": ("week_days", lambda line: _unique(_week_day(item, line) for item in _items(line))),
    }
    values |= {field: read(by_name[name][0]) for name, (field, read) in single.items() if name in by_name}
    parts = RuleParts(**values)
    _check(parts, {name: lines[0].text for name, lines in by_name.items()})
    return parts


def refuse(part: str, problem: str, fix: str) -> Never:
    raise ScheduleError(FIELD, f"{part[:60]!r} {problem}", fix)


def _lines(text: str) -> list[_Line]:
    """The properties of the text, the parts of the RRULE among them as lines of their own."""
    found: list[_Line] = []
    unfolded = _FOLD.sub("", text.replace("\r\n", "\n").replace("\\n", "\n"))
    for raw in filter(None, map(str.strip, unfolded.split("\n"))):
        head, colon, value = raw.partition(":")
        name, *parameters = head.split(";")
        name = name.strip().upper()
        if name in ("DTSTART", "EXDATE", "RDATE") and colon:
            found.append(_Line(raw, name, value.strip().upper(), _tzid(raw, parameters)))
        elif name == "EXRULE":
            refuse(raw, "is no longer part of RFC 5545", "use EXDATE, or the schedule's exclude")
        elif (name == "RRULE" and colon and not parameters) or (not colon and "=" in name):
            found += map(_part, filter(None, (value if colon else raw).split(";")))
        else:
            refuse(raw, "is not a line of a rule", _SHAPE_FIX)
    return found


def _part(raw: str) -> _Line:
    name, _, value = raw.partition("=")
    line = _Line(raw.strip(), name.strip().upper(), value.strip().upper())
    if line.name not in (*_LISTS, "FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY", "DTSTART", "RDATE", "EXDATE"):
        refuse(line.text, "is not a part of a rule that we know", "use the parts of RFC 5545, without extensions")
    if not line.value:
        refuse(line.text, "has no value", f"write a value after {line.name}=, or leave it out")
    return line


def _tzid(raw: str, parameters: list[str]) -> str | None:
    tzid = None
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        value = value.strip().strip('"')
        if name.strip().upper() == "TZID" and value:
            tzid = _known_zone(value, raw)
        elif (name.strip().upper(), value.upper()) not in (("VALUE", "DATE"), ("VALUE", "DATE-TIME")):
            refuse(raw, f"has the parameter {parameter[:40]!r}", "use TZID=…, VALUE=DATE or VALUE=DATE-TIME")
    return tzid


def _known_zone(name: str, raw: str) -> str:
    try:
        return canonical_zone(name)
    except ScheduleError as error:
        raise ScheduleError(FIELD, f"{raw[:60]!r}: {error.message}", error.fix or _SHAPE_FIX) from error


def _zone_of(start: _Line | None, tz: str | None) -> str:
    """The zone that DTSTART names, else tz, else UTC."""
    given = None if tz is None else canonical_zone(tz)
    named = start and (start.tzid or ("UTC" if start.value.endswith("Z") else None))
    if start and start.tzid not in (None, "UTC") and start.value.endswith("Z"):
        refuse(start.text, "has both a zone and a Z", "leave out the TZID or the Z")
    if start and named and given and named != given:
        refuse(start.text, f"is in {named}, but tz is {given}", f"leave out tz, or write DTSTART;TZID={given}:…")
    return named or given or "UTC"


def _moment(value: str, part: str) -> _Moment:
    match = _MOMENT.fullmatch(value)
    if match is None:
        refuse(part, "is not a time", _MOMENT_FIX)
    *numbers, utc = match.groups(default="0")
    try:
        wall = datetime(*map(int, numbers), tzinfo=UTC)  # type: ignore[arg-type,misc]
    except ValueError:
        refuse(part, "is not a time of the calendar", _MOMENT_FIX)
    if not 1900 <= wall.year <= 2199:
        refuse(part, "is out of bounds", _MOMENT_FIX)
    return _Moment(wall, utc == "Z", match[4] is None)


def _wall_s(value: str, line: _Line, where: str, *, dates: bool) -> int:
    """A time on the wall clock of the rule's zone."""
    moment = _moment(value, line.text)
    if moment.date_only and not dates:
        fix = "add the time (20260131T090000); to leave out whole days, use the schedule's exclude"
        refuse(line.text, "names a day, but DTSTART a time", fix)
    wall, named = moment.wall, "UTC" if moment.utc else line.tzid
    if named not in (None, where):
        wall = wall.replace(tzinfo=zone(named)).astimezone(zone(where)).replace(tzinfo=UTC)
    return (wall - EPOCH) // timedelta(seconds=1)


def _until_s(line: _Line, where: str) -> int:
    """A day counts to its end."""
    last_s = 86_399 if _moment(line.value, line.text).date_only else 0
    return _wall_s(line.value, line, where, dates=True) + last_s


def _items(line: _Line) -> list[str]:
    return [item.strip() for item in line.value.split(",")]


def _unique(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(sorted(set(values)))


def _bounded(item: str, line: _Line, least: int, greatest: int, from_end: bool) -> int:
    value = int(item) if _NUMBER.fullmatch(item) else None
    if value is not None and (least <= value <= greatest or (from_end and -greatest <= value <= -1)):
        return value
    fix = f"use {least} to {greatest}" + (f", or -1 to -{greatest} from the end" if from_end else "")
    refuse(line.text, f"has {item[:20]!r}, which is out of range", fix)


def _whole(line: _Line, greatest: int) -> int:
    value = int(line.value) if re.fullmatch(r"[0-9]{1,9}", line.value) else 0
    if not 1 <= value <= greatest:
        refuse(line.text, "is out of range", f"use 1 to {greatest}")
    return value


def _frequency(line: _Line) -> str:
    if line.value not in _FREQUENCIES:
        refuse(line.text, "is not a frequency", f"use one of {', '.join(_FREQUENCIES)}")
    return line.value


def _week_start(line: _Line) -> int:
    if line.value not in WEEKDAYS:
        refuse(line.text, "is not a weekday", f"use one of {', '.join(WEEKDAYS)}")
    return WEEKDAYS.index(line.value)


def _week_day(item: str, line: _Line) -> tuple[int, int]:
    match = _DAY.fullmatch(item)
    if match is None or (match[1] and not 1 <= abs(int(match[1])) <= 53):
        refuse(line.text, f"has {item[:20]!r}, which is not a weekday", "use MO, 2TU (the second), -1FR (the last)")
    return WEEKDAYS.index(match[2]), int(match[1] or 0)


def _check(parts: RuleParts, texts: dict[str, str]) -> None:
    """Refuses what RFC 5545 forbids together."""
    frequency = parts.freq
    nth = max((abs(nth) for _, nth in parts.week_days), default=0)
    if parts.count is not None and parts.until_s is not None:
        refuse(texts["COUNT"], "stands together with UNTIL", "leave out one of them")
    if parts.week_numbers and frequency != "YEARLY":
        refuse(texts["BYWEEKNO"], "needs FREQ=YEARLY", "use FREQ=YEARLY, or leave out BYWEEKNO")
    if parts.year_days and frequency in ("MONTHLY", "WEEKLY", "DAILY"):
        refuse(texts["BYYEARDAY"], f"does not go with FREQ={frequency}", "use FREQ=YEARLY")
    if parts.month_days and frequency == "WEEKLY":
        refuse(texts["BYMONTHDAY"], "does not go with FREQ=WEEKLY", "use FREQ=DAILY or FREQ=MONTHLY with BYDAY")
    if nth and (frequency not in ("MONTHLY", "YEARLY") or parts.week_numbers):
        refuse(texts["BYDAY"], "counts weekdays, which needs FREQ=MONTHLY or YEARLY", "leave out the numbers")
    if nth > 5 and (frequency == "MONTHLY" or parts.months):
        refuse(texts["BYDAY"], "counts beyond the fifth weekday of a month", "use 1 to 5, or -1 to -5 from the end")
    lists = ("week_days", *(field for field, *_ in _LISTS.values() if field != "positions"))
    if parts.positions and not any(getattr(parts, field) for field in lists):
        refuse(texts["BYSETPOS"], "stands alone", "add the part that it picks from, such as BYDAY=MO,TU,WE,TH,FR")
