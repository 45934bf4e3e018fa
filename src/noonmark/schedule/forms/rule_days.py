"""The days of a year that the day parts of an RFC 5545 rule leave."""

from calendar import isleap, monthrange
from datetime import date
from functools import cache

from noonmark.schedule.forms.rule_parts import RuleParts

_Days = tuple[tuple[int, int, int], ...]


class YearDays:
    """The matching days of a year, counted from 0, computed once for each shape that a year can have."""

    __slots__ = ("_by_shape", "_rule")

    def __init__(self, rule: RuleParts) -> None:
        self._rule = rule
        self._by_shape: dict[tuple[int, bool, bool, bool], tuple[int, ...]] = {}

    def of(self, year: int) -> tuple[int, ...]:
        # Numbers of weeks also depend on the length of the neighbours; 28 shapes at most.
        shape = date(year, 1, 1).weekday(), isleap(year - 1), isleap(year), isleap(year + 1)
        days = self._by_shape.get(shape)
        if days is None:
            days = self._by_shape[shape] = self._matching(year, shape[0])
        return days

    def _matching(self, year: int, first_weekday: int) -> tuple[int, ...]:
        rule = self._rule
        days = _days_of(isleap(year))
        found: list[int] | range = range(len(days))
        if rule.months:
            found = [i for i in found if days[i][0] in rule.months]
        if rule.year_days:
            found = [i for i in found if i + 1 in rule.year_days or i - len(days) in rule.year_days]
        if rule.month_days:
            found = [i for i in found if days[i][1] in rule.month_days or -days[i][2] in rule.month_days]
        if rule.week_days:
            found = [i for i in found if self._has_weekday(i, days, (first_weekday + i) % 7)]
        if rule.week_numbers:
            found = [i for i in found if self._in_week(i, year, len(days), (first_weekday + i) % 7)]
        return tuple(found)

    def _has_weekday(self, index: int, days: _Days, weekday: int) -> bool:
        rule = self._rule
        if (weekday, 0) in rule.week_days:
            return True
        before, after = index, len(days) - 1 - index
        if rule.freq == "MONTHLY" or rule.months:
            before, after = days[index][1] - 1, days[index][2] - 1
        return (weekday, before // 7 + 1) in rule.week_days or (weekday, -(after // 7 + 1)) in rule.week_days

    def _in_week(self, index: int, year: int, length: int, weekday: int) -> bool:
        """A week belongs to the year that holds its fourth day."""
        fourth = index + 3 - (weekday - self._rule.week_start) % 7
        if fourth < 0:
            length = 365 + isleap(year - 1)
            fourth += length
        elif fourth >= length:
            fourth -= length
            length = 365 + isleap(year + 1)
        from_end = (length - 1 - fourth) // 7 + 1
        return fourth // 7 + 1 in self._rule.week_numbers or -from_end in self._rule.week_numbers


@cache
def _days_of(leap: bool) -> _Days:
    """Month, day of the month, and the same counted from the end of the month, of each day of a year."""
    lengths = [(month, monthrange(2024 if leap else 2025, month)[1]) for month in range(1, 13)]
    return tuple((month, day, length - day + 1) for month, length in lengths for day in range(1, length + 1))
