"""A worker's silence is counted across the lives of nodes."""

import asyncio

from noonmark.shard.limits import Limits
from noonmark.wire.resources import JobSpec
from tests.conftest import Engine, eventually
from tests.node.tasks import Seen

LIMITS = Limits(silence_us=3_000_000, appear_us=300_000, kept_late_us=300_000)
LIFE_S = 2.0
"""Shorter than the silence after which a worker is given up."""


async def test_a_dead_worker_is_given_up_however_often_its_runs_change_owners(engine: Engine) -> None:
    await engine.start_node(limits=LIMITS, heartbeat_s=0.2)
    seen = Seen()
    await engine.start_worker(seen.app)
    client = engine.client()
    await client.create_job(JobSpec(name="held", task="hold"))
    await client.trigger_job("held")
    await eventually(lambda: seen.calls)
    [(_, task)] = engine._workers
    task.cancel()  # without a farewell: it falls silent
    await asyncio.gather(task, return_exceptions=True)
    engine._workers.clear()

    async def given_up() -> bool:
        return bool(await engine.pool.fetchval("SELECT count(*) FROM noonmark.attempt WHERE outcome = 4"))

    async def within_a_life() -> bool:
        try:
            return await eventually(given_up, LIFE_S)
        except AssertionError:
            return False

    for _ in range(6):
        if await within_a_life():
            break
        await engine.stop_node()
        await engine.start_node(limits=LIMITS, heartbeat_s=0.2)
    assert await given_up()
    await seen.app.close()


async def test_when_a_worker_was_heard_is_kept_every_few_seconds(engine: Engine) -> None:
    await engine.start_node(heartbeat_s=0.2)
    seen = Seen()
    await engine.start_worker(seen.app)
    kept = "SELECT seen_at FROM noonmark.worker"
    first_us = await engine.pool.fetchval(kept)

    async def later() -> bool:
        return bool(await engine.pool.fetchval(kept) > first_us + 2_000_000)

    await eventually(later, 6.0)
    await seen.app.close()
