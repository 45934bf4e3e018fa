"""Which days of a month a cron expression matches. That depends on two things: its length and its first weekday."""

from functools import lru_cache

from noonmark.schedule.forms.cron_fields import DAY, MONTH, WEEKDAY, MonthDay, WeekdayOfMonth, read_field

_EVERY_SEVENTH = sum(1 << day for day in range(0, 31, 7))
_LENGTHS = ((31,), (28, 29), (31,), (30,), (31,), (30,), (31,), (31,), (30,), (31,), (30,), (31,))


class MonthDays(dict[int, int]):
    """From the shape of a month to its matching days as bits, the lowest bit for the first; filled when asked.

    Vixie's rule: either day field has to match if neither starts with a star, otherwise both.
    """

    def __init__(self, day_text: str, weekday_text: str) -> None:
        self._either = day_text[0] != "*" != weekday_text[0]
        self._days, self._weekdays = list(read_field(DAY, day_text)), list(read_field(WEEKDAY, weekday_text))

    def mask(self, length: int, first_weekday: int) -> int:
        return self[shape(length, first_weekday)]

    def __missing__(self, month: int) -> int:
        length, first_weekday = 28 + month // 7, month % 7
        by_day = by_weekday = 0
        for term in self._days:
            for day in term.values:
                by_day |= 1 << (day - 1)
            if isinstance(term.special, MonthDay):
                by_day |= _month_day(term.special, length, first_weekday)
        for term in self._weekdays:
            for weekday in term.values:
                by_weekday |= _EVERY_SEVENTH << (weekday - first_weekday) % 7
            if isinstance(term.special, WeekdayOfMonth):
                by_weekday |= _weekday_of_month(term.special, length, first_weekday)
        mask = by_day | by_weekday if self._either else by_day & by_weekday
        self[month] = mask = mask & ((1 << length) - 1)
        return mask


month_days = lru_cache(maxsize=1024)(MonthDays)
"""Shared by all expressions with the same two fields."""


def shape(length: int, first_weekday: int) -> int:
    """One of the 28 kinds of month."""
    return (length - 28) * 7 + first_weekday


def month_numbers(text: str) -> frozenset[int]:
    return frozenset(month for term in read_field(MONTH, text) for month in term.values)


def month_lengths(text: str) -> set[int]:
    return {length for month in month_numbers(text) for length in _LENGTHS[month - 1]}


def _month_day(special: MonthDay, length: int, first_weekday: int) -> int:
    day = length - special.days if special.from_last else special.days
    if not 1 <= day <= length:
        return 0
    if special.on_weekday:
        weekday = (first_weekday + day - 1) % 7
        if weekday == 6:
            day += -1 if day > 1 else 2
        elif weekday == 0:
            day += 1 if day < length else -2
    return 1 << (day - 1)


def _weekday_of_month(special: WeekdayOfMonth, length: int, first_weekday: int) -> int:
    first = (special.weekday - first_weekday) % 7
    return 1 << (first + (7 * (special.nth - 1) if special.nth else (length - 1 - first) // 7 * 7))
