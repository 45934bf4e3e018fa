"""Occurrences that move out of excluded times.

The rule. An occurrence that is not open moves, step by step, until it is: on a closed day to the same time on the wall
clock of the next day that is not closed (right after a gap, the first time in an overlap); otherwise one instant on,
that is to the end of the excluded hours or to the next midnight. Those that meet fire once. One that finds no open
time within 366 days is dropped.

Moves overtake each other: Saturday 10:00 becomes Monday 10:00, after Monday 09:00. So a search begins early enough
that nothing from before can matter. From one day to the next, only a place at midnight is handed on: what lands on a
day that has an open instant stays in it, or leaves at its end. The first day with an open instant that follows keeps
what arrives at midnight. So two such days back are enough, with one to spare for changes of the clock.
"""

from bisect import bisect_left, bisect_right

from noonmark.schedule.calendar.hours import DAY_S
from noonmark.schedule.calendar.openings import (
    DAY_US,
    FAR_DAYS,
    FIRST_US,
    HORIZON_US,
    LAST_US,
    MIN_STEPS,
    SECOND_US,
    Openings,
    OpenSpan,
)
from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.pattern import Recurrence

MAX_MOVED = 10_000
"""Of a run of closed days, so many occurrences move, the last ones; `check_move` refuses schedules with more."""
_MOVE_US = 366 * DAY_US
_CHECKED = 3 * MAX_MOVED
_CACHED_RUNS = 8
_CACHED_PLACES = 4_096
_NEVER_US = FIRST_US - 1
_NOTHING: tuple[int, int, tuple[int, ...]] = (0, 0, ())


class Moves:
    """The occurrences of a recurrence after each has moved."""

    def __init__(self, inner: Recurrence, openings: Openings) -> None:
        self._inner = inner
        self._openings = openings
        self._here = _NOTHING  # an open span, and which moved occurrences it received
        self._runs: dict[tuple[int, int], tuple[int, ...]] = {}
        self._onward: dict[int, int] = {}
        self._begins: dict[int, int] = {}

    def next_after(self, t_us: int) -> int | None:
        start_us, end_us, received = self._here
        if start_us <= t_us < end_us:
            found = self._inner.next_after(t_us)
            index = bisect_right(received, t_us)
            if index < len(received) and (found is None or received[index] < found):
                return received[index]
            if found is not None and found < end_us:
                return found
        return self._search(max(t_us, FIRST_US)) if t_us < LAST_US else None

    def previous_before(self, t_us: int) -> int | None:
        start_us, end_us, received = self._here
        if start_us < t_us <= end_us:
            found = self._inner.previous_before(t_us)
            index = bisect_left(received, t_us)
            if index and (found is None or received[index - 1] > found):
                return received[index - 1]
            if found is not None and found >= start_us:
                return found
        return self._search_back(min(t_us, LAST_US)) if t_us > FIRST_US else None

    def moved_to(self, at_us: int) -> int | None:
        """Where an occurrence moves to: the same time if it is open, None if it is dropped."""
        return self._moved_to(at_us, at_us + _MOVE_US)

    def _search(self, t_us: int) -> int | None:
        best: int | None = None
        at_us = self._inner.next_after(self._begin_us(t_us) - 1)
        steps = 0
        while at_us is not None and at_us < LAST_US and (best is None or at_us < best):
            if steps >= MIN_STEPS and at_us > t_us + HORIZON_US:
                break
            span = self._openings.span(at_us)
            if span.open:
                if at_us > t_us:
                    return self._found(at_us, span, t_us)
                from_us = min(span.end_us - 1, t_us)
            else:
                until_us, targets = self._targets(span)
                index = bisect_right(targets, t_us)
                if index < len(targets) and (best is None or targets[index] < best):
                    best = targets[index]
                from_us = until_us - 1
            steps += from_us > t_us
            at_us = self._inner.next_after(from_us)
        return best

    def _search_back(self, t_us: int) -> int | None:
        best = _NEVER_US
        at_us = self._inner.previous_before(t_us)
        steps = 0
        while at_us is not None and at_us >= FIRST_US and (steps < MIN_STEPS or at_us >= t_us - HORIZON_US):
            begin_us = self._begin_us(at_us)
            best = max(best, self._last_fire(begin_us, at_us, t_us))
            if best >= at_us:
                return self._found(best, self._openings.span(best), t_us - 1)
            at_us = self._inner.previous_before(begin_us)
            steps += 1
        return None if best == _NEVER_US else best

    def _found(self, at_us: int, span: OpenSpan, t_us: int) -> int:
        """Remembers the span of an occurrence if the time that was asked about lies in it too, as the next one may."""
        if span.start_us <= t_us < span.end_us:
            received: set[int] = set()
            moved_us = self._inner.next_after(self._begin_us(span.start_us) - 1)
            while moved_us is not None and moved_us < span.start_us:
                before = self._openings.span(moved_us)
                end_us, targets = (before.end_us, ()) if before.open else self._targets(before)
                received.update(targets[bisect_left(targets, span.start_us) : bisect_left(targets, span.end_us)])
                moved_us = self._inner.next_after(end_us - 1)
            self._here = (span.start_us, span.end_us, tuple(sorted(received)))
        return at_us

    def _last_fire(self, from_us: int, until_us: int, before_us: int) -> int:
        """The last time before another at which an occurrence of [from, until] fires, moved or not."""
        last_us = _NEVER_US
        at_us = self._inner.next_after(from_us - 1)
        while at_us is not None and at_us <= until_us:
            span = self._openings.span(at_us)
            end_us = span.end_us
            if span.open:
                last_us = max(last_us, self._inner.previous_before(min(end_us, before_us)) or at_us)
            else:
                end_us, targets = self._targets(span)
                if index := bisect_left(targets, before_us):
                    last_us = max(last_us, targets[index - 1])
            at_us = self._inner.next_after(end_us - 1)
        return last_us

    def _targets(self, span: OpenSpan) -> tuple[int, tuple[int, ...]]:
        """The end of an excluded stretch, and where its occurrences move to, ascending."""
        start_us, end_us = self._openings.excluded(span)
        if not self._openings.closed(span.day):
            return end_us, self._as_one(start_us, end_us, end_us)
        targets = self._runs.get((start_us, end_us))
        if targets is None:
            if len(self._runs) >= _CACHED_RUNS:
                self._runs.clear()
            targets = self._runs[start_us, end_us] = self._out_of_run(start_us, end_us)
        return end_us, targets

    def _out_of_run(self, start_us: int, end_us: int) -> tuple[int, ...]:
        day = self._openings.next_day(self._openings.day(end_us - 1))
        if day is None:
            return ()
        if not self._openings.opens(day):
            return self._as_one(start_us, end_us, self._openings.instant_s(day * DAY_S) * SECOND_US)
        occurrences = self._inner.last_between(start_us - 1, end_us - 1, MAX_MOVED)
        # They all go to one day, so those at one time of day go to one place; the last of them has the most days left.
        last_at = {self._openings.clock_us(at_us): at_us for at_us in occurrences}
        moved_to = {self.moved_to(at_us) for at_us in last_at.values()}
        return tuple(sorted(target for target in moved_to if target is not None))

    def _as_one(self, start_us: int, end_us: int, at_us: int) -> tuple[int, ...]:
        """Where the occurrences of [start, end) go, given that all of them come by one place: as far as the last."""
        last_us = self._inner.previous_before(end_us)
        if last_us is None or last_us < start_us:
            return ()
        target = self._moved_to(at_us, last_us + _MOVE_US)
        return () if target is None else (target,)

    def _moved_to(self, at_us: int, latest_us: int) -> int | None:
        passed = []
        found = None
        while at_us <= latest_us:
            onward = self._onward.get(at_us)
            if onward is None:
                span = self._openings.span(at_us)
                if span.open:
                    found = at_us
                    break
                onward = self._openings.same_time_later(at_us) if self._openings.closed(span.day) else span.end_us
            passed.append(at_us)
            at_us = at_us + (FAR_DAYS + 1) * DAY_US if onward is None else onward
        if len(passed) > 2:
            if len(self._onward) >= _CACHED_PLACES:
                self._onward.clear()
            self._onward.update(dict.fromkeys(passed, at_us))
        return found

    def _begin_us(self, t_us: int) -> int:
        """A time such that nothing from before it moves past `t`."""
        today = self._openings.day(t_us)
        begin = self._begins.get(today)
        if begin is None:
            if len(self._begins) >= _CACHED_RUNS:
                self._begins.clear()
            day, wanted = today, 3
            while wanted and today - day < FAR_DAYS + 2:
                day -= 1
                wanted -= self._openings.opens(day)
            begin = self._begins[today] = (day - 1) * DAY_US
        return begin


def check_move(inner: Recurrence, openings: Openings, from_us: int) -> None:
    """Refuses a schedule with too many occurrences in one run of closed days, as they would move all at once."""
    day, runs = openings.day(from_us), []
    until = day + 2 * 366
    while day < until:
        if openings.closed(day):
            run = openings.closed_run(day)
            runs.append(run)
            day = max(openings.day(run[1]), day)
        day += 1
    left = _CHECKED
    for start_us, end_us in sorted(runs, key=lambda run: run[0] - run[1]):
        count = len(inner.between(start_us - 1, end_us - 1, MAX_MOVED + 1))
        if count > MAX_MOVED:
            message = f"more than {MAX_MOVED:,} occurrences would move out of {(end_us - start_us) // DAY_US} days"
            raise ScheduleError("schedule.when_excluded", message, "use 'skip', which leaves them out")
        left -= count
        if left <= 0:
            return
