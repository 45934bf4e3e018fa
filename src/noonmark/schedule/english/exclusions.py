"""What is left out, or what is left: `holidays in DE`, `weekends`, `between 22:00 and 6:00`, and both at once."""

import re

from noonmark.schedule.calendar.rules import canonical_rule
from noonmark.schedule.english.days import is_day, read_month_names, read_weekdays
from noonmark.schedule.english.moments import is_date, read_day
from noonmark.schedule.english.said import Day
from noonmark.schedule.english.times import clock_text, is_time, more, read_window
from noonmark.schedule.english.tokens import FIELD, KNOWN, Reader, Token
from noonmark.schedule.english.words import MONTH_LENGTHS, MONTH_NAMES, MONTHS, WEEKDAYS
from noonmark.schedule.errors import ScheduleError

RULE_FIX = "write days or hours, such as 'on weekends', 'on holidays in DE', '2026-12-24' or 'between 22:00 and 6:00'"
_AGAIN = ("on", "the", "in", "public", "bank")
_HOLIDAYS = ("holidays", "holiday")
_CODE = re.compile(r"[a-z]{2,4}(?:-[a-z0-9]{1,10})?")
_DAY_NAMES = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")


def read_rules(reader: Reader) -> list[str]:
    """In the language of `exclude` and `only`."""
    while reader.skip_any(_AGAIN):
        pass
    found = _read_rule(reader)
    while more(reader, _AGAIN, lambda ahead: _is_rule(reader, ahead), RULE_FIX):
        found += _read_rule(reader)
    return list(dict.fromkeys(found))


def _is_rule(reader: Reader, ahead: int) -> bool:
    token = reader.peek(ahead)
    if token.text == "from":
        return is_date(reader, ahead + 1) or is_day(reader, ahead + 1) or is_time(reader, ahead + 1)
    if token.text == "between" or token.text in _HOLIDAYS or token.text in MONTHS or token.text in WEEKDAYS:
        return True
    if token.kind == "time":
        return reader.peek(ahead + 1).text == "-"
    return is_date(reader, ahead) or (token.kind == "number" and is_day(reader, ahead))


def _read_rule(reader: Reader) -> list[str]:
    token = reader.peek()
    days = _read_days(reader)
    hours = _read_hours(reader)
    if not days and hours is None:
        reader.confused(RULE_FIX)
    texts = [f"{day} {hours}" if hours else day for day in days] or [hours or ""]
    return [_checked(reader, token, text) for text in texts]


def _read_days(reader: Reader) -> list[str]:
    token = reader.peek()
    if token.text in _HOLIDAYS:
        reader.take()
        return _read_places(reader)
    if token.text in WEEKDAYS or (token.text in ("business", "working", "work") and is_day(reader)):
        return [",".join(_DAY_NAMES[day] for day in sorted(read_weekdays(reader)))]
    if is_day(reader) and (token.kind == "number" or token.text in MONTHS):
        return [_month_day(reader)]
    if token.text in MONTHS:
        return [",".join(MONTH_NAMES[month - 1][:3].lower() for month in sorted(read_month_names(reader)))]
    if is_date(reader):
        first = _plain_date(reader)
        if reader.peek().text in ("to", "until", "through") and is_date(reader, 1):
            reader.take()
            return [f"{first}/{_plain_date(reader)}"]
        return [first]
    opened = token.text in ("between", "from")
    if opened and is_date(reader, 1):
        reader.take()
        return [_stretch(reader, "and" if token.text == "between" else "to")]
    if opened and is_day(reader, 1):
        reader.take()
        first = _month_day(reader)
        reader.need(("and", "to", "until"), "write the day on which it ends")
        return [f"{first}/{_month_day(reader)}"]
    return []


def _read_hours(reader: Reader) -> str | None:
    if reader.peek().text == "between" and is_time(reader, 1):
        reader.take()
        window = read_window(reader, ("and",))
    elif reader.peek().text == "from" and is_time(reader, 1):
        reader.take()
        window = read_window(reader, ("to", "until", "till", "-"))
    elif reader.peek().kind in ("time", "number") and reader.peek(1).text == "-":
        window = read_window(reader, ("-",))
    else:
        return None
    return f"{clock_text(window.first_s)}-{clock_text(window.last_s)}"


def _read_places(reader: Reader) -> list[str]:
    fix = "say where, by its code: 'holidays in DE', 'holidays in US-CA', 'holidays in NYSE'"
    reader.need(("in", "of"), fix)
    places = [_read_place(reader, fix)]
    while more(reader, (), lambda ahead: _is_place(reader.peek(ahead)), None):
        places.append(_read_place(reader, fix))
    return [f"holidays {place}" for place in places]


def _is_place(token: Token) -> bool:
    return bool(_CODE.fullmatch(token.text)) and token.text not in KNOWN and token.text not in ("utc", "gmt")


def _read_place(reader: Reader, fix: str) -> str:
    token = reader.peek()
    if token.kind != "word" or not _CODE.fullmatch(token.text):
        reader.confused(fix)
    _checked(reader, token, f"holidays {token.written}")
    return reader.take().text.upper()


def _month_day(reader: Reader) -> str:
    first, second = reader.take(), reader.take()
    name, number = (first, second) if first.text in MONTHS else (second, first)
    if name.text not in MONTHS or not number.text[:1].isdigit():
        reader.wrong(second, "this is not a day of the year", "write '24 december'")
    month, day = MONTHS[name.text], int(number.text.rstrip("stndrh"))
    if not 1 <= day <= MONTH_LENGTHS[month - 1]:
        message = f"{MONTH_NAMES[month - 1]} has no day {day}"
        reader.wrong(number, message, f"write 1 to {MONTH_LENGTHS[month - 1]}")
    return f"{month:02}-{day:02}"


def _plain_date(reader: Reader) -> str:
    token = reader.peek()
    if token.kind == "moment":
        reader.wrong(token, f"{token.written!r} is a single time", f"write the whole day: {token.text[:10]}")
    if token.kind == "other_date":
        read_day(reader)
    return reader.take().text


def _stretch(reader: Reader, join: str) -> str:
    first = read_day(reader)
    reader.need((join, "to", "until"), f"write {join!r} and the date on which it ends")
    token = reader.peek()
    last = read_day(reader)
    if (first.time_s is None) != (last.time_s is None):
        reader.wrong(token, "one end has a time and the other has none", "write both with a time or both without")
    return f"{_text(first)}/{_text(last)}"


def _text(day: Day) -> str:
    if day.time_s is None:
        return f"{day.day}"
    sign, ahead = ("-", -day.offset_s) if (day.offset_s or 0) < 0 else ("+", day.offset_s or 0)  # type: ignore[operator]
    offset = "" if day.offset_s is None else f"{sign}{ahead // 3_600:02}:{ahead // 60 % 60:02}"
    return f"{day.day}T{clock_text(day.time_s)}{offset}"


def _checked(reader: Reader, token: Token, text: str) -> str:
    try:
        return canonical_rule(text, FIELD)
    except ScheduleError as error:
        reader.wrong(token, error.message, error.fix or RULE_FIX)
