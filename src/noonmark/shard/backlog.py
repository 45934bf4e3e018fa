"""How much of the backlog is in memory, and where the rest continues.

A *lane* is one tenant's runs of one kind and priority. Memory holds at most `memory_runs` waiting runs, but every lane
may hold at least `lane_runs`, so that one tenant's backlog cannot shut another out. A run that is not admitted stays in
its row only; the lane then keeps a *mark* per shard: the least key that was passed over.

Invariant: every waiting run of an owned shard whose time has come is in memory, or its key is at or above its lane's
mark in that shard, or at or above the shard's scan cursor.

A page is read from a mark upwards. While it is read the mark is off, and a run that is passed over meanwhile sets a new
one; afterwards a full page puts the mark behind its last row. Rows that are in memory already are ignored.
"""

from collections.abc import Iterable
from typing import NamedTuple

from noonmark.shard.live_run import LaneKey

Place = tuple[int, int]
"""(nominal_us, job_id): the order of a shard's rows."""

START: Place = (-(1 << 62), 0)


class PageRequest(NamedTuple):
    """A request to read waiting runs of one shard from `start` (inclusive) on; of one lane, or of all."""

    shard: int
    lane: LaneKey | None
    start: Place
    limit: int


class _Lane:
    __slots__ = ("marks", "size")

    def __init__(self) -> None:
        self.size = 0
        self.marks: dict[int, Place] = {}


class Backlog:
    def __init__(self, *, memory_runs: int, lane_runs: int, page_runs: int) -> None:
        self.memory_runs = memory_runs
        self.lane_runs = lane_runs
        self.page_runs = page_runs
        self.size = 0
        self._lanes: dict[LaneKey, _Lane] = {}
        self._spilled: dict[LaneKey, None] = {}
        """Lanes that have marks, in the order in which they are read: a set's would differ from process to process."""
        self._scans: dict[int, Place] = {}

    def admit(self, lane_key: LaneKey, shard: int, place: Place) -> bool:
        """Counts a run into memory, or passes it over and leaves a mark."""
        lane = self._lanes.get(lane_key)
        if lane is None:
            lane = self._lanes[lane_key] = _Lane()
        mark = lane.marks.get(shard)
        full = self.size >= self.memory_runs and lane.size >= self.lane_runs
        if full or (mark is not None and place >= mark):
            if mark is None or place < mark:
                lane.marks[shard] = place
                self._spilled[lane_key] = None
            return False
        lane.size += 1
        self.size += 1
        return True

    def leave(self, lane_key: LaneKey) -> None:
        """A run of the lane is no longer waiting in memory."""
        lane = self._lanes[lane_key]
        lane.size -= 1
        self.size -= 1
        if not lane.size and not lane.marks:
            del self._lanes[lane_key]

    def enter(self, lane_key: LaneKey) -> None:
        """A run that memory holds anyway waits again; it is counted also beyond the bound."""
        lane = self._lanes.get(lane_key)
        if lane is None:
            lane = self._lanes[lane_key] = _Lane()
        lane.size += 1
        self.size += 1

    def sizes(self) -> Iterable[tuple[LaneKey, int, bool]]:
        return ((key, lane.size, bool(lane.marks)) for key, lane in self._lanes.items())

    def start_scan(self, shard: int) -> None:
        self._scans[shard] = START

    def drop_shard(self, shard: int) -> None:
        self._scans.pop(shard, None)
        for lane_key in list(self._spilled):
            self._lanes[lane_key].marks.pop(shard, None)
            self._forget_if_empty(lane_key)

    def next_page(self) -> PageRequest | None:
        """The page to read now, if there is room for it; its mark is off until `paged` gets the result."""
        for shard, start in self._scans.items():
            return PageRequest(shard, None, start, self.page_runs)
        room = self.memory_runs - self.size
        for lane_key in self._spilled:
            lane = self._lanes[lane_key]
            if room >= self.page_runs or lane.size <= self.lane_runs // 2:
                shard, start = min(lane.marks.items(), key=lambda item: item[1])
                del lane.marks[shard]
                limit = self.page_runs if room >= self.page_runs else self.lane_runs
                return PageRequest(shard, lane_key, start, limit)
        return None

    def paged(self, page: PageRequest, last: Place | None) -> None:
        """`last` is the place of the page's last row if the page was full, None if nothing is left behind it."""
        following = None if last is None else (last[0], last[1] + 1)
        if page.lane is None:
            if page.shard in self._scans:
                if following is None:
                    del self._scans[page.shard]
                else:
                    self._scans[page.shard] = following
            return
        lane = self._lanes.get(page.lane)
        if lane is None:
            lane = self._lanes[page.lane] = _Lane()
        if following is not None:
            lane.marks[page.shard] = min(following, lane.marks.get(page.shard, following))
            self._spilled[page.lane] = None
        self._forget_if_empty(page.lane)

    def _forget_if_empty(self, lane_key: LaneKey) -> None:
        lane = self._lanes.get(lane_key)
        if lane is None or not lane.marks:
            self._spilled.pop(lane_key, None)
            if lane is not None and not lane.size:
                del self._lanes[lane_key]
