"""Times of a cron expression by a wall clock of no zone: table lookups and integer arithmetic, nothing else."""

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate, pairwise

from noonmark.schedule.forms.cron_days import MonthDays, month_days, month_numbers, shape
from noonmark.schedule.forms.cron_fields import HOUR, MINUTE, SECOND, Field, read_field

_DAY_S = 86_400
_YEARS = range(1900, 3000)
_COMMON = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_LEAP = (31, 29, *_COMMON[2:])
_LENGTHS = [n for year in _YEARS for n in (_LEAP if not year % 4 and (year % 100 or not year % 400) else _COMMON)]
_FIRST_DAYS = list(accumulate(_LENGTHS, initial=-25_567))
"""The first day of each month, in days since 1970-01-01, with one more month to end the last."""
_SHAPES = bytes(shape(length, (first + 4) % 7) for length, first in zip(_LENGTHS, _FIRST_DAYS, strict=False))
_BEGIN, _END, _MONTHS = _FIRST_DAYS[0], _FIRST_DAYS[-1], len(_LENGTHS)

_Table = tuple[int, ...]
_Month = tuple[int, int, int, int]
"""First day, first day after, matching days as bits, index in _FIRST_DAYS."""


class CronPattern:
    """One canonical expression without H. Its times lie in the years 1900 to 2999.

    It keeps pace if its second, minute or hour starts with a star: Debian's rule, with the seconds added.
    """

    __slots__ = (
        "_ahead", "_behind", "_days", "_first_s", "_hour_first_s", "_hour_last_s", "_last_s", "_minute_first_s",
        "_minute_last_s", "_month", "_next", "_previous", "keeps_pace",
    )  # fmt: skip

    def __init__(self, canonical: str) -> None:
        texts = canonical.split(" ")
        if len(texts) not in (5, 6) or "H" in canonical:
            raise ValueError(f"{canonical!r} is not one canonical cron expression")
        self.keeps_pace = any(text.startswith("*") for text in texts[:-3])
        second, minute, hour = ("0", *texts[:2]) if len(texts) == 5 else texts[:3]
        tables = _clock(SECOND, second), _clock(MINUTE, minute), _clock(HOUR, hour)
        self._next = tables[0][0], tables[1][0], tables[2][0]
        self._previous = tables[0][1], tables[1][1], tables[2][1]
        self._minute_first_s = self._next[0][0]
        self._minute_last_s = self._previous[0][59]
        self._hour_first_s = self._next[1][0] * 60 + self._minute_first_s
        self._hour_last_s = self._previous[1][59] * 60 + self._minute_last_s
        self._first_s = self._next[2][0] * 3_600 + self._hour_first_s
        self._last_s = self._previous[2][23] * 3_600 + self._hour_last_s
        self._ahead, self._behind = _month_steps(texts[-2])
        self._days: MonthDays = month_days(texts[-3], texts[-1])
        self._month: _Month = (0, 0, 0, 0)

    def next_wall(self, after_s: int) -> int | None:
        """The first time strictly after."""
        at_s = after_s + 1
        day = at_s // _DAY_S
        first, end, mask, index = self._month
        if not first <= day < end:
            if day < _BEGIN:
                day, at_s = _BEGIN, _BEGIN * _DAY_S
            elif day >= _END:
                return None
            first, end, mask, index = self._turn(bisect_right(_FIRST_DAYS, day) - 1)
        rest = mask >> (day - first)
        if rest & 1:
            minute = (at_s - day * _DAY_S) // 60
            hour = minute // 60
            seconds, minutes, hours = self._next
            found_hour = hours[hour]
            if found_hour == hour:
                found_minute = minutes[minute - hour * 60]
                if found_minute == minute - hour * 60:
                    second = seconds[at_s % 60]
                    if second < 60:
                        return at_s - at_s % 60 + second
                    found_minute = minutes[found_minute + 1]
                if found_minute < 60:
                    return day * _DAY_S + hour * 3_600 + found_minute * 60 + self._minute_first_s
                found_hour = hours[hour + 1]
            if found_hour < 24:
                return day * _DAY_S + found_hour * 3_600 + self._hour_first_s
        rest >>= 1
        if rest:
            return (day + (rest & -rest).bit_length()) * _DAY_S + self._first_s
        mask, ahead, days = 0, self._ahead, self._days
        while not mask:
            index += ahead[index % 12]
            if index >= _MONTHS:
                return None
            mask = days[_SHAPES[index]]
        first = self._turn(index)[0]
        return (first - 1 + (mask & -mask).bit_length()) * _DAY_S + self._first_s

    def previous_wall(self, before_s: int) -> int | None:
        """The last time strictly before."""
        at_s = before_s - 1
        day = at_s // _DAY_S
        first, end, mask, index = self._month
        if not first <= day < end:
            if day >= _END:
                day, at_s = _END - 1, _END * _DAY_S - 1
            elif day < _BEGIN:
                return None
            first, end, mask, index = self._turn(bisect_right(_FIRST_DAYS, day) - 1)
        if mask >> (day - first) & 1:
            minute = (at_s - day * _DAY_S) // 60
            hour = minute // 60
            seconds, minutes, hours = self._previous
            found_hour = hours[hour]
            if found_hour == hour:
                found_minute = minutes[minute - hour * 60]
                if found_minute == minute - hour * 60:
                    second = seconds[at_s % 60]
                    if second >= 0:
                        return at_s - at_s % 60 + second
                    found_minute = minutes[found_minute - 1]
                if found_minute >= 0:
                    return day * _DAY_S + hour * 3_600 + found_minute * 60 + self._minute_last_s
                found_hour = hours[hour - 1]
            if found_hour >= 0:
                return day * _DAY_S + found_hour * 3_600 + self._hour_last_s
        mask &= (1 << (day - first)) - 1
        if mask:
            return (first - 1 + mask.bit_length()) * _DAY_S + self._last_s
        behind, days = self._behind, self._days
        while not mask:
            index -= behind[index % 12]
            if index < 0:
                return None
            mask = days[_SHAPES[index]]
        first = self._turn(index)[0]
        return (first - 1 + mask.bit_length()) * _DAY_S + self._last_s

    def _turn(self, index: int) -> _Month:
        """Turns to another month. One tuple holds it, so that threads may share a pattern."""
        # The month is allowed if one step from the month before leads to it.
        mask = self._days[_SHAPES[index]] if self._ahead[index % 12 - 1] == 1 else 0
        self._month = turned = _FIRST_DAYS[index], _FIRST_DAYS[index + 1], mask, index
        return turned


def cron_patterns(canonical: str) -> list[CronPattern]:
    """One pattern for each expression of a canonical text."""
    return [CronPattern(expression) for expression in canonical.split("; ")]


@lru_cache(maxsize=1024)
def _clock(field: Field, text: str) -> tuple[_Table, _Table]:
    """For each value the nearest allowed from it on, and back from it; the field's size and -1 if there is none.

    Each table has one place more, which an index of one past the end (above or, as -1, below) finds.
    """
    allowed = {value for term in read_field(field, text) for value in term.values}
    ahead: list[int] = []
    behind: list[int] = []
    for low, high in pairwise((-1, *sorted(allowed), field.high + 1)):
        ahead += [high] * (high - low)
        behind += [low] * (high - low)
    return tuple(ahead), (*behind[1:], -1)


@lru_cache(maxsize=1024)
def _month_steps(text: str) -> tuple[_Table, _Table]:
    """From each month, January first, how many months on and back the nearest allowed other one is."""
    allowed = month_numbers(text)
    ahead = tuple(next(n for n in range(1, 13) if (month + n) % 12 + 1 in allowed) for month in range(12))
    behind = tuple(next(n for n in range(1, 13) if (month - n) % 12 + 1 in allowed) for month in range(12))
    return ahead, behind
