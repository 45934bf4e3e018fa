"""Fires when any of several recurrences does."""

from collections.abc import Sequence

from noonmark.schedule.pattern import Recurrence, Stepping


class Union(Stepping):
    __slots__ = ("_members", "jitter_us")

    def __init__(self, members: Sequence[Recurrence]) -> None:
        self._members = tuple(members)
        self.jitter_us = members[0].jitter_us

    def next_after(self, t_us: int) -> int | None:
        return min((at_us for member in self._members if (at_us := member.next_after(t_us)) is not None), default=None)

    def previous_before(self, t_us: int) -> int | None:
        found = (at_us for member in self._members if (at_us := member.previous_before(t_us)) is not None)
        return max(found, default=None)
