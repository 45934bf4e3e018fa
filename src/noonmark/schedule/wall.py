"""Occurrences of a pattern of wall times by the clock of a zone.

The rule. The instants of a zone are cut into stretches of constant offset. In each, an instant is an occurrence if the
wall clock shows a time of the pattern then. At a change, the policies differ:

- The clock goes back (an *overlap*: it shows some times twice). `both` keeps the times of either pass, `first` leaves
  out those of the second pass, `second` those of the first.
- The clock goes forward (a *gap*: it skips some times). `skip` adds nothing. `after` adds the instant of the change if
  any time of the pattern is skipped. `shift` adds each skipped time read with the offset before the change, which is
  the same distance after the change as the time is after the gap's start.
- `auto` is Debian's rule. Patterns that keep pace: `skip` and `both`. Fixed times: `after` and `first`.

Occurrences are a set, so two ways to one instant fire once. Invariants, each held by a test:

- Which instants occur does not depend on where a search begins: `previous_before` mirrors `next_after`.
- A stretch is longer than the gap or overlap at either end, so what a change adds or leaves out stays inside it.
- An offset is less than a day, so an occurrence lies less than a day from the wall time that it stands for, read as
  UTC. Searches leap over empty years by that.
- Occurrences lie in the years 1900 to 2999. A search gives up after 400 stretches whose every time is left out.
"""

from noonmark.schedule.pattern import Stepping, WallPattern
from noonmark.schedule.spec import Gap, Overlap
from noonmark.schedule.stretches import FIRST_S, LAST_S, Stretch
from noonmark.schedule.zones import zone

_SECOND_US = 1_000_000
_DAY_S = 86_400
_PATIENCE = 400
_ALL_OF_UTC = Stretch(FIRST_S, LAST_S, 0, 0)


class WallRecurrence(Stepping):
    """A pattern in a zone. It keeps the data of the zone that it was built with."""

    __slots__ = ("_gap", "_next_wall", "_overlap", "_plain", "_previous_wall", "_zone", "jitter_us")

    def __init__(
        self, pattern: WallPattern, tz: str, gap: Gap = "auto", overlap: Overlap = "auto", jitter_us: int = 0
    ) -> None:
        self.jitter_us = jitter_us
        self._next_wall, self._previous_wall = pattern.next_wall, pattern.previous_wall
        self._zone = None if tz == "UTC" else zone(tz)
        self._gap = gap if gap != "auto" else "skip" if pattern.keeps_pace else "after"
        self._overlap = overlap if overlap != "auto" else "both" if pattern.keeps_pace else "first"
        self._plain = (FIRST_S, FIRST_S, 0)  # start, end, offset: the part of the last stretch far from its changes

    def next_after(self, t_us: int) -> int | None:
        after_s = t_us // _SECOND_US
        start_s, end_s, offset_s = self._plain
        if start_s <= after_s < end_s:
            wall_s = self._next_wall(after_s + offset_s)
            if wall_s is not None and wall_s - offset_s < end_s:
                return (wall_s - offset_s) * _SECOND_US
        found_s = self._search(after_s + 1)
        return None if found_s is None else found_s * _SECOND_US

    def previous_before(self, t_us: int) -> int | None:
        before_s = -(-t_us // _SECOND_US)
        start_s, end_s, offset_s = self._plain
        if start_s < before_s <= end_s:
            wall_s = self._previous_wall(before_s + offset_s)
            if wall_s is not None and wall_s - offset_s >= start_s:
                return (wall_s - offset_s) * _SECOND_US
        found_s = self._search_back(before_s - 1)
        return None if found_s is None else found_s * _SECOND_US

    def _search(self, from_s: int) -> int | None:
        """The first occurrence at or after an instant, one stretch after the other."""
        at_s = max(from_s, FIRST_S)
        for _ in range(_PATIENCE):
            if at_s >= LAST_S:
                return None
            here = self._stretch(at_s)
            if (found_s := self._first_in(here, at_s)) is not None:
                return found_s
            wall_s = self._next_wall(here.end_s - _DAY_S)
            if wall_s is None:
                return None
            at_s = max(here.end_s, wall_s - _DAY_S)
        return None

    def _search_back(self, from_s: int) -> int | None:
        """The last occurrence at or before an instant."""
        at_s = min(from_s, LAST_S - 1)
        for _ in range(_PATIENCE):
            if at_s < FIRST_S:
                return None
            here = self._stretch(at_s)
            if (found_s := self._last_in(here, at_s)) is not None:
                return found_s
            wall_s = self._previous_wall(here.start_s + _DAY_S)
            if wall_s is None:
                return None
            at_s = min(here.start_s - 1, wall_s + _DAY_S)
        return None

    def _stretch(self, at_s: int) -> Stretch:
        """The stretch of an instant; remembers which part of it has no change to mind."""
        here = _ALL_OF_UTC if self._zone is None else self._zone.stretch(at_s)
        start_s, end_s = self._shown(here)
        gap_s = here.offset_s - here.offset_before_s
        if gap_s > 0 and self._gap == "shift":
            start_s += gap_s
        self._plain = (start_s, end_s, here.offset_s)
        return here

    def _shown(self, here: Stretch) -> tuple[int, int]:
        """The part of a stretch in which times that the clock shows count: [start, end)."""
        start_s, end_s = here.start_s, here.end_s
        if self._overlap == "first":
            start_s += max(here.offset_before_s - here.offset_s, 0)
        elif self._overlap == "second" and self._zone is not None and end_s < LAST_S:
            end_s -= max(here.offset_s - self._zone.stretch(end_s).offset_s, 0)
        return start_s, end_s

    def _first_in(self, here: Stretch, at_s: int) -> int | None:
        start_s, end_s = self._shown(here)
        skipped_s = self._first_skipped(here, at_s)
        wall_s = self._next_wall(max(at_s, start_s) - 1 + here.offset_s)
        if wall_s is None or wall_s - here.offset_s >= end_s:
            return skipped_s
        shown_s = wall_s - here.offset_s
        return shown_s if skipped_s is None else min(shown_s, skipped_s)

    def _last_in(self, here: Stretch, at_s: int) -> int | None:
        start_s, end_s = self._shown(here)
        skipped_s = self._last_skipped(here, at_s)
        wall_s = self._previous_wall(min(at_s + 1, end_s) + here.offset_s)
        if wall_s is None or wall_s - here.offset_s < start_s:
            return skipped_s
        shown_s = wall_s - here.offset_s
        return shown_s if skipped_s is None else max(shown_s, skipped_s)

    def _first_skipped(self, here: Stretch, at_s: int) -> int | None:
        """The first instant, at or after another, that the gap at the start of a stretch adds."""
        end_s = here.start_s + here.offset_s - here.offset_before_s
        if at_s >= end_s or self._gap == "skip" or (self._gap == "after" and at_s > here.start_s):
            return None
        wall_s = self._next_wall(at_s - 1 + here.offset_before_s)
        if wall_s is None or wall_s - here.offset_before_s >= end_s:
            return None
        return here.start_s if self._gap == "after" else wall_s - here.offset_before_s

    def _last_skipped(self, here: Stretch, at_s: int) -> int | None:
        """The last instant, at or before another, that the gap at the start of a stretch adds."""
        end_s = here.start_s + here.offset_s - here.offset_before_s
        if here.start_s >= end_s or self._gap == "skip":
            return None
        until_s = end_s if self._gap == "after" else min(at_s + 1, end_s)
        wall_s = self._previous_wall(until_s + here.offset_before_s)
        if wall_s is None or wall_s - here.offset_before_s < here.start_s:
            return None
        return here.start_s if self._gap == "after" else wall_s - here.offset_before_s
