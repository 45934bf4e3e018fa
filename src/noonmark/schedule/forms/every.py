"""Occurrences at a fixed rate, by arithmetic."""

import msgspec


class EveryRecurrence(msgspec.Struct, frozen=True):
    """At phase + k * period for every integer k."""

    period_us: int
    phase_us: int
    jitter_us: int = 0

    def next_after(self, t_us: int) -> int:
        return t_us + self.period_us - (t_us - self.phase_us) % self.period_us

    def previous_before(self, t_us: int) -> int:
        return t_us - 1 - (t_us - 1 - self.phase_us) % self.period_us

    def between(self, after_us: int, until_us: int, limit: int) -> list[int]:
        return list(range(self.next_after(after_us), until_us + 1, self.period_us)[: max(limit, 0)])

    def last_between(self, after_us: int, until_us: int, limit: int) -> list[int]:
        occurrences = range(self.next_after(after_us), until_us + 1, self.period_us)
        return list(occurrences[max(len(occurrences) - max(limit, 0), 0) :])
