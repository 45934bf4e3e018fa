"""Occurrences at each time of a list."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from datetime import datetime

import msgspec

from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.spec import instant_us

MAX_TIMES = 1_000
_SECOND_US = 1_000_000


class TimesRecurrence(msgspec.Struct, frozen=True):
    """At each of the given seconds since the epoch, which are ascending and unique."""

    times_s: tuple[int, ...]
    jitter_us: int = 0

    def next_after(self, t_us: int) -> int | None:
        index = bisect_right(self.times_s, t_us // _SECOND_US)
        return self.times_s[index] * _SECOND_US if index < len(self.times_s) else None

    def previous_before(self, t_us: int) -> int | None:
        index = bisect_left(self.times_s, -(-t_us // _SECOND_US))
        return self.times_s[index - 1] * _SECOND_US if index else None

    def between(self, after_us: int, until_us: int, limit: int) -> list[int]:
        return [time_s * _SECOND_US for time_s in self._within(after_us, until_us)[: max(limit, 0)]]

    def last_between(self, after_us: int, until_us: int, limit: int) -> list[int]:
        within = self._within(after_us, until_us)
        return [time_s * _SECOND_US for time_s in within[max(len(within) - max(limit, 0), 0) :]]

    def _within(self, after_us: int, until_us: int) -> tuple[int, ...]:
        first = bisect_right(self.times_s, after_us // _SECOND_US)
        return self.times_s[first : bisect_right(self.times_s, until_us // _SECOND_US)]


def times_body(times: Sequence[datetime]) -> str:
    """The body of the interned text: seconds since the epoch, ascending, once each; or a ScheduleError."""
    if not times:
        raise ScheduleError("schedule.times", "the list is empty", "name at least one time")
    if len(times) > MAX_TIMES:
        raise ScheduleError(
            "schedule.times", f"{len(times)} times are above the bound", f"use at most {MAX_TIMES}, or a rule (RRULE)"
        )
    return ",".join(map(str, sorted({_second(time, index) for index, time in enumerate(times)})))


def _second(time: datetime, index: int) -> int:
    field = f"schedule.times[{index}]"
    if time.utcoffset() is None:
        raise ScheduleError(field, f"{time.isoformat()} has no zone", "add an offset, such as Z or +02:00")
    second, fraction = divmod(instant_us(time), _SECOND_US)
    if fraction:
        raise ScheduleError(field, f"{time.isoformat()} is not a whole second", "leave out the fraction")
    return second
