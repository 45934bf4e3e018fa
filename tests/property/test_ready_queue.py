"""The ready queue under any order of pushes, discards and claims."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from noonmark.model.reason import Reason
from noonmark.model.run import RunRow
from noonmark.shard.live_run import LiveRun, State
from noonmark.shard.ready import ReadyQueue

KINDS = [("default", "a"), ("default", "b"), ("slow", "a")]


class Queueing(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.queue = ReadyQueue({1: 1, 2: 4})
        self.waiting = {}
        self.now_us = 10**15
        self.number = 0

    @rule(
        tenant_id=st.integers(1, 3),
        kind=st.sampled_from(KINDS),
        priority=st.sampled_from([0, 5, 9]),
        age_us=st.integers(0, 10**8),
        count=st.integers(1, 20),
    )
    def push(self, tenant_id, kind, priority, age_us, count):
        for _ in range(count):
            self.number += 1
            due_us = self.now_us - age_us
            row = RunRow(self.number, due_us, due_us, tenant_id, 1, 1, priority, 0, 0, Reason.SCHEDULED, None)
            live = LiveRun(row, kind)
            self.queue.push(live)
            self.waiting[live] = kind

    @rule(data=st.data())
    def discard(self, data):
        if self.waiting:
            live = data.draw(st.sampled_from(sorted(self.waiting, key=lambda live: live.job_id)))
            self.queue.discard(live)
            del self.waiting[live]

    @rule(
        kinds=st.sets(st.sampled_from(KINDS)),
        most=st.integers(1, 50),
        later_us=st.integers(0, 10**8),
        tenant=st.sampled_from([None, None, 1, 2]),
    )
    def take(self, kinds, most, later_us, tenant):
        self.now_us += later_us
        offered = {live for live, kind in self.waiting.items() if kind in kinds and tenant in (None, live.tenant_id)}
        taken = self.queue.take(kinds, most, self.now_us, tenant)
        assert len(taken) == len(set(taken)) == min(most, len(offered))
        assert set(taken) <= offered
        left = offered - set(taken)
        for live in taken:
            assert live.state is not State.READY
            lane = (live.tenant_id, self.waiting[live], live.priority)
            assert not any(
                other.due_us < live.due_us
                for other in left
                if (other.tenant_id, self.waiting[other], other.priority) == lane
            )
        for live in taken:
            del self.waiting[live]

    @invariant()
    def the_size_is_exact(self):
        assert self.queue.size == len(self.waiting)

    @invariant()
    def heads_are_waiting(self):
        dues = {(live.tenant_id, kind, live.due_us) for live, kind in self.waiting.items()}
        assert set(self.queue.heads()) <= dues


TestQueueing = Queueing.TestCase
TestQueueing.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
