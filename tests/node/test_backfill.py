"""Occurrences of the past that have no run get one, each once."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from noonmark.clock import from_datetime
from noonmark.schedule import Cron, Manual
from tests.conftest import eventually
from tests.node.calling import Calling, calling, restart
from tests.node.conftest import Stage

HOUR_US = 3_600_000_000


@pytest.fixture
async def call(stage: Stage) -> AsyncIterator[Calling]:
    async with calling(stage.engine) as call:
        yield call


async def day(stage: Stage, hours: int = 10, **more: Any) -> dict[str, Any]:
    """A range that holds so many full hours."""
    to = (await stage.now()).replace(minute=0, second=0, microsecond=0)
    return {"from": (to - timedelta(hours=hours - 1)).isoformat(), "to": to.isoformat(), **more}


async def test_each_missing_occurrence_runs_once(stage: Stage, call: Calling) -> None:
    job = await stage.job("hourly", schedule=Cron("0 * * * *"))
    wanted = await day(stage)
    plan = await call.done("POST", f"/v1/jobs/{job.id}/backfill", {**wanted, "dry_run": True})
    assert (plan["count"], plan["known"]) == (10, 0)
    assert await stage.engine.pool.fetchval("SELECT count(*) FROM noonmark.run") == 0
    done = await call.done("POST", f"/v1/jobs/{job.id}/backfill", wanted)
    assert done == plan
    await eventually(lambda: len(stage.seen.calls) == 10)
    assert sorted(stage.seen.nominals_us) == [from_datetime(await _first(stage)) + n * HOUR_US for n in range(10)]
    await stage.idle()
    # History remembers them, also for the next owner.
    await restart(stage.engine, stage.seen.app)
    again = await call.done("POST", f"/v1/jobs/{job.id}/backfill", await day(stage, 12))
    assert (again["count"], again["known"]) == (2, 10)
    await eventually(lambda: len(stage.seen.calls) == 12)
    run = (await call.done("GET", f"/v1/jobs/{job.id}/runs"))["runs"][0]
    assert run["reason"] == "succeeded"


async def _first(stage: Stage) -> Any:
    return (await stage.now()).replace(minute=0, second=0, microsecond=0) - timedelta(hours=9)


async def test_a_long_range_goes_on_where_it_ended(stage: Stage, call: Calling) -> None:
    job = await stage.job("hourly", schedule=Cron("0 * * * *"), input=[1])
    wanted = await day(stage, 7, limit=3)
    made = []
    while wanted["from"] is not None:
        done = await call.done("POST", f"/v1/jobs/{job.id}/backfill", wanted)
        made.append(done["count"])
        wanted["from"] = done["next_from"]
    assert made == [3, 3, 1]
    await eventually(lambda: len(set(stage.seen.nominals_us)) == 7)


async def test_thousands_at_once(stage: Stage, call: Calling) -> None:
    job = await stage.job("minutely", schedule=Cron("* * * * *"))
    now = await stage.now()
    wanted = {"from": (now - timedelta(days=3)).isoformat(), "to": now.isoformat(), "limit": 3_000}
    done = await call.done("POST", f"/v1/jobs/{job.id}/backfill", wanted)
    assert done["count"] == 3_000
    await stage.idle()
    assert len(stage.seen.calls) >= 3_000
    assert len(stage.seen.nominals_us) == len(set(stage.seen.nominals_us))


async def test_what_cannot_be_made_up_for_is_refused(stage: Stage, call: Calling) -> None:
    job = await stage.job("hourly", schedule=Cron("0 * * * *"))
    future = await day(stage)
    future["to"] = ((await stage.now()) + timedelta(hours=2)).isoformat()
    wrong = await call("POST", f"/v1/jobs/{job.id}/backfill", future)
    assert (wrong.status, wrong.json["field"]) == (422, "to")
    turned = await day(stage)
    turned["from"], turned["to"] = turned["to"], turned["from"]
    assert (await call("POST", f"/v1/jobs/{job.id}/backfill", turned)).json["field"] == "from"
    manual = await stage.job("manual", schedule=Manual())
    assert (await call("POST", f"/v1/jobs/{manual.id}/backfill", await day(stage))).json["field"] == "job"
    await call.done("POST", f"/v1/jobs/{job.id}/pause")
    paused = await call("POST", f"/v1/jobs/{job.id}/backfill", await day(stage))
    assert (paused.status, paused.json["code"]) == (409, "job_paused")
    assert await stage.engine.pool.fetchval("SELECT count(*) FROM noonmark.run") == 0
