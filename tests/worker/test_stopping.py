"""Timeouts, cancellation and lost grants, in each mode."""

import asyncio

import pytest

from noonmark.model.reason import Outcome
from tests.worker import tasks


@pytest.mark.parametrize("task", ["waits_async", "waits_thread", "waits_process"])
async def test_a_timeout_ends_the_attempt_and_nothing_else(peer, start, task):
    worker = await start(peer, concurrency=1)
    item = await peer.end_of(await peer.grant(task, timeout_s=0.2))
    assert item.outcome == Outcome.TIMED_OUT
    assert item.finished_us - item.started_us >= 200_000
    assert "longer than its timeout of 0.2 s" in item.error
    survivor = "facts_process" if task == "waits_process" else "facts_thread"
    assert (await peer.end_of(await peer.grant(survivor))).outcome == Outcome.SUCCEEDED
    assert worker.counters.timed_out == 1


async def test_a_function_that_swallows_its_cancellation_is_reported_all_the_same(peer, start):
    worker = await start(peer, concurrency=2)
    item = await peer.end_of(await peer.grant("swallows_cancel", timeout_s=0.1))
    assert item.outcome == Outcome.TIMED_OUT
    assert tasks.seen == ["swallowed"]
    assert worker.counters.abandoned == 1
    assert (await peer.end_of(await peer.grant("facts_async"))).outcome == Outcome.SUCCEEDED


async def test_hung_threads_keep_their_slots_once_the_spare_ones_are_used_up(peer, start):
    await start(peer, concurrency=2, spare_threads=1)
    for _ in range(3):
        assert (await peer.end_of(await peer.grant("waits_thread", timeout_s=0.1))).outcome == Outcome.TIMED_OUT
    late = await peer.grant("facts_thread")
    tasks.release.set()
    assert (await peer.end_of(late)).outcome == Outcome.SUCCEEDED


@pytest.mark.parametrize("task", ["waits_async", "heeds_cancel", "waits_process"])
async def test_cancelling_stops_a_running_attempt(peer, start, task):
    await start(peer)
    key = await peer.grant(task)
    await peer.until(lambda: any(beat.grants for beat in peer.heartbeats))
    if task != "waits_process":
        assert await asyncio.to_thread(tasks.started.wait, 10)
    peer.cancel.append(key)
    assert (await peer.end_of(key)).outcome == Outcome.CANCELLED


async def test_a_lost_grant_is_abandoned_in_silence(peer, start):
    worker = await start(peer)
    lost = await peer.grant("waits_async")
    await peer.until(lambda: any(beat.grants for beat in peer.heartbeats))
    peer.lost = list(peer.heartbeats[-1].grants)
    await peer.until(lambda: not peer.heartbeats[-1].grants)
    peer.lost = []
    await peer.end_of(await peer.grant("nothing"))
    assert all((item.job_id, item.nominal_us) != lost for item in peer.reports)
    assert worker.counters.lost == 1


async def test_what_finds_no_slot_is_handed_back(peer, start, other):
    peer.listed = other.listed = [peer, other]
    await start(peer, concurrency=1)
    await other.until(lambda: other.claims)
    await peer.until(lambda: peer.claims)
    held = await peer.grant("waits_async")
    await peer.until(tasks.started.is_set)
    surplus = await other.grant("nothing")  # the claim was waiting there already
    item = await other.end_of(surplus)
    assert (item.outcome, item.started_us) == (Outcome.RELEASED, None)
    assert not [item for item in peer.reports if (item.job_id, item.nominal_us) == held]
