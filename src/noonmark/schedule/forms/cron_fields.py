"""The fields of a cron expression and the terms that they are lists of."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

_MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC"
_WEEKDAYS = "SUN MON TUE WED THU FRI SAT"
_PLAIN = re.compile(r"(?:(\*)|(H)(?:\((\w+)-(\w+)\))?|(\w+)(?:-(\w+))?)(?:/(\d+))?", re.ASCII)
_DAY = re.compile(r"L(?:-(\d+))?(W?)|(\d+)W", re.ASCII)
_WEEKDAY = re.compile(r"(\w+?)(?:L|#(\d+))", re.ASCII)


class Field(msgspec.Struct, frozen=True, eq=False):  # equal if the same, which also makes a quick key of a cache
    name: str
    low: int
    high: int
    allows: str
    names: Mapping[str, int] = {}
    written_high: int = 0
    """Above `high` only for the day of the week, where 7 is one more name of Sunday."""
    hash_high: int = 0
    """Below `high` only for the day of the month: every month has it."""


def _field(name: str, low: int, high: int, allows: str, names: str = "", written: int = 0, hashed: int = 0) -> Field:
    numbers = {word: number for number, word in enumerate(names.split(), start=low)}
    return Field(name, low, high, allows, numbers, written or high, hashed or high)


SECOND = _field("second", 0, 59, "0-59")
MINUTE = _field("minute", 0, 59, "0-59")
HOUR = _field("hour", 0, 23, "0-23")
DAY = _field(
    "day-of-month",
    1,
    31,
    "1-31, L (last day), L-3 (third before it), 15W (nearest weekday), LW (last weekday)",
    hashed=28,
)
MONTH = _field("month", 1, 12, "1-12 or JAN-DEC", _MONTHS)
WEEKDAY = _field(
    "day-of-week", 0, 6, "0-7 (0 and 7 are Sunday) or SUN-SAT, 5L (last Friday), 5#2 (second Friday)", _WEEKDAYS, 7
)
FIELDS = (SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY)


class MonthDay(NamedTuple):
    """`L-3`, `LW`, `15W`: a day counted from the month's first or back from its last, maybe moved to a weekday."""

    days: int
    from_last: bool
    on_weekday: bool


class WeekdayOfMonth(NamedTuple):
    """`5#2` and `5L`, whose `nth` is 0."""

    weekday: int
    nth: int


class Term(NamedTuple):
    text: str
    """Canonical: upper case, numbers for names."""
    values: tuple[int, ...] = ()
    """In the order of the range, which may wrap around. For an H that no key resolves, all it might become."""
    special: MonthDay | WeekdayOfMonth | None = None


class BadTerm(ValueError):
    """What is wrong with a term, as the end of a sentence that begins with it."""


def read_field(field: Field, text: str, key: str | None = None) -> Iterator[Term]:
    """The terms of a field in upper case; H becomes a number if a key is given."""
    if text == "?" and field in (DAY, WEEKDAY):
        text = "*"
    for term in text.split(","):
        try:
            yield _special(field, term) or _plain(field, term, key)
        except BadTerm as error:
            raise BadTerm(f"{term!r} {error}") from None


def _plain(field: Field, text: str, key: str | None) -> Term:
    match = _PLAIN.fullmatch(text)
    if match is None:
        raise BadTerm("cannot be read")
    star, hashed, hash_first, hash_last, first, last, step_text = match.groups()
    step = 1 if step_text is None else int(step_text)
    if step == 0:
        raise BadTerm("has a step of 0")
    if star:
        return Term("*" if step == 1 else f"*/{step}", tuple(range(field.low, field.high + 1, step)))
    if hashed:
        low = field.low if hash_first is None else _number(field, hash_first)
        high = field.hash_high if hash_last is None else _number(field, hash_last)
        return _hashed(field, low, high, None if step_text is None else step, key)
    low = _number(field, first)
    if last is not None:
        return _ranged(field, low, _number(field, last), step)
    if step_text is not None:
        return _ranged(field, low, field.high, step)
    low = low % 7 if field is WEEKDAY else low
    return Term(str(low), (low,))


def _ranged(field: Field, first: int, last: int, step: int, skipped: int = 0) -> Term:
    """Every step-th value of a range that may wrap around, after so many at its start."""
    _, last, values = _values(field, first, last)
    values = values[skipped::step]
    if len(values) == 1:
        return Term(str(values[0]), values)
    # Only in the month does a star say no more than its numbers.
    span = "*" if field is MONTH and (values[0], last) == (1, 12) else f"{values[0]}-{last}"
    return Term(span if step == 1 else f"{span}/{step}", values)


def _values(field: Field, first: int, last: int) -> tuple[int, int, tuple[int, ...]]:
    if field is WEEKDAY and first % 7 == last % 7 == 0:
        first, last = 0, 6 if first < last else 0
    elif field is WEEKDAY:  # Sunday is 0 where a week begins and 7 where it ends
        first, last = first % 7, last or 7
    if first > last:
        return first, last, (*range(first, field.high + 1), *range(field.low, last + 1))
    return first, last, tuple(value % 7 if field is WEEKDAY else value for value in range(first, last + 1))


def _hashed(field: Field, low: int, high: int, step: int | None, key: str | None) -> Term:
    first, last, values = _values(field, low, high)
    if step == 1:
        raise BadTerm("hashes nothing: leave out the step for one value, or write * for all")
    if step is not None and step > len(values):
        raise BadTerm(f"has a step above the {len(values)} values of its range")
    if key is None:
        span = "H" if (first, last) == (field.low, field.hash_high) else f"H({first}-{last})"
        return Term(span if step is None else f"{span}/{step}", values)
    digest = hashlib.blake2b(f"{key}\n{field.name}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    number = int.from_bytes(digest, "big")
    if step is None:
        chosen = values[number % len(values)]
        return Term(str(chosen), (chosen,))
    return _ranged(field, first, last, step, skipped=number % step)


def _special(field: Field, text: str) -> Term | None:
    if field is DAY and (match := _DAY.fullmatch(text)):
        before, weekday, near = match.groups()
        if near is not None:
            day = _number(field, near)
            return Term(f"{day}W", special=MonthDay(day, from_last=False, on_weekday=True))
        days = int(before or 0)
        if days > 30:
            raise BadTerm("would never fire: no month has so many days")
        canonical = (f"L-{days}" if days else "L") + weekday
        return Term(canonical, special=MonthDay(days, from_last=True, on_weekday=bool(weekday)))
    if field is WEEKDAY and (match := _WEEKDAY.fullmatch(text)):
        day, nth = _number(field, match[1]) % 7, match[2]
        if nth is None:
            return Term(f"{day}L", special=WeekdayOfMonth(day, 0))
        if int(nth) == 0:
            raise BadTerm("counts from 0: the first is #1")
        if int(nth) > 5:
            raise BadTerm("would never fire: no month has more than five of a weekday")
        return Term(f"{day}#{int(nth)}", special=WeekdayOfMonth(day, int(nth)))
    return None


def _number(field: Field, word: str) -> int:
    if word in field.names:
        return field.names[word]
    if not word.isdecimal():
        raise BadTerm("is no number and no name" if field.names else "is not a number")
    if not field.low <= int(word) <= field.written_high:
        raise BadTerm("is out of range")
    return int(word)
