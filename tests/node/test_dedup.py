"""A submission with a key makes one run, however often it is sent and whoever owns the shard."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from noonmark.node.commands import dedup
from noonmark.schedule import Manual
from noonmark.store.dedup import forget_dedup_keys
from tests.conftest import SHARDS, eventually
from tests.node.calling import Calling, calling, restart
from tests.node.conftest import Stage


@pytest.fixture
async def call(stage: Stage) -> AsyncIterator[Calling]:
    async with calling(stage.engine) as call:
        yield call


async def test_many_at_once_and_a_new_owner_find_the_same_run(stage: Stage, call: Calling) -> None:
    await stage.job("order", input=["own"], schedule=Manual())
    bodies = [{"dedup_key": f"order-{n % 3}", "input": [n]} for n in range(30)]
    runs = await asyncio.gather(*(call.done("POST", "/v1/jobs/order/trigger", body) for body in bodies))
    made = {body["dedup_key"]: run["id"] for body, run in zip(bodies, runs, strict=True)}
    assert len({run["id"] for run in runs}) == 3
    await eventually(lambda: len(stage.seen.calls) == 3)
    await stage.idle()
    await restart(stage.engine, stage.seen.app)
    for key, run_id in made.items():
        again = await call.done("POST", "/v1/jobs/order/trigger", {"dedup_key": key})
        assert (again["id"], again["state"]) == (run_id, "succeeded")
    assert len(stage.seen.calls) == 3


async def test_a_batch_may_mix_and_repeat_keys(stage: Stage, call: Calling) -> None:
    await stage.job("a", schedule=Manual())
    await stage.job("b", schedule=Manual())
    first = [
        {"job": "a", "dedup_key": "k"},
        {"job": "a", "dedup_key": "k"},
        {"job": "b", "dedup_key": "k"},
        {"job": "a"},
    ]
    runs = (await call.done("POST", "/v1/runs/batch", {"runs": first}))["runs"]
    assert runs[0] == runs[1]
    assert len(set(runs)) == 3
    again = (await call.done("POST", "/v1/runs/batch", {"runs": [*first, {"job": "a", "dedup_key": "new"}]}))["runs"]
    assert again[:3] == runs[:3]
    assert len({*again, *runs}) == 5
    await eventually(lambda: len(stage.seen.calls) == 5)


async def test_a_refused_submission_uses_up_no_key(stage: Stage, call: Calling) -> None:
    job = await stage.job("paused", schedule=Manual())
    kept = await call.done("POST", "/v1/jobs/paused/trigger", {"dedup_key": "before"})
    await call.done("POST", f"/v1/jobs/{job.id}/pause")
    refused = await call("POST", "/v1/jobs/paused/trigger", {"dedup_key": "during"})
    assert (refused.status, refused.json["code"]) == (409, "job_paused")
    assert (await call.done("POST", "/v1/jobs/paused/trigger", {"dedup_key": "before"}))["id"] == kept["id"]
    await call.done("POST", f"/v1/jobs/{job.id}/resume")
    fresh = await call.done("POST", "/v1/jobs/paused/trigger", {"dedup_key": "during"})
    assert fresh["id"] != kept["id"]
    assert (await call("POST", "/v1/jobs/paused/trigger", {"dedup_key": ""})).status == 422
    assert (await call("POST", "/v1/jobs/paused/trigger", {"dedup_key": "a\nb"})).json["field"] == "dedup_key"


async def test_a_key_expires_and_is_forgotten(stage: Stage, call: Calling) -> None:
    await stage.job("a", schedule=Manual())
    old = await call.done("POST", "/v1/jobs/a/trigger", {"dedup_key": "k"})
    pool = stage.engine.pool
    kept_us = await pool.fetchval("SELECT expires_at FROM noonmark.job_dedup")
    assert abs(kept_us - await pool.fetchval("SELECT clock_timestamp()") - dedup.KEPT_US) < 60_000_000
    await pool.execute("UPDATE noonmark.job_dedup SET expires_at = clock_timestamp()")
    new = await call.done("POST", "/v1/jobs/a/trigger", {"dedup_key": "k"})
    assert new["id"] != old["id"]
    assert (await call.done("POST", "/v1/jobs/a/trigger", {"dedup_key": "k"}))["id"] == new["id"]
    await call.done("POST", "/v1/jobs/a/trigger", {"dedup_key": "other"})
    await pool.execute("UPDATE noonmark.job_dedup SET expires_at = clock_timestamp() WHERE key = 'other'")
    now_us = await pool.fetchval("SELECT clock_timestamp()")
    assert not await forget_dedup_keys(pool, list(range(SHARDS)), now_us)
    assert [row[0] for row in await pool.fetch("SELECT key FROM noonmark.job_dedup")] == ["k"]
