"""Nodes come, go, restart, freeze and hand over; the worker follows."""

import asyncio

import pytest

from noonmark.errors import Unauthorized
from noonmark.model.reason import Outcome
from noonmark.worker import Worker
from tests.worker import tasks
from tests.worker.peer import Peer


async def test_registers_with_every_listed_node_under_one_id(peer, other, start):
    peer.listed = other.listed = [peer, other]
    await start(peer, name="w1", token="secret")
    await other.until(lambda: other.claims)
    assert {message.worker for message in other.registrations} == {peer.worker_id}
    assert peer.registrations[0].worker == 0
    assert peer.registrations[0].name == "w1"
    assert "facts_async" in peer.registrations[0].tasks
    assert peer.tokens == {"Bearer secret"}
    for node in (peer, other):
        assert (await node.end_of(await node.grant("nothing"))).outcome == Outcome.SUCCEEDED


async def test_registers_again_when_a_node_does_not_know_it(peer, start):
    await start(peer)
    await peer.until(lambda: peer.heartbeats)
    peer.known.clear()
    registrations = len(peer.registrations)
    await peer.until(lambda: len(peer.registrations) > registrations)
    assert peer.registrations[-1].worker == peer.worker_id
    assert (await peer.end_of(await peer.grant("nothing"))).outcome == Outcome.SUCCEEDED


async def test_a_node_that_restarts_is_found_again_and_gets_its_report(peer, start):
    await start(peer)
    key = await peer.grant("until_released")
    await peer.until(tasks.started.is_set)
    await peer.stop()
    peer.known.clear()
    tasks.release.set()
    await peer.start()
    assert (await peer.end_of(key)).outcome == Outcome.SUCCEEDED
    assert (await peer.end_of(await peer.grant("nothing"))).outcome == Outcome.SUCCEEDED


async def test_waits_for_a_node_that_starts_after_the_worker(start):
    node = await Peer().start()
    await node.stop()
    starting = asyncio.create_task(start(node))
    await asyncio.sleep(0)
    await node.start()
    await starting
    assert (await node.end_of(await node.grant("nothing"))).outcome == Outcome.SUCCEEDED
    await node.stop()


async def test_a_frozen_node_holds_up_no_other(peer, other, start):
    peer.listed = other.listed = [peer, other]
    await start(peer)
    await other.until(lambda: other.claims)
    peer.frozen.clear()
    beats = len(other.heartbeats)
    for _ in range(5):
        assert (await other.end_of(await other.grant("nothing"))).outcome == Outcome.SUCCEEDED
    await other.until(lambda: len(other.heartbeats) > beats + 3)
    peer.frozen.set()
    assert (await peer.end_of(await peer.grant("nothing"))).outcome == Outcome.SUCCEEDED


@pytest.mark.parametrize("whole", [True, False])
async def test_a_report_follows_the_shard_to_its_new_owner(peer, other, start, whole):
    peer.listed = other.listed = [peer, other]
    worker = await start(peer)
    await other.until(lambda: other.claims)
    key = await peer.grant("until_released")
    await peer.until(tasks.started.is_set)
    if whole:
        peer.elsewhere = True
    else:
        peer.elsewhere_jobs.add(key[0])
    tasks.release.set()
    assert (await other.end_of(key)).outcome == Outcome.SUCCEEDED
    assert not peer.reports
    await other.until(lambda: not other.heartbeats[-1].grants)
    assert worker.counters.rerouted >= 1


async def test_a_report_goes_to_the_survivor_when_its_node_died(peer, other, start):
    peer.listed = other.listed = [peer, other]
    await start(peer)
    await other.until(lambda: other.claims)
    key = await peer.grant("until_released")
    await peer.until(tasks.started.is_set)
    await peer.stop()
    other.listed = [other]
    tasks.release.set()
    assert (await other.end_of(key)).outcome == Outcome.SUCCEEDED


async def test_a_grant_is_named_until_its_report_was_taken(peer, start):
    await start(peer)
    await peer.until(lambda: peer.heartbeats)
    peer.elsewhere = True
    key = await peer.grant("nothing")
    await peer.until(lambda: peer.heartbeats[-1].grants)
    peer.elsewhere = False
    await peer.end_of(key)
    await peer.until(lambda: not peer.heartbeats[-1].grants)


async def test_a_refused_report_is_forgotten(peer, start):
    worker = await start(peer)
    peer.refuses = True
    await peer.end_of(await peer.grant("nothing"))
    await peer.until(lambda: peer.heartbeats and not peer.heartbeats[-1].grants)
    assert (worker.counters.refused, worker.counters.reported) == (1, 0)


async def test_a_dead_node_that_left_the_list_is_forgotten(peer, other, start):
    peer.listed = other.listed = [peer, other]
    await start(peer)
    await other.until(lambda: other.claims)
    peer.listed = [peer]
    await other.stop()
    count = len(peer.heartbeats)
    await peer.until(lambda: len(peer.heartbeats) > count + 3)
    assert (await peer.end_of(await peer.grant("nothing"))).outcome == Outcome.SUCCEEDED
    registrations = len(other.registrations)
    other.known.clear()
    await other.start()
    await peer.until(lambda: len(peer.heartbeats) > count + 20)
    assert len(other.registrations) == registrations


async def test_a_refused_token_ends_the_worker_at_once(peer, monkeypatch):
    async def refuse(body: bytes) -> int:
        return 401

    monkeypatch.setattr(peer, "_register", refuse)
    with pytest.raises(Unauthorized):
        await Worker(tasks.app, server=peer.address, token="wrong").run()


async def test_many_runs_in_batches(peer, start):
    worker = await start(peer, concurrency=10)
    for _ in range(2000):
        await peer.grant("nothing")
    await peer.until(lambda: len(peer.ends(Outcome.SUCCEEDED)) == 2000, 60)
    assert len({(item.job_id, item.nominal_us) for item in peer.reports}) == 2000
    assert worker.counters.reports < 1000
