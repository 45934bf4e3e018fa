"""The times of an RFC 5545 rule from any point on, forwards or backwards, without stepping there from its start.

Periods (years, months, weeks, days) that INTERVAL counts are found by arithmetic, and the days in them from tables.
dateutil, which we agree with where it follows the RFC, steps from DTSTART and searches a rule that never matches up to
the year 9999; here a search ends after 60 years without a time, or in 2199.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from datetime import date

from noonmark.schedule.forms.rule_days import YearDays
from noonmark.schedule.forms.rule_hours import HourClock
from noonmark.schedule.forms.rule_parts import RuleParts

DAY_S = 86_400
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_LAST_DAY = date(2199, 12, 31).toordinal() - _EPOCH_ORDINAL
_LAST_S = _LAST_DAY * DAY_S + DAY_S - 1
_SEARCH_DAYS = 60 * 366


class RuleTimes:
    """Neither COUNT, UNTIL, RDATE nor EXDATE are applied."""

    __slots__ = ("_clock", "_days", "_first_period", "_hours", "_periods", "_rule", "_start_s")

    def __init__(self, rule: RuleParts, start_s: int) -> None:
        self._rule = rule
        self._start_s = start_s
        self._days = YearDays(rule)
        self._periods = Periods(rule)
        self._first_period = self._periods.of(start_s // DAY_S)
        self._hours = rule.hours or tuple(range(24))
        self._clock = HourClock(rule, start_s)

    def forwards(self, after_s: int) -> Iterator[int]:
        after_s = max(after_s, self._start_s - 1)
        if after_s >= _LAST_S or self._clock.silent:
            return
        for times in self._chunks(after_s + 1, 1):
            yield from times if times[0] > after_s else times[bisect_right(times, after_s) :]

    def backwards(self, before_s: int) -> Iterator[int]:
        before_s = min(before_s, _LAST_S + 1)
        if before_s <= self._start_s or self._clock.silent:
            return
        for times in self._chunks(before_s - 1, -1):
            within = times[bisect_left(times, self._start_s) : bisect_left(times, before_s)]
            yield from reversed(within)
            if times[0] < self._start_s:
                return

    def _chunks(self, at_s: int, step: int) -> Iterator[Sequence[int]]:
        """Times in chunks (each ascending, not empty), from the chunk that holds a time on, or with step -1 back."""
        if not self._rule.by_the_day:
            return self._hourly(at_s, step)
        return self._picked(at_s // DAY_S, step) if self._rule.positions else self._daily(at_s, step)

    def _daily(self, at_s: int, step: int) -> Iterator[Sequence[int]]:
        at_hour, in_hour = at_s // 3_600, self._clock.times_in(0)
        hours = self._hours[::step]
        for day in self._matching_days(at_s // DAY_S, step):
            for hour in hours:
                number = day * 24 + hour
                if (number - at_hour) * step >= 0:
                    yield [number * 3_600 + second for second in in_hour]

    def _hourly(self, at_s: int, step: int) -> Iterator[Sequence[int]]:
        at_hour = at_s // 3_600
        hours = self._hours[::step]
        found_on = at_hour // 24
        for day in self._matching_days(found_on, step):
            for hour in hours:
                number = day * 24 + hour
                if (number - at_hour) * step >= 0 and (times := self._clock.times_in(number)):
                    found_on = day
                    yield times
            if abs(day - found_on) > _SEARCH_DAYS:
                return

    def _picked(self, day: int, step: int) -> Iterator[Sequence[int]]:
        """BYSETPOS: the nth times of each period, found by index, as a period may hold millions of times."""
        rule = self._rule
        period = self._periods.of(day)
        period += step * ((step * (self._first_period - period)) % rule.interval)
        search_until = day + step * _SEARCH_DAYS
        while self._in_bounds(first := self._periods.first_day(period), step, search_until):
            days = self._matching_between(first, self._periods.first_day(period + 1))
            if times := self._at_positions(days):
                search_until = first + step * _SEARCH_DAYS
                yield times
            period += step * rule.interval

    def _at_positions(self, days: Sequence[int]) -> list[int]:
        rule = self._rule
        per_hour = len(rule.minutes) * len(rule.seconds)
        per_day = len(rule.hours) * per_hour
        total = len(days) * per_day
        times = []
        for index in sorted({position - 1 if position > 0 else total + position for position in rule.positions}):
            if 0 <= index < total:
                day, rest = divmod(index, per_day)
                hour, rest = divmod(rest, per_hour)
                minute, second = divmod(rest, len(rule.seconds))
                in_day_s = rule.hours[hour] * 3_600 + rule.minutes[minute] * 60 + rule.seconds[second]
                times.append(days[day] * DAY_S + in_day_s)
        return times

    def _in_bounds(self, day: int, step: int, search_until: int) -> bool:
        # A period that began before the start may still hold times after it.
        if step > 0:
            return day <= min(_LAST_DAY, search_until)
        return day >= max(self._start_s // DAY_S - 366, search_until)

    def _matching_days(self, day: int, step: int) -> Iterator[int]:
        """The days, this one and on in a direction, that lie in a counted period and match the day parts."""
        search_until = day + step * _SEARCH_DAYS
        all_counted = self._rule.interval == 1
        while self._in_bounds(day, step, search_until):
            first, days = self._year_around(day)
            index = _nearest(days, day - first, step)
            while 0 <= index < len(days):
                found = first + days[index]
                counted = found if all_counted else self._counted_day(found, step)
                if counted == found:
                    search_until = found + step * _SEARCH_DAYS
                    yield found
                    index += step
                else:
                    index = _nearest(days, counted - first, step)
            day = _first_of_month((_year_of(day) + 1) * 12) if step > 0 else first - 1

    def _year_around(self, day: int) -> tuple[int, tuple[int, ...]]:
        """The first day of the year, and the days of it that match, counted from there."""
        year = _year_of(day)
        return date(year, 1, 1).toordinal() - _EPOCH_ORDINAL, self._days.of(year)

    def _counted_day(self, day: int, step: int) -> int:
        """The nearest day, this one or on in the direction, whose period INTERVAL counts."""
        interval, periods = self._rule.interval, self._periods
        if not self._rule.by_the_day:
            return day + step * self._clock.days_without(day, step)
        period = periods.of(day)
        past = (period - self._first_period) % interval
        if not past:
            return day
        return periods.first_day(period + interval - past) if step > 0 else periods.first_day(period - past + 1) - 1

    def _matching_between(self, from_day: int, to_day: int) -> list[int]:
        found: list[int] = []
        while from_day < to_day:
            first, days = self._year_around(from_day)
            within = slice(bisect_left(days, from_day - first), bisect_left(days, to_day - first))
            found += (first + index for index in days[within])
            from_day = _first_of_month((_year_of(from_day) + 1) * 12)
        return found


class Periods:
    """Years, months, weeks or days by number."""

    __slots__ = ("_freq", "_week_start")

    def __init__(self, rule: RuleParts) -> None:
        self._freq = rule.freq
        self._week_start = rule.week_start

    def of(self, day: int) -> int:
        match self._freq:
            case "YEARLY":
                return _year_of(day)
            case "MONTHLY":
                on = date.fromordinal(day + _EPOCH_ORDINAL)
                return on.year * 12 + on.month - 1
            case "WEEKLY":
                return (day + 3 - self._week_start) // 7  # 1970-01-01 was a Thursday
        return day

    def first_day(self, period: int) -> int:
        match self._freq:
            case "YEARLY":
                return _first_of_month(period * 12)
            case "MONTHLY":
                return _first_of_month(period)
            case "WEEKLY":
                return period * 7 - 3 + self._week_start
        return period


def _year_of(day: int) -> int:
    return date.fromordinal(day + _EPOCH_ORDINAL).year


def _first_of_month(month: int) -> int:
    """The day on which a month begins; months beyond the calendar begin on its last day."""
    year = month // 12
    if year > 9_999:
        return date.max.toordinal() - _EPOCH_ORDINAL
    return date(max(year, 1), month % 12 + 1, 1).toordinal() - _EPOCH_ORDINAL


def _nearest(days: Sequence[int], day: int, step: int) -> int:
    """The index of this day or the nearest in the direction; out of range if there is none."""
    return bisect_left(days, day) if step > 0 else bisect_right(days, day) - 1
