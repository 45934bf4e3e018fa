"""Days: by their name, by their date, by their place in the month; and months."""

from noonmark.schedule.english.said import Said, SaidDays
from noonmark.schedule.english.times import more
from noonmark.schedule.english.tokens import Reader, Token
from noonmark.schedule.english.words import (
    DAY_WORDS,
    MONTH_LENGTHS,
    MONTH_NAMES,
    MONTHS,
    ORDINALS,
    WEEKDAY_NAMES,
    WEEKDAYS,
    WORKDAYS,
    counted,
    ordinal,
)

DAY_FIX = f"write {DAY_WORDS}"
MONTH_FIX = "write a month such as 'january'"
_EITHER_FIX = "write 'or' between them if either will do: 'on the 13th or on friday'"
_WORKING = ("business", "working", "work")
_AGAIN = ("on", "the", "every", "each")
_TO = ("to", "through", "-", "until")


def is_day(reader: Reader, ahead: int = 0) -> bool:
    token, after = reader.peek(ahead), reader.peek(ahead + 1)
    if token.kind == "number":
        return after.text in MONTHS or (after.text in ("day", "days") and reader.peek(ahead + 2).text == "before")
    if token.text in MONTHS:
        return after.kind in ("number", "ordinal") or after.text in ORDINALS
    if token.text in _WORKING:
        return after.text in ("day", "days")
    return token.text in WEEKDAYS or is_ordinal(token)


def read_days(reader: Reader, said: Said) -> None:
    said.note(reader, "days", reader.peek())
    while reader.skip_any(_AGAIN):
        pass
    if not is_day(reader):
        reader.confused(DAY_FIX, [*WEEKDAYS, *ORDINALS, *MONTHS])
    days = said.days
    _read_item(reader, days)
    while True:
        token = reader.peek(int(reader.peek().text == ","))
        if not more(reader, _AGAIN, lambda ahead: is_day(reader, ahead), DAY_FIX):
            break
        by_name, of_month = bool(days.weekdays), days.of_month()
        first = reader.peek()
        _read_item(reader, days)
        if token.text != "or" and days.weekdays and days.of_month() and not (by_name and of_month):
            message = f"{first.written!r} joins a day of the week and a day of the month"
            reader.wrong(first, message, _EITHER_FIX)
    if days.weekdays and reader.peek().text == "the" and is_ordinal(reader.peek(1)):
        reader.wrong(reader.peek(1), "a day of the week on a certain date only is not understood", _EITHER_FIX)


def read_months(reader: Reader, said: Said) -> None:
    said.note(reader, "months", reader.peek())
    said.months |= read_month_names(reader, MONTH_FIX)


def read_weekdays(reader: Reader) -> set[int]:
    """A list of days of the week; whatever else may follow it."""
    found = _weekday_or_range(reader)
    while more(reader, (), lambda ahead: reader.peek(ahead).text in WEEKDAYS, None):
        found |= _weekday_or_range(reader)
    return found


def read_month_names(reader: Reader, fix: str | None = None) -> set[int]:
    """A list of months; with a fix, nothing else may be joined to it."""
    found = _month_or_range(reader)
    while more(reader, ("in", "of", "every"), lambda ahead: reader.peek(ahead).text in MONTHS, fix):
        found |= _month_or_range(reader)
    return found


def _month_or_range(reader: Reader) -> set[int]:
    first = MONTHS[reader.need(MONTHS, MONTH_FIX).text]
    if reader.peek().text not in _TO or reader.peek(1).text not in MONTHS:
        return {first}
    reader.take()
    last = MONTHS[reader.take().text]
    return {(first - 1 + n) % 12 + 1 for n in range((last - first) % 12 + 1)}


def is_ordinal(token: Token) -> bool:
    return token.kind == "ordinal" or token.text in ORDINALS or token.text == "last"


def _read_item(reader: Reader, days: SaidDays) -> None:
    token = reader.peek()
    if token.kind == "number" and reader.peek(1).text in ("day", "days"):
        _read_before_last(reader, days)
    elif token.kind == "number":
        reader.take()
        _add_annual(reader, days, MONTHS[reader.take().text], int(token.text), token)
    elif token.text in MONTHS:
        reader.take()
        number = reader.take()
        _add_annual(reader, days, MONTHS[token.text], _ordinal_number(number), number)
    elif is_ordinal(token):
        _read_ordinals(reader, days)
    elif token.text in ("weekday", "workday") and reader.peek(1).text in ("nearest", "closest"):
        _read_nearest(reader, days)
    else:
        days.weekdays |= _weekday_or_range(reader)


def _weekday_or_range(reader: Reader) -> set[int]:
    if reader.skip_any(_WORKING):
        reader.take()
        return set(WORKDAYS)
    token = reader.need(WEEKDAYS, DAY_FIX)
    first = WEEKDAYS[token.text]
    if len(first) > 1 or reader.peek().text not in _TO or reader.peek(1).text not in WEEKDAYS:
        return set(first)
    reader.take()
    end = reader.take()
    last = WEEKDAYS[end.text]
    if len(last) > 1:
        reader.wrong(end, f"{end.written!r} does not end a range of days", "write a day such as 'friday'")
    (low,), (high,) = first, last
    return {(low + n) % 7 for n in range((high - low) % 7 + 1)}


def _read_before_last(reader: Reader, days: SaidDays) -> None:
    token = reader.take()
    for words in (("day", "days"), ("before",), ("the",), ("last",), ("day",)):
        reader.need(words, "write '3 days before the last day of the month'")
    if not 1 <= int(token.text) <= 30:
        reader.wrong(token, f"no month has {counted(int(token.text), 'day')} before its last", "write 1 to 30")
    days.before_last.add(int(token.text))


def _read_nearest(reader: Reader, days: SaidDays) -> None:
    fix = "write 'the weekday nearest the 15th'"
    reader.take()
    reader.take()
    reader.skip("to")
    reader.skip("the")
    token = reader.peek()
    if not is_ordinal(token) or token.text == "last":
        reader.confused(fix)
    reader.take()
    days.nearest.add(_date(reader, _ordinal_number(token), token))


def _read_ordinals(reader: Reader, days: SaidDays) -> None:
    """`1st`, `first and third monday`, `1st, 15th and last day`, `third to last day`, `25th december`."""
    numbers: list[tuple[int, Token]] = []
    while True:
        token = reader.take()
        number = _ordinal_number(token)
        if reader.peek().text in ("to", "from") and reader.peek(1).text == "last" and token.text != "last":
            reader.take()
            reader.take()
            if number < 2:
                reader.wrong(token, f"nothing is {token.written!r} to last", "write 'last' or 'second to last'")
            number = -number
        numbers.append((number, token))
        if last := _range_end(reader):
            if not 0 < number < _ordinal_number(last):
                reader.wrong(last, f"{last.written!r} does not end a range", "write a later day")
            numbers += [(n, last) for n in range(number + 1, _ordinal_number(last) + 1)]
        if not _another_ordinal(reader):
            break
    _add_ordinals(reader, days, numbers)


def _range_end(reader: Reader) -> Token | None:
    ahead = 2 if reader.peek(1).text == "the" else 1
    if reader.peek().text not in _TO or not is_ordinal(reader.peek(ahead)) or reader.peek(ahead).text == "last":
        return None
    for _ in range(ahead):
        reader.take()
    return reader.take()


def _another_ordinal(reader: Reader) -> bool:
    ahead = int(reader.peek().text == ",")
    ahead += reader.peek(ahead).text in ("and", "or", "&")
    at = ahead + (reader.peek(ahead).text == "the")
    if ahead == 0 or not is_ordinal(reader.peek(at)):
        return False
    for _ in range(at):
        reader.take()
    return True


def _add_ordinals(reader: Reader, days: SaidDays, numbers: list[tuple[int, Token]]) -> None:
    noun = reader.peek()
    if noun.text in ("day", "days"):
        reader.take()
        for number, token in numbers:
            if number < 0:
                days.before_last.add(_date(reader, -number, token) - 1)
            else:
                days.dates.add(_date(reader, number, token))
    elif noun.text in _WORKING or noun.text in ("weekday", "weekdays", "workday", "workdays"):
        if reader.take().text in _WORKING:
            reader.need(("day", "days"), "write 'business day'")
        for number, token in numbers:
            if abs(number) > 20:
                reader.wrong(token, "not every month has so many working days", "count at most 20, or from the last")
            days.working.add(number)
    elif noun.text in WEEKDAYS:
        _add_nth(reader, days, numbers)
    elif noun.text in MONTHS:
        reader.take()
        for number, token in numbers:
            _add_annual(reader, days, MONTHS[noun.text], number, token)
    elif noun.text == "of" and reader.peek(1).text in MONTHS and (days.annual or _dates_go_on(reader)):
        reader.take()
        month = MONTHS[reader.take().text]
        for number, token in numbers:
            _add_annual(reader, days, month, number, token)
    else:
        for number, token in numbers:
            if number < 0:
                reader.wrong(token, f"{token.written!r} of what?", "write 'last day', 'last friday' or 'last weekday'")
            days.dates.add(_date(reader, number, token))


def _add_nth(reader: Reader, days: SaidDays, numbers: list[tuple[int, Token]]) -> None:
    noun = reader.take()
    for number, token in numbers:
        if number > 5:
            fix = (
                f"count to the fifth, or separate the days: 'on the {ordinal(min(number, 31))} and on the first monday'"
            )
            reader.wrong(token, f"no month has a {ordinal(number)} {WEEKDAY_NAMES[min(WEEKDAYS[noun.text])]}", fix)
        if number < -1:
            fix = "count from the first, or write 'last'"
            reader.wrong(token, "only the last one can be counted from the end of the month", fix)
        if len(WEEKDAYS[noun.text]) > 1:
            fix = "write the day, such as 'saturday'"
            reader.wrong(noun, f"{noun.written!r} is more than one day", fix)
        days.nth |= {(weekday, number) for weekday in WEEKDAYS[noun.text]}


def _dates_go_on(reader: Reader) -> bool:
    """After `of january` comes another date with its own month."""
    ahead = 2 + (reader.peek(2).text == ",")
    ahead += reader.peek(ahead).text in ("and", "or", "&")
    while ahead > 2 and reader.peek(ahead).text in _AGAIN:
        ahead += 1
    return ahead > 2 and (reader.peek(ahead).kind == "ordinal" or reader.peek(ahead).text in ORDINALS)


def _add_annual(reader: Reader, days: SaidDays, month: int, day: int, token: Token) -> None:
    year = reader.peek()
    if year.kind == "number" and len(year.text) == 4:
        fix = f"write the date as {year.text}-{month:02}-{max(day, 1):02}"
        reader.wrong(year, f"a date with the year {year.text} is written another way", fix)
    if day == -1:
        reader.wrong(token, f"{token.written!r} of what?", "write 'the last day of january'")
    if not 1 <= day <= MONTH_LENGTHS[month - 1]:
        message = f"{MONTH_NAMES[month - 1]} has no day {day}"
        reader.wrong(token, message, f"write 1 to {MONTH_LENGTHS[month - 1]}, or 'the last day'")
    days.annual.add((month, day))


def _ordinal_number(token: Token) -> int:
    if token.text == "last":
        return -1
    return ORDINALS.get(token.text) or int(token.text.rstrip("stndrh"))


def _date(reader: Reader, number: int, token: Token) -> int:
    if not 1 <= number <= 31:
        reader.wrong(token, f"no month has a {ordinal(number)} day", "write 1st to 31st, or 'the last day'")
    return number
