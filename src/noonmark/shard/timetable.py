"""The distinct schedules of the owned shards, and which of them are due in a window.

Ten million jobs share few schedules, so this holds schedules and the shards that use them, never jobs. In the steady
state all shards stand at one watermark and a heap finds the schedules that a window needs; a shard that lags behind, as
after a takeover, is served by asking every schedule.
"""

from collections.abc import Collection, Iterator
from heapq import heappop, heappush
from typing import NamedTuple

from noonmark.model.job import MAX_CATCH_UP
from noonmark.schedule import Recurrence, Slice, missed_until, next_needed_after, recurrence, slices
from noonmark.schedule.bounds import Bounded


class Due(NamedTuple):
    """One schedule of one shard at one nominal time, for the jobs whose jitter offset lies in (from, to]."""

    shard: int
    schedule_id: int
    nominal_us: int
    offset_from_ms: int
    offset_to_ms: int
    missed: bool
    rank: int
    ends_us: int | None = None
    """Only for the jobs whose last occurrence this bounds: their missed ones are ranked from there."""


class MissedEnd(NamedTuple):
    """A schedule ended for some jobs of a shard while the shard had no owner; they catch up on at most `most`."""

    shard: int
    schedule_id: int
    ends_us: int
    most: int


class _Entry:
    __slots__ = ("recurrence", "shards", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.recurrence: Recurrence = recurrence(text)
        self.shards: set[int] = set()


class Timetable:
    def __init__(self, *, grace_us: int) -> None:
        self._grace_us = grace_us
        self._entries: dict[int, _Entry] = {}
        self._needed: list[tuple[int, int]] = []
        self._fresh: list[int] = []
        self._at_us: int | None = None

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, shard: int, schedule_id: int, text: str) -> None:
        entry = self._entries.get(schedule_id)
        if entry is None:
            entry = self._entries[schedule_id] = _Entry(text)
            self._fresh.append(schedule_id)
            if self._at_us is not None:
                self._need(schedule_id, entry, self._at_us)
        entry.shards.add(shard)

    def drop(self, shard: int) -> None:
        for schedule_id, entry in list(self._entries.items()):
            entry.shards.discard(shard)
            if not entry.shards:
                del self._entries[schedule_id]

    def recurrence(self, schedule_id: int) -> Recurrence:
        return self._entries[schedule_id].recurrence

    def reload(self) -> Iterator[None]:
        """Reads every schedule anew from its text, one a step, as after a change of the time zones.

        Between two steps anything else may be asked. Watermarks stay where they are: runs that were made ahead under
        the old rules stay, later ones go by the new rules.
        """
        for schedule_id, entry in list(self._entries.items()):
            entry.recurrence = recurrence(entry.text)
            # Its old place in the heap stays too: it is asked once in vain, which does no harm.
            if self._at_us is not None:
                self._need(schedule_id, entry, self._at_us)
            yield

    def missed_until_us(self, now_us: int) -> int:
        """An occurrence that was due up to then, and is made only now, was missed."""
        return missed_until(now_us, self._grace_us)

    def window(self, after_us: int, until_us: int, now_us: int) -> list[tuple[int, Slice]]:
        """(schedule, slice) of everything due in (after, until]."""
        self._fresh = []
        due = self._steady(until_us) if after_us == self._at_us else list(self._entries)
        return self._slices(due, after_us, until_us, now_us)

    def fresh(self, after_us: int, until_us: int, now_us: int) -> list[tuple[int, Slice]]:
        """The same for the schedules that were added after `window` was asked."""
        return self._slices(self._fresh, after_us, until_us, now_us)

    def stand_at(self, until_us: int) -> None:
        """All shards stand at this watermark now."""
        if self._at_us != until_us:
            self._at_us = until_us
            self._needed = []
            for schedule_id, entry in self._entries.items():
                self._need(schedule_id, entry, until_us)

    def ended(self, ends: Collection[MissedEnd], after_us: int, until_us: int, now_us: int) -> list[Due]:
        """The missed occurrences in (after, until] of jobs that ended meanwhile."""
        found: list[Due] = []
        for shard, schedule_id, ends_us, most in ends:
            entry = self._entries.get(schedule_id)
            if entry is not None and shard in entry.shards:
                bounded = Bounded(entry.recurrence, end_us=ends_us)
                pieces = slices(bounded, after_us, until_us, now_us, self._grace_us, most)
                found += [_due(shard, schedule_id, piece, ends_us) for piece in pieces if piece.missed]
        return found

    def expand(self, pieces: Collection[tuple[int, Slice]], shards: Collection[int]) -> list[Due]:
        """Those slices as rows for the given shards."""
        return list(self._expand(pieces, set(shards)))

    def _slices(self, due: list[int], after_us: int, until_us: int, now_us: int) -> list[tuple[int, Slice]]:
        return [
            (schedule_id, piece)
            for schedule_id in due
            if (entry := self._entries.get(schedule_id)) is not None
            for piece in slices(entry.recurrence, after_us, until_us, now_us, self._grace_us, MAX_CATCH_UP)
        ]

    def _expand(self, pieces: Collection[tuple[int, Slice]], shards: set[int]) -> Iterator[Due]:
        for schedule_id, piece in pieces:
            entry = self._entries.get(schedule_id)
            if entry is None:
                continue
            for shard in sorted(entry.shards & shards):
                yield _due(shard, schedule_id, piece)

    def _steady(self, until_us: int) -> list[int]:
        due: set[int] = set()
        while self._needed and self._needed[0][0] <= until_us:
            due.add(heappop(self._needed)[1])
        found = sorted(due & self._entries.keys())
        for schedule_id in found:
            self._need(schedule_id, self._entries[schedule_id], until_us)
        self._at_us = until_us
        return found

    def _need(self, schedule_id: int, entry: _Entry, after_us: int) -> None:
        needed_us = next_needed_after(entry.recurrence, after_us)
        if needed_us is not None:
            heappush(self._needed, (needed_us, schedule_id))


def _due(shard: int, schedule_id: int, piece: Slice, ends_us: int | None = None) -> Due:
    from_ms, to_ms = piece.offset_from_us // 1000, piece.offset_to_us // 1000
    return Due(shard, schedule_id, piece.nominal_us, from_ms, to_ms, piece.missed, piece.rank, ends_us)
