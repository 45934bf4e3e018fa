"""Start, end and number of occurrences: they belong to one job, and go around the recurrence that it shares."""

from noonmark.schedule.pattern import Recurrence, Stepping

MAX_RUNS = 10_000


class Bounded(Stepping):
    """The occurrences in [start, end], at most so many of them."""

    __slots__ = ("_end_us", "_inner", "_start_us", "jitter_us")

    def __init__(
        self, inner: Recurrence, start_us: int | None = None, end_us: int | None = None, max_runs: int | None = None
    ) -> None:
        self.jitter_us = inner.jitter_us
        self._inner = inner
        self._start_us = start_us
        self._end_us = last_us(inner, None if start_us is None else start_us - 1, end_us, max_runs)

    def next_after(self, t_us: int) -> int | None:
        found_us = self._inner.next_after(t_us if self._start_us is None else max(t_us, self._start_us - 1))
        return None if found_us is None or (self._end_us is not None and found_us > self._end_us) else found_us

    def previous_before(self, t_us: int) -> int | None:
        found_us = self._inner.previous_before(t_us if self._end_us is None else min(t_us, self._end_us + 1))
        return None if found_us is None or (self._start_us is not None and found_us < self._start_us) else found_us


def last_us(rec: Recurrence, after_us: int | None, end_us: int | None, max_runs: int | None) -> int | None:
    """The time after which nothing fires, of a recurrence that is counted from after a time; None if it never ends."""
    if max_runs is None or after_us is None:
        return end_us
    nth_us = nth_after(rec, after_us, max_runs)
    ends_us = [at_us for at_us in (end_us, nth_us) if at_us is not None]
    return min(ends_us, default=None)


def nth_after(rec: Recurrence, after_us: int, n: int) -> int | None:
    """The n-th occurrence strictly after a time, counted from 1; `after` itself for 0, None if there are fewer."""
    at_us: int | None = after_us
    for _ in range(n):
        if at_us is None:
            return None
        at_us = rec.next_after(at_us)
    return at_us


def count_between(rec: Recurrence, after_us: int, until_us: int, limit: int) -> int:
    """How many occurrences lie in (after, until]; at most `limit` are counted."""
    count, at_us = 0, rec.next_after(after_us)
    while count < limit and at_us is not None and at_us <= until_us:
        count, at_us = count + 1, rec.next_after(at_us)
    return count
