"""A worker that is told to stop finishes what it can and hands back the rest."""

import asyncio

from noonmark.clock import MonotonicClock
from noonmark.model.reason import Outcome
from noonmark.wire.worker import ClaimAnswer, RunGrant, Terms
from noonmark.worker import Worker
from noonmark.worker.counters import Counters
from noonmark.worker.execute import Executor
from tests.worker import tasks
from tests.worker.peer import now_us


async def _ended(worker) -> None:
    async with asyncio.timeout(20):
        await asyncio.shield(worker.ended)


async def test_running_attempts_may_finish_within_the_grace(peer, start):
    worker = await start(peer, grace_s=20.0)
    key = await peer.grant("until_released")
    await peer.until(tasks.started.is_set)
    worker.stop()
    claims = len(peer.claims)
    tasks.release.set()
    await _ended(worker)
    item = await peer.end_of(key)
    assert (item.outcome, item.result) == (Outcome.SUCCEEDED, '"done"')
    assert len(peer.claims) == claims
    assert peer.heartbeats[-1].grants == []


async def test_what_is_left_after_the_grace_is_handed_back(peer, start):
    worker = await start(peer, grace_s=0.1, processes=1)
    in_process = await peer.grant("waits_process")
    in_thread = await peer.grant("waits_thread")
    await peer.until(tasks.started.is_set)
    on_loop = await peer.grant("waits_async")
    await peer.until(lambda: worker.counters.started == 3)
    worker.stop()
    await _ended(worker)
    for key in (in_process, in_thread, on_loop):
        item = await peer.end_of(key)
        assert item.outcome == Outcome.RELEASED
        assert item.started_us is not None


async def test_what_has_not_started_is_handed_back_at_once(peer, start, tmp_path, monkeypatch):
    monkeypatch.setenv(tasks.HOLD_BOOT, str(tmp_path))
    worker = await start(peer, concurrency=2, grace_s=20.0)
    busy = [await peer.grant("until_released"), await peer.grant("waits_process")]
    await peer.until(lambda: worker.counters.claimed == 2)
    await peer.until(tasks.started.is_set)
    worker.stop()  # the child process is still booting
    item = await peer.end_of(busy[1])
    assert (item.outcome, item.started_us) == (Outcome.RELEASED, None)
    tasks.release.set()
    assert (await peer.end_of(busy[0])).outcome == Outcome.SUCCEEDED
    await _ended(worker)


async def test_a_second_stop_does_not_wait(peer, start):
    worker = await start(peer, grace_s=3600.0)
    key = await peer.grant("waits_async")
    await peer.until(tasks.started.is_set)
    worker.stop()
    worker.stop()
    await _ended(worker)
    item = await peer.end_of(key)
    assert item.outcome == Outcome.RELEASED
    assert item.started_us is not None, "or the node could give a run that must begin once to somebody else"


async def test_what_is_stopped_before_its_first_step_is_said_not_to_have_begun():
    items = []
    clock = MonotonicClock()
    clock.observe(clock.elapsed_s(), now_us(), clock.elapsed_s())
    executor = Executor(
        tasks=tasks.app.tasks, clock=clock, slots=1, processes=1, spare_threads=1, counters=Counters(),
        report=items.append,
    )  # fmt: skip
    terms = {1: Terms("waits_async", 60.0, 1, "default")}
    executor.offer(ClaimAnswer(1, [RunGrant(1 << 12, 1, 1, 1, 1, None)], terms, now_us()), 1)
    executor.release_running()  # it has its slot, and the loop has not turned yet
    async with asyncio.timeout(10):
        await executor.room.wait()
    assert [(item.outcome, item.started_us) for item in items] == [(Outcome.RELEASED, None)]
    assert not tasks.started.is_set()
    await executor.close()


async def test_a_leaving_worker_denies_what_it_never_had(peer, start):
    worker = await start(peer)
    await peer.until(lambda: peer.heartbeats)
    peer.missing = [4711]
    await peer.until(lambda: 4711 in peer.heartbeats[-1].never)
    peer.missing = [4712]
    worker.stop()
    await _ended(worker)
    assert peer.heartbeats[-1].never == [4712]


async def test_stopping_before_any_node_answered():
    worker = Worker(tasks.app, server="http://127.0.0.1:1")
    worker.stop()
    async with asyncio.timeout(10):
        await worker.run()
    assert not worker.ready.is_set()


async def test_a_function_that_ignores_everything_does_not_hold_up_the_end(peer, start):
    worker = await start(peer, grace_s=0.0)
    key = await peer.grant("swallows_cancel")
    await peer.until(lambda: worker.counters.started == 1)
    worker.stop()
    await _ended(worker)
    assert (await peer.end_of(key)).outcome == Outcome.RELEASED
    assert worker.hung == 1
