"""When the clock of a zone is changed, and which wall-clock times that takes away or shows twice."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from noonmark.schedule.stretches import Zone


class ClockChange(NamedTuple):
    at_s: int
    before_s: int
    """The offset from UTC until then."""
    after_s: int
    daylight: bool
    """Summer time begins or ends; otherwise the zone has been given another offset."""

    @property
    def forward(self) -> bool:
        return self.after_s > self.before_s

    @property
    def length_s(self) -> int:
        return abs(self.after_s - self.before_s)

    @property
    def start_s(self) -> int:
        """The first wall-clock time that is left out, or shown twice."""
        return self.at_s + min(self.before_s, self.after_s)

    @property
    def end_s(self) -> int:
        return self.start_s + self.length_s

    @property
    def cause(self) -> str:
        return "daylight saving" if self.daylight else "a change of the zone's offset"


def changes(where: Zone, from_s: int, to_s: int) -> Iterator[ClockChange]:
    """Those in (from, to], ascending."""
    held = where.stretch(from_s)
    while held.end_s <= to_s:
        at_s, following = held.end_s, where.stretch(held.end_s)
        daylight = _is_summer(where, at_s - 1) != _is_summer(where, at_s)
        yield ClockChange(at_s, held.offset_s, following.offset_s, daylight)
        held = following


def _is_summer(where: Zone, at_s: int) -> bool:
    return bool(datetime.fromtimestamp(at_s, where).dst())
