"""Dates with times, as they are said and as instants of a zone."""

from datetime import UTC, date, datetime, time, timedelta, timezone

from noonmark.schedule.english.said import Day
from noonmark.schedule.english.times import clock_text, is_time, read_time
from noonmark.schedule.english.tokens import Reader
from noonmark.schedule.zones import zone

DATE_FIX = "write a date such as 2026-12-24"
_DAY_S = 86_400
_DATES = ("date", "moment", "other_date")


def is_date(reader: Reader, ahead: int = 0) -> bool:
    return reader.peek(ahead).kind in _DATES


def read_day(reader: Reader) -> Day:
    """A date, with a time if one follows."""
    token = reader.peek()
    if token.kind == "other_date":
        fix = "write year, month and day, such as 2026-12-24"
        reader.wrong(token, f"the parts of {token.written!r} could be day or month", fix)
    if not is_date(reader):
        reader.confused(DATE_FIX)
    reader.take()
    try:
        if token.kind == "moment":
            return _moment(token.text)
        day = date.fromisoformat(token.text)
    except ValueError:
        reader.wrong(token, f"there is no {token.written!r}", "write a date that the calendar has")
    if not 1970 <= day.year < 2900:
        reader.wrong(token, f"the year {day.year} is out of bounds", "write a year from 1970 to 2899")
    ahead = int(reader.peek().text == "at")
    if reader.peek(ahead).kind == "offset_time":
        for _ in range(ahead):
            reader.take()
        clock = reader.take()
        try:
            return _moment(f"{day}t{clock.text}" if clock.text[2] == ":" else f"{day}t0{clock.text}")
        except ValueError:
            reader.wrong(clock, f"there is no time {clock.written!r}", "write a time such as 18:00+01:00")
    if reader.peek(ahead).kind == "time" and reader.peek(ahead + 1).text == "-":
        fix = f"write it in one word: {day}T18:00-05:00"
        reader.wrong(reader.peek(ahead), "a time with an offset and two times look alike", fix)
    if is_time(reader, ahead) and (ahead or reader.peek().kind == "time"):
        reader.skip("at")
        return Day(day, read_time(reader).second)
    return Day(day, None)


def instant(day: Day, tz: str, *, last: bool = False) -> datetime | None:
    """With the offset that the zone has then; the first or last second of a day without a time; None in a gap."""
    second = day.time_s if day.time_s is not None else _DAY_S - 1 if last else 0
    wall = datetime.combine(day.day, time(second // 3_600, second // 60 % 60, second % 60))
    if day.offset_s is not None:
        return wall.replace(tzinfo=timezone(timedelta(seconds=day.offset_s)))
    where = zone(tz)
    # Of a time that the clock shows twice, the first is meant; but a day ends with the second.
    fold = int(last and day.time_s is None)
    there = wall.replace(tzinfo=where, fold=fold).astimezone(UTC).astimezone(where)
    if day.time_s is not None and there.replace(tzinfo=None, fold=0) != wall:
        return None
    return there.replace(tzinfo=timezone(there.utcoffset() or timedelta()), fold=0)


def moment_text(moment: datetime, tz: str, *, last: bool = False) -> str:
    """The shortest text that means the same instant in the zone."""
    if moment.tzinfo is None or moment.microsecond or not 1971 <= moment.year < 2899:
        return moment.isoformat()
    there = moment.astimezone(zone(tz))
    second = there.hour * 3_600 + there.minute * 60 + there.second
    for day in (Day(there.date(), None), Day(there.date(), second)):
        if instant(day, tz, last=last) == moment:
            return f"{day.day}" if day.time_s is None else f"{day.day} at {clock_text(second)}"
    return offset_text(moment)


def offset_text(moment: datetime) -> str:
    """2026-12-24T18:00+01:00."""
    return moment.isoformat(timespec="auto" if moment.second or moment.microsecond else "minutes")


def _moment(text: str) -> Day:
    found = datetime.fromisoformat(text.upper())
    if not 1970 <= found.year < 2900:
        raise ValueError("out of bounds")
    offset = found.utcoffset()
    second = found.hour * 3_600 + found.minute * 60 + found.second
    return Day(found.date(), second, None if offset is None else round(offset.total_seconds()))
