"""What a form of schedule has to say for itself; zones, exclusions and bounds are added around it."""

from typing import Protocol


class WallPattern(Protocol):
    """Times by a wall clock of no zone, in whole seconds since its 1970-01-01T00:00:00."""

    @property
    def keeps_pace(self) -> bool:
        """Wildcards fire at each instant whose wall clock matches; fixed times once for each time that is named."""

    def next_wall(self, after_s: int) -> int | None:
        """The first time strictly after."""

    def previous_wall(self, before_s: int) -> int | None:
        """The last time strictly before."""


class Recurrence(Protocol):
    """Nominal times in µs since the epoch, strictly increasing whole seconds."""

    @property
    def jitter_us(self) -> int:
        """Each job is due at its own offset in [0, jitter_us) after the nominal time."""

    def next_after(self, t_us: int) -> int | None:
        """The first occurrence strictly after."""

    def previous_before(self, t_us: int) -> int | None:
        """The last occurrence strictly before."""

    def between(self, after_us: int, until_us: int, limit: int) -> list[int]:
        """The first `limit` occurrences in (after, until]."""

    def last_between(self, after_us: int, until_us: int, limit: int) -> list[int]:
        """The last `limit` occurrences in (after, until], ascending, found backwards from the end."""


class Stepping:
    """Windows as repeated steps, for a recurrence that has no shorter way."""

    __slots__ = ()

    def next_after(self, t_us: int) -> int | None:
        raise NotImplementedError

    def previous_before(self, t_us: int) -> int | None:
        raise NotImplementedError

    def between(self, after_us: int, until_us: int, limit: int) -> list[int]:
        found: list[int] = []
        at_us = self.next_after(after_us)
        while at_us is not None and at_us <= until_us and len(found) < limit:
            found.append(at_us)
            at_us = self.next_after(at_us)
        return found

    def last_between(self, after_us: int, until_us: int, limit: int) -> list[int]:
        found: list[int] = []
        at_us = self.previous_before(until_us + 1)
        while at_us is not None and at_us > after_us and len(found) < limit:
            found.append(at_us)
            at_us = self.previous_before(at_us)
        return found[::-1]
