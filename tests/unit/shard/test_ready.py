"""The order in which ready runs go to workers."""

from collections import Counter

import pytest

from noonmark.model.reason import Reason
from noonmark.model.run import RunRow
from noonmark.shard.live_run import LiveRun
from noonmark.shard.ready import AGEING_US, QUANTUM, ReadyQueue

A, B = ("default", "a"), ("default", "b")
NOW_US = 10**15


def live(tenant_id=1, priority=5, due_us=NOW_US, number=0, kind=A):
    return LiveRun(RunRow(number, due_us, due_us, tenant_id, 1, 1, priority, 0, 0, Reason.SCHEDULED, None), kind)


def filled(weights, runs_each=1000):
    queue = ReadyQueue(weights)
    for number in range(runs_each):
        for tenant_id in weights:
            queue.push(live(tenant_id, number=number))
    return queue


@pytest.mark.parametrize("take", [1, 7, QUANTUM, 100])
@pytest.mark.parametrize("weights", [{1: 1, 2: 1}, {1: 1, 2: 3}, {1: 2, 2: 1, 3: 5}])
def test_tenants_take_turns_by_weight(weights, take):
    """Whatever has been taken so far, nobody is ahead of his share by more than a turn."""
    queue = filled(weights)
    got = Counter()
    while sum(got.values()) < 600:
        got.update(run.tenant_id for run in queue.take({A}, take, NOW_US))
        for one, weight in weights.items():
            for other, other_weight in weights.items():
                assert got[one] / weight <= got[other] / other_weight + QUANTUM


def test_a_tenant_alone_gets_everything():
    assert len(filled({1: 1}, 100).take({A}, 1000, NOW_US)) == 100


def test_a_tenant_without_served_runs_does_not_hold_up_the_others():
    queue = filled({1: 1}, 5)
    for number in range(5):
        queue.push(live(2, number=number, kind=B))
    assert Counter(run.tenant_id for run in queue.take({B}, 10, NOW_US)) == {2: 5}
    assert queue.size == 5


def test_priority_goes_first():
    queue = ReadyQueue({})
    for priority in (2, 8, 5):
        queue.push(live(priority=priority))
    assert [run.priority for run in queue.take({A}, 1, NOW_US) + queue.take({A}, 2, NOW_US)] == [8, 5, 2]


def test_waiting_raises_priority():
    queue = ReadyQueue({})
    queue.push(live(priority=2, due_us=NOW_US - 6 * AGEING_US - 1))
    queue.push(live(priority=8))
    assert [run.priority for run in queue.take({A}, 1, NOW_US)] == [2]


def test_a_low_priority_is_served_under_a_stream_of_high_ones():
    queue = ReadyQueue({})
    queue.push(live(priority=0))
    step_us = AGEING_US // 10
    for turn in range(200):
        now_us = NOW_US + turn * step_us
        for number in range(3):
            queue.push(live(priority=9, due_us=now_us, number=number))
        if any(run.priority == 0 for run in queue.take({A}, 2, now_us)):
            break
    else:
        pytest.fail("starved")
    # One of three high ones is left each time, so their own head ages at a third of the pace: 9 + t / 3 = t.
    assert now_us - NOW_US <= 13.5 * AGEING_US + step_us


def test_a_lane_is_ordered_by_due_time_however_it_was_filled():
    queue = ReadyQueue({})
    dues = [5, 3, 9, 1, 7, 3, 2, 8]
    for number, due in enumerate(dues):
        queue.push(live(due_us=NOW_US + due, number=number))
    assert [run.due_us - NOW_US for run in queue.take({A}, 100, NOW_US)] == sorted(dues)


def test_what_was_discarded_is_not_offered():
    queue = ReadyQueue({})
    runs = [live(due_us=NOW_US - due, number=due) for due in range(10)]
    for run in runs:
        queue.push(run)
    for run in runs[::2]:
        queue.discard(run)
    assert queue.size == 5
    assert {run.job_id for run in queue.take({A}, 100, NOW_US)} == {1, 3, 5, 7, 9}
    assert queue.size == 0


def test_a_run_may_come_back_with_the_same_times():
    """It was taken out of memory and read back: its old entry must neither be offered nor disturb the order."""
    queue = ReadyQueue({})
    queue.push(live(due_us=NOW_US + 9, number=1))
    first, again = live(number=2), live(number=2)
    queue.push(first)
    queue.discard(first)
    queue.push(again)
    assert queue.take({A}, 1, NOW_US) == [again]
