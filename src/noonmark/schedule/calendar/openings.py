"""Which instants the rules of a schedule leave open, by the wall clock of its zone.

An instant is open if some `only` rule holds at it, or there are none, and no `exclude` rule does. A day is *closed* if
an `exclude` rule names it as a whole, if no `only` rule holds at any of its instants, or if the zone skipped it.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from noonmark.schedule.calendar.hours import DAY_S
from noonmark.schedule.calendar.rules import DayRule, Rule, read_rule
from noonmark.schedule.stretches import FIRST_S, LAST_S
from noonmark.schedule.zones import zone

SECOND_US = 1_000_000
DAY_US = DAY_S * SECOND_US
FIRST_US = FIRST_S * SECOND_US + 800 * DAY_US
LAST_US = LAST_S * SECOND_US - 800 * DAY_US
"""Searches stay this far inside the years that the zone knows, so that looking around from there is safe."""
HORIZON_US = 12 * 366 * DAY_US
MIN_STEPS = 16
"""A search ends after 12 years and so many excluded stretches without an occurrence. Both, as rare schedules need few
stretches for many years: 29 February is a Sunday every 28 years, which takes 7."""
FAR_DAYS = 367
_CACHED_DAYS = 128
_CACHED_CLOSED = 2_048


class OpenSpan(NamedTuple):
    """Instants of one day in [start, end) that are all open or all not."""

    start_us: int
    end_us: int
    open: bool
    day: int


class _Piece(NamedTuple):
    """The instants of a day with one offset: spans between edges, open and not in turns."""

    edges_us: tuple[int, ...]
    first_open: bool
    day: int


class Openings:
    """The rules in a zone, whose data it keeps."""

    def __init__(self, tz: str, exclude: tuple[str, ...], only: tuple[str, ...]) -> None:
        self._zone = zone(tz)
        self._exclude = [read_rule(text, f"schedule.exclude[{i}]") for i, text in enumerate(exclude)]
        self._only = [read_rule(text, f"schedule.only[{i}]") for i, text in enumerate(only)]
        self._shut_days = [rule.days for rule in self._exclude if isinstance(rule, DayRule)]
        self._by_day = all(isinstance(rule, DayRule) for rule in (*self._exclude, *self._only))
        self._pieces: dict[tuple[int, int], _Piece] = {}
        self._closed: dict[int, bool] = {}
        self._run = (0, -1, 0, 0)  # the last run of closed days: first and last, start and end
        self._next: dict[int, int | None] = {}

    def span(self, at_us: int) -> OpenSpan:
        """The span that holds an instant."""
        piece = self._piece(at_us // SECOND_US)
        index = bisect_right(piece.edges_us, at_us) - 1
        is_open = piece.first_open ^ bool(index & 1)
        return OpenSpan(piece.edges_us[index], piece.edges_us[index + 1], is_open, piece.day)

    def day(self, at_us: int) -> int:
        at_s = at_us // SECOND_US
        return (at_s + self._zone.stretch(at_s).offset_s) // DAY_S

    def clock_us(self, at_us: int) -> int:
        """The time of day on the wall clock."""
        return (at_us + self._zone.stretch(at_us // SECOND_US).offset_s * SECOND_US) % DAY_US

    def opens(self, day: int) -> bool:
        """Whether any instant of a day is open."""
        if self.closed(day):
            return False
        return any(
            cut.first_open or len(cut.edges_us) > 2 for cut in (self._cut(day, *part) for part in self._parts(day))
        )

    def closed(self, day: int) -> bool:
        known = self._closed.get(day)
        if known is None:
            if len(self._closed) >= _CACHED_CLOSED:
                self._closed.clear()
            known = self._closed[day] = self._is_closed(day)
        return known

    def closed_run(self, day: int) -> tuple[int, int]:
        """The instants [start, end) of the closed days around a closed day, a year's at most on either side."""
        first, last, start_us, end_us = self._run
        if not first <= day <= last:
            first, last = day, day
            while day - first < FAR_DAYS and self.closed(first - 1):
                first -= 1
            while last - day < FAR_DAYS and self.closed(last + 1):
                last += 1
            start_us = self._last_instant_s(first * DAY_S) * SECOND_US
            end_us = self.instant_s((last + 1) * DAY_S) * SECOND_US
            self._run = (first, last, start_us, end_us)
        return start_us, end_us

    def excluded(self, span: OpenSpan) -> tuple[int, int]:
        """The stretch [start, end) around a span that is not open: a run of closed days, or the span itself."""
        if self.closed(span.day):
            start_us, end_us = self.closed_run(span.day)
            if start_us <= span.start_us and span.end_us <= end_us:
                return start_us, end_us
        return span.start_us, span.end_us

    def next_day(self, day: int) -> int | None:
        """The next day that is not closed; None if there is none for a year."""
        if day not in self._next:
            if len(self._next) >= _CACHED_DAYS:
                self._next.clear()
            self._next[day] = next((later for later in range(day + 1, day + FAR_DAYS) if not self.closed(later)), None)
        return self._next[day]

    def same_time_later(self, at_us: int) -> int | None:
        """The same time on the wall clock of the next day that is not closed."""
        at_s, fraction_us = divmod(at_us, SECOND_US)
        day, clock_s = divmod(at_s + self._zone.stretch(at_s).offset_s, DAY_S)
        later = self.next_day(day)
        return None if later is None else self.instant_s(later * DAY_S + clock_s) * SECOND_US + fraction_us

    def instant_s(self, wall_s: int) -> int:
        """When the wall clock shows a time: the first time in an overlap, right after a gap."""
        here = self._zone.stretch(wall_s - DAY_S)
        while wall_s - here.offset_s >= here.end_s:
            here = self._zone.stretch(here.end_s)
        return max(wall_s - here.offset_s, here.start_s)

    def _last_instant_s(self, wall_s: int) -> int:
        """As `instant_s`, but the second time in an overlap."""
        here = self._zone.stretch(wall_s + DAY_S)
        while wall_s - here.offset_s < here.start_s:
            before = self._zone.stretch(here.start_s - 1)
            if wall_s - before.offset_s >= before.end_s:
                return here.start_s
            here = before
        return wall_s - here.offset_s

    def reason(self, at_us: int) -> str | None:
        """Which rule keeps an instant out; None if it is open."""
        at_s = at_us // SECOND_US
        offset_s = self._zone.stretch(at_s).offset_s
        wall_s = at_s + offset_s
        day = wall_s // DAY_S
        for rule in self._exclude:
            for start_s, end_s in rule.walls(day, offset_s):
                if start_s <= wall_s < end_s:
                    return rule.reason(start_s // DAY_S)
        if not self._only or any(a <= wall_s < b for rule in self._only for a, b in rule.walls(day, offset_s)):
            return None
        return f"outside of {', '.join(map(str, self._only))}"

    def _piece(self, at_s: int) -> _Piece:
        here = self._zone.stretch(at_s)
        day = (at_s + here.offset_s) // DAY_S
        key = (day, here.offset_s)
        piece = self._pieces.get(key)
        if piece is None or not piece.edges_us[0] <= at_s * SECOND_US < piece.edges_us[-1]:
            if len(self._pieces) >= _CACHED_DAYS:
                self._pieces.clear()
            start_s = max(day * DAY_S, here.start_s + here.offset_s)
            end_s = min((day + 1) * DAY_S, here.end_s + here.offset_s)
            piece = self._pieces[key] = self._cut(day, here.offset_s, start_s, end_s)
        return piece

    def _cut(self, day: int, offset_s: int, start_s: int, end_s: int) -> _Piece:
        if self._by_day:
            edges_us = (start_s - offset_s) * SECOND_US, (end_s - offset_s) * SECOND_US
            return _Piece(edges_us, not self.closed(day), day)
        shut = _union(self._exclude, day, offset_s, start_s, end_s)
        kept = _union(self._only, day, offset_s, start_s, end_s) if self._only else [(start_s, end_s)]
        edges_s = [edge for span in _minus(kept, shut) for edge in span]
        first_open = bool(edges_s) and edges_s[0] == start_s
        inner_s = [edge for edge in edges_s if start_s < edge < end_s]
        return _Piece(tuple((edge - offset_s) * SECOND_US for edge in (start_s, *inner_s, end_s)), first_open, day)

    def _is_closed(self, day: int) -> bool:
        if any(day in days for days in self._shut_days):
            return True
        parts = list(self._parts(day))
        if not parts or not self._only:
            return not parts
        return not any(_union(self._only, day, offset_s, start_s, end_s) for offset_s, start_s, end_s in parts)

    def _parts(self, day: int) -> Iterator[tuple[int, int, int]]:
        """The offsets of a day, each with the wall times [start, end) that the clock shows with it."""
        here = self._zone.stretch((day - 1) * DAY_S)
        while True:
            start_s = max(day * DAY_S, here.start_s + here.offset_s)
            end_s = min((day + 1) * DAY_S, here.end_s + here.offset_s)
            if start_s < end_s:
                yield here.offset_s, start_s, end_s
            if here.end_s >= (day + 2) * DAY_S:
                return
            here = self._zone.stretch(here.end_s)


def _union(rules: Iterable[Rule], day: int, offset_s: int, start_s: int, end_s: int) -> list[tuple[int, int]]:
    """The wall times in [start, end) at which any rule holds, as stretches that do not touch."""
    merged: list[tuple[int, int]] = []
    for a, b in sorted(part for rule in rules for part in rule.walls(day, offset_s)):
        a, b = max(a, start_s), min(b, end_s)
        if a >= b:
            continue
        if merged and a <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(b, merged[-1][1]))
        else:
            merged.append((a, b))
    return merged


def _minus(kept: list[tuple[int, int]], shut: list[tuple[int, int]]) -> list[tuple[int, int]]:
    left = []
    for a, b in kept:
        for start_s, end_s in shut:
            if start_s < b and end_s > a:
                if start_s > a:
                    left.append((a, start_s))
                a = end_s
        if a < b:
            left.append((a, b))
    return left
