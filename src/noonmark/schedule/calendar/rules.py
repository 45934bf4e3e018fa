"""Rules of `exclude` and `only`: days, hours, both, or a window from one time to another.

rule    = days | [days] hours | window
days    = "holidays" code | weekdays | months | date ["/" date] | month-day ["/" month-day]
hours   = 22:00-06:00                       start included, end not; belongs to the day on which it begins
window  = 2026-12-24T18:00/2026-12-25T06:00 by the wall clock of the schedule's zone, or instants with offsets
"""

import re
from collections.abc import Iterator
from difflib import get_close_matches

import msgspec

from noonmark.schedule.calendar.days import Days, EveryDay, read_days
from noonmark.schedule.calendar.hours import DAY_S, read_hours, read_window, write_hours, write_window
from noonmark.schedule.calendar.public_holidays import PublicHolidays, read_holidays
from noonmark.schedule.errors import ScheduleError

MAX_RULE = 100
_AROUND = re.compile(r" ?([,/-]) ?")
_FIX = "write days (sat-sun, 12-24, 2026-12-24/2027-01-02, holidays DE), hours (22:00-06:00) or days and hours"
_WORDS = ("holidays", "weekdays", "weekends", "mon", "tue", "wed", "thu", "fri", "sat", "sun")


class DayRule(msgspec.Struct, frozen=True):
    """Whole days."""

    days: Days

    def __str__(self) -> str:
        return str(self.days) or "00:00-24:00"

    def walls(self, day: int, offset_s: int) -> Iterator[tuple[int, int]]:
        """The parts of a day, which may reach beyond it, in seconds of a wall clock that is so far ahead of UTC."""
        if day in self.days:
            yield day * DAY_S, (day + 1) * DAY_S

    def reason(self, day: int) -> str:
        return _reason(str(self), self.days, day)


class HourRule(msgspec.Struct, frozen=True):
    """The same hours of each of some days; they may go on after midnight."""

    days: Days
    start_s: int
    end_s: int

    def __str__(self) -> str:
        return f"{self.days} {write_hours(self.start_s, self.end_s)}".lstrip()

    def walls(self, day: int, offset_s: int) -> Iterator[tuple[int, int]]:
        for begun in (day - 1, day) if self.end_s > DAY_S else (day,):
            if begun in self.days:
                yield begun * DAY_S + self.start_s, begun * DAY_S + self.end_s

    def reason(self, day: int) -> str:
        return _reason(str(self), self.days, day if day in self.days else day - 1)


class WindowRule(msgspec.Struct, frozen=True):
    """From one time to another, by the wall clock or as instants."""

    start_s: int
    end_s: int
    instants: bool

    def __str__(self) -> str:
        return write_window(self.start_s, self.end_s, self.instants)

    def walls(self, day: int, offset_s: int) -> Iterator[tuple[int, int]]:
        ahead_s = offset_s if self.instants else 0
        yield self.start_s + ahead_s, self.end_s + ahead_s

    def reason(self, day: int) -> str:
        return str(self)


Rule = DayRule | HourRule | WindowRule


def read_rule(text: str, field: str) -> Rule:
    """The rule that a text says; a ScheduleError that names the field if it says none."""
    if len(text) > MAX_RULE:
        raise ScheduleError(field, f"{len(text)} characters are more than {MAX_RULE}", "use several rules")
    text = _AROUND.sub(r"\1", " ".join(text.split()))
    front, _, last = text.rpartition(" ")
    hours = read_hours(last, field)
    if hours is None:
        window = read_window(text.lower(), field)
        return WindowRule(*window) if window is not None else DayRule(_days(text, field))
    days = _days(front, field) if front else EveryDay()
    return DayRule(days) if hours == (0, DAY_S) else HourRule(days, *hours)


def canonical_rule(text: str, field: str) -> str:
    """The one way to write a rule, without any `|` or `;`."""
    return str(read_rule(text, field))


def _days(text: str, field: str) -> Days:
    word, _, rest = text.partition(" ")
    if word.lower() == "holidays":
        if not rest:
            raise ScheduleError(
                field, "no country is named", "write 'holidays DE', 'holidays US-CA' or 'holidays NYSE'"
            )
        return read_holidays(rest, field)
    days = read_days(text.lower(), field)
    if days is None:
        close = get_close_matches(word.lower(), _WORDS, n=1)
        fix = f"did you mean {close[0]!r}?" if close and close[0] != word.lower() else _FIX
        raise ScheduleError(field, f"{text!r} names no days or hours", fix)
    return days


def _reason(text: str, days: Days, day: int) -> str:
    name = days.name(day) if isinstance(days, PublicHolidays) else None
    return text if name is None else f"{text}: {name}"
