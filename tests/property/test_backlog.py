"""The backlog's invariant under any order of arrivals, pages, takeovers and departures.

Every waiting run of an owned shard is in memory, or at or above its lane's mark, or at or above the scan's cursor.
"""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from noonmark.shard.backlog import Backlog

SHARDS = (0, 1)
LANES = [(1, ("default", "a"), 5), (1, ("default", "a"), 2), (2, ("default", "b"), 5)]
MEMORY, LANE, PAGE = 6, 2, 3


class Spilling(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.backlog = Backlog(memory_runs=MEMORY, lane_runs=LANE, page_runs=PAGE)
        self.rows = {}
        """(shard, place) -> lane: what waits in the table."""
        self.memory = set()
        self.entered = 0
        self.owned = set(SHARDS)
        self.page = None
        self.shown = []

    def _admit(self, shard, place, lane):
        if (shard, place) not in self.memory and self.backlog.admit(lane, shard, place):
            self.memory.add((shard, place))

    @rule(shard=st.sampled_from(SHARDS))
    def take_over(self, shard):
        if shard not in self.owned:
            self.owned.add(shard)
            self.backlog.start_scan(shard)

    @precondition(lambda self: self.page is None)
    @rule(shard=st.sampled_from(SHARDS))
    def give_away(self, shard):
        if shard in self.owned:
            self.owned.remove(shard)
            self.backlog.drop_shard(shard)
            for key in [key for key in self.memory if key[0] == shard]:
                self.memory.remove(key)
                self.backlog.leave(self.rows[key])

    @rule(
        shard=st.sampled_from(SHARDS),
        nominal=st.integers(0, 30),
        job=st.integers(0, 2),
        lane=st.sampled_from(LANES),
        count=st.integers(1, 12),
    )
    def arrive(self, shard, nominal, job, lane, count):
        for place in ((nominal + i, job) for i in range(count)):
            if (shard, place) not in self.rows:
                self.rows[shard, place] = lane
                if shard in self.owned:
                    self._admit(shard, place, lane)

    @rule(data=st.data(), again=st.booleans())
    def end(self, data, again):
        """A run in memory is granted; then it ends, or waits again."""
        if self.memory:
            key = data.draw(st.sampled_from(sorted(self.memory)))
            self.backlog.leave(self.rows[key])
            if again:
                self.backlog.enter(self.rows[key])
                self.entered += 1
            else:
                self.memory.remove(key)
                del self.rows[key]

    @precondition(lambda self: self.page is None)
    @rule()
    def read(self):
        self.page = self.backlog.next_page()
        if self.page is not None:
            found = sorted(
                place
                for (shard, place), lane in self.rows.items()
                if shard == self.page.shard and place >= self.page.start and self.page.lane in (None, lane)
            )
            self.shown = found[: self.page.limit]

    @precondition(lambda self: self.page is not None and self.page.lane is not None)
    @rule(count=st.integers(1, 12))
    def overtake(self, count):
        """The lane that is being read gets more."""
        last = max((place[0] for shard, place in self.rows if shard == self.page.shard), default=0)
        self.arrive(self.page.shard, last + 1, 0, self.page.lane, count)

    @precondition(lambda self: self.page is not None)
    @rule()
    def shown_page(self):
        page, self.page = self.page, None
        self.backlog.paged(page, self.shown[-1] if len(self.shown) >= page.limit else None)
        for place in self.shown:
            if (page.shard, place) in self.rows:
                self._admit(page.shard, place, self.rows[page.shard, place])

    def _behind(self, shard, place, lane):
        cursor = self.backlog._scans.get(shard)
        entry = self.backlog._lanes.get(lane)
        mark = None if entry is None else entry.marks.get(shard)
        return (cursor is not None and place >= cursor) or (mark is not None and place >= mark)

    @invariant()
    def nothing_is_forgotten(self):
        for (shard, place), lane in self.rows.items():
            if shard in self.owned and (shard, place) not in self.memory:
                page = self.page
                shown = page is not None and page.shard == shard and page.lane in (None, lane) and place >= page.start
                assert shown or self._behind(shard, place, lane), (shard, place)

    @invariant()
    def sizes_are_exact_and_bounded(self):
        assert self.backlog.size == len(self.memory) == sum(size for _, size, _ in self.backlog.sizes())
        assert self.backlog.size <= MEMORY + len(LANES) * LANE

    @invariant()
    def lanes_with_marks_are_found(self):
        marked = {key for key, _, spilled in self.backlog.sizes() if spilled}
        reading = set() if self.page is None else {self.page.lane}
        assert marked <= set(self.backlog._spilled) <= marked | reading

    def teardown(self):
        """Read to the end and empty memory by turns: everything comes into memory some time."""
        if self.page is not None:
            self.shown_page()
        waiting = {key for key in self.rows if key[0] in self.owned}
        for _ in range(10 * len(waiting) + 100):
            self.read()
            if self.page is not None:
                self.shown_page()
            elif self.memory:
                key = min(self.memory)
                self.memory.remove(key)
                self.backlog.leave(self.rows.pop(key))
            else:
                break
        assert not {key for key in self.rows if key[0] in self.owned}
        assert self.backlog.size == 0
        assert not self.backlog._lanes


TestSpilling = Spilling.TestCase
TestSpilling.settings = settings(max_examples=300, stateful_step_count=50, deadline=None)
