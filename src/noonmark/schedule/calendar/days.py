"""Sets of days that a rule may name; a day is a number, counted from 1970-01-01."""

import re
from datetime import date
from typing import Protocol

import msgspec

from noonmark.schedule.errors import ScheduleError

EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_DAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH_NAMES = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_GROUPS = {"weekdays": "mon-fri", "weekends": "sat-sun", "weekday": "mon-fri", "weekend": "sat-sun"}
_DATES = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:/([0-9]{4}-[0-9]{2}-[0-9]{2}))?")
_YEARLY = re.compile(r"([0-9]{2})-([0-9]{2})(?:/([0-9]{2})-([0-9]{2}))?")


class Days(Protocol):
    """A set of days; its text is canonical."""

    def __contains__(self, day: int) -> bool: ...

    def __str__(self) -> str: ...


class EveryDay(msgspec.Struct, frozen=True):
    def __contains__(self, day: int) -> bool:
        return True

    def __str__(self) -> str:
        return ""


class Weekdays(msgspec.Struct, frozen=True):
    """Monday is 0."""

    chosen: frozenset[int]

    def __contains__(self, day: int) -> bool:
        return (day + 3) % 7 in self.chosen

    def __str__(self) -> str:
        return _runs(self.chosen, _DAY_NAMES)


class Months(msgspec.Struct, frozen=True):
    """January is 0."""

    chosen: frozenset[int]

    def __contains__(self, day: int) -> bool:
        return date_of(day).month - 1 in self.chosen

    def __str__(self) -> str:
        return _runs(self.chosen, _MONTH_NAMES)


class Dates(msgspec.Struct, frozen=True):
    first: int
    last: int

    def __contains__(self, day: int) -> bool:
        return self.first <= day <= self.last

    def __str__(self) -> str:
        first = date_of(self.first).isoformat()
        return first if self.first == self.last else f"{first}/{date_of(self.last).isoformat()}"


class Yearly(msgspec.Struct, frozen=True):
    """From one (month, day) to another of each year, over the new year if the second comes first in a year."""

    first: tuple[int, int]
    last: tuple[int, int]

    def __contains__(self, day: int) -> bool:
        here = date_of(day)
        at = (here.month, here.day)
        if self.first <= self.last:
            return self.first <= at <= self.last
        return at >= self.first or at <= self.last

    def __str__(self) -> str:
        first, last = ("{:02d}-{:02d}".format(*at) for at in (self.first, self.last))
        return first if first == last else f"{first}/{last}"


def date_of(day: int) -> date:
    return date.fromordinal(day + EPOCH_ORDINAL)


def read_day(text: str, field: str) -> int:
    """The number of a date such as 2026-12-24."""
    try:
        day = date.fromisoformat(text).toordinal() - EPOCH_ORDINAL
    except ValueError:
        raise ScheduleError(field, f"{text!r} is not a date", "check its month and day") from None
    if day < 0:
        raise ScheduleError(field, f"{text!r} is before 1970", "use a later date")
    return day


def read_days(text: str, field: str) -> Days | None:
    """Weekdays, months or dates, in lower case; None if the text looks like none of them."""
    text = _GROUPS.get(text, text)
    if found := _DATES.fullmatch(text):
        first = read_day(found[1], field)
        last = first if found[2] is None else read_day(found[2], field)
        if last < first:
            raise ScheduleError(field, f"{text!r} ends before it begins", "put the earlier date first")
        return Dates(first, last)
    if found := _YEARLY.fullmatch(text):
        month, day, last_month, last_day = (int(part or 0) for part in found.groups())
        return Yearly(_day_of_year(month, day, field), _day_of_year(last_month or month, last_day or day, field))
    if (chosen := _choice(text, _DAY_NAMES)) is not None:
        return Weekdays(chosen)
    if (chosen := _choice(text, _MONTH_NAMES)) is not None:
        return Months(chosen)
    return None


def _day_of_year(month: int, day: int, field: str) -> tuple[int, int]:
    try:
        date(2000, month, day)  # a leap year
    except ValueError:
        message = f"'{month:02d}-{day:02d}' is not a day of the year"
        raise ScheduleError(field, message, "write month-day, such as 12-24") from None
    return month, day


def _choice(text: str, names: tuple[str, ...]) -> frozenset[int] | None:
    """The names of `mon,wed-fri`, by their places; a range may go past the last name to the first."""
    places = {word: place for place, name in enumerate(names) for word in (name, name[:3])}
    chosen: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if first not in places or (last if dash else first) not in places:
            return None
        start = places[first]
        length = (places[last] - start) % len(names) if dash else 0
        chosen.update((start + step) % len(names) for step in range(length + 1))
    return frozenset(chosen)


def _runs(chosen: frozenset[int], names: tuple[str, ...]) -> str:
    """The shortest way to write a choice: its runs of neighbours, the last name being a neighbour of the first."""
    size = len(names)
    if len(chosen) == size:
        return f"{names[0][:3]}-{names[-1][:3]}"
    parts = []
    for start in sorted(place for place in chosen if (place - 1) % size not in chosen):
        end = start
        while (end + 1) % size in chosen:
            end = (end + 1) % size
        parts.append(names[start][:3] if start == end else f"{names[start][:3]}-{names[end][:3]}")
    return ",".join(parts)
