"""A skipped occurrence never fires: not after a restart, a change, a pause, nor if its run exists already."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest

from noonmark.clock import from_datetime
from noonmark.schedule import At, Every, Manual
from tests.conftest import eventually
from tests.node.calling import Calling, calling, restart
from tests.node.conftest import Stage


@pytest.fixture
async def call(stage: Stage) -> AsyncIterator[Calling]:
    async with calling(stage.engine) as call:
        yield call


def instant(text: str) -> int:
    return from_datetime(datetime.fromisoformat(text))


async def fires(call: Calling, ref: str, count: int = 10) -> list[Any]:
    return list((await call.done("GET", f"/v1/jobs/{ref}/fires?count={count}"))["fires"])


async def test_it_holds_through_a_restart_a_change_and_a_pause(stage: Stage, call: Calling) -> None:
    job = await stage.job("ticking", schedule=Every("1s"))
    coming = await fires(call, job.id)
    skipped = coming[6]["nominal_at"]
    answer = await call.done("POST", f"/v1/jobs/{job.id}/skip", {"nominal_at": skipped})
    assert (answer["nominal_at"], answer["skipped"]) == (skipped, True)
    await call.done("PATCH", f"/v1/jobs/{job.id}", {"priority": 3})
    await call.done("POST", f"/v1/jobs/{job.id}/pause")
    await call.done("POST", f"/v1/jobs/{job.id}/resume")
    await restart(stage.engine, stage.seen.app)
    last_us = instant(coming[8]["nominal_at"])
    await stage.until(lambda: last_us in stage.seen.nominals_us, 20)
    assert instant(skipped) not in stage.seen.nominals_us
    assert instant(coming[7]["nominal_at"]) in stage.seen.nominals_us
    run = await call.done("GET", f"/v1/runs/{answer['run']}")
    assert (run["state"], run["reason"]) == ("withdrawn", "skipped")


async def test_a_node_that_takes_over_late_does_not_make_up_for_it(stage: Stage, call: Calling) -> None:
    job = await stage.job("ticking", schedule=Every("1s"), misfire={"policy": "all"})  # type: ignore[arg-type]
    coming = await fires(call, job.id)
    skipped_us = instant(coming[5]["nominal_at"])
    await call.done("POST", f"/v1/jobs/{job.id}/skip", {"nominal_at": coming[5]["nominal_at"]})
    await stage.engine.stop_node()
    await stage.pass_time((skipped_us + 2_000_000 - from_datetime(await stage.now())) / 1_000_000)
    await stage.engine.start_node()
    await stage.engine.start_worker(stage.seen.app)
    await stage.until(lambda: skipped_us + 1_000_000 in stage.seen.nominals_us, 20)
    assert skipped_us - 1_000_000 in stage.seen.nominals_us
    assert skipped_us not in stage.seen.nominals_us


async def test_a_run_that_waits_is_withdrawn(stage: Stage, call: Calling) -> None:
    at = (await stage.now()) + timedelta(seconds=2.5)
    job = await stage.job("once", schedule=At(at))
    answer = await call.done("POST", f"/v1/jobs/{job.id}/skip")
    assert instant(answer["nominal_at"]) == from_datetime(at)
    assert await stage.engine.pool.fetchval("SELECT count(*) FROM noonmark.run") == 0
    assert await call.done("POST", f"/v1/jobs/{job.id}/skip") == answer
    await call.done("PATCH", f"/v1/jobs/{job.id}", {"priority": 3})
    await stage.pass_time(3.5)
    await stage.idle()
    assert stage.seen.calls == []


async def test_to_ask_twice_skips_one_and_it_can_be_taken_back(stage: Stage, call: Calling) -> None:
    job = await stage.job("hourly", schedule=Every("1h"))
    first = await call.done("POST", f"/v1/jobs/{job.id}/skip")
    assert await call.done("POST", f"/v1/jobs/{job.id}/skip") == first
    coming = await fires(call, "hourly", 3)
    assert [fire["skipped"] for fire in coming] == [True, False, False]
    assert (await call.done("GET", "/v1/jobs/hourly"))["next_at"] == coming[1]["nominal_at"]
    named = coming[2]["nominal_at"]
    await call.done("POST", f"/v1/jobs/{job.id}/skip", {"nominal_at": named})
    back = await call.done("DELETE", f"/v1/jobs/{job.id}/skip?nominal_at={quote(named)}")
    assert (back["nominal_at"], back["skipped"]) == (named, False)
    assert (await call("DELETE", f"/v1/jobs/{job.id}/skip?nominal_at={quote(named)}")).status == 404
    assert (await call.done("DELETE", f"/v1/jobs/{job.id}/skip"))["nominal_at"] == first["nominal_at"]
    assert [fire["skipped"] for fire in await fires(call, "hourly", 3)] == [False] * 3
    assert await stage.engine.pool.fetchval("SELECT count(*) FROM noonmark.attempt") == 0
    assert await stage.engine.pool.fetchval("SELECT count(*) FROM noonmark.job WHERE skips") == 0


async def test_what_was_taken_back_within_the_lookahead_fires(stage: Stage, call: Calling) -> None:
    job = await stage.job("ticking", schedule=Every("1s"))
    named = (await fires(call, job.id))[2]["nominal_at"]
    await call.done("POST", f"/v1/jobs/{job.id}/skip", {"nominal_at": named})
    await call.done("DELETE", f"/v1/jobs/{job.id}/skip?nominal_at={quote(named)}")
    await stage.until(lambda: instant(named) in stage.seen.nominals_us)


async def test_a_fixed_delay_goes_on_after_the_skipped_run(stage: Stage, call: Calling) -> None:
    job = await stage.job("delayed", schedule=Every("2s", pace="delay"))
    first = await call.done("POST", f"/v1/jobs/{job.id}/skip")
    assert await call.done("POST", f"/v1/jobs/{job.id}/skip") == first
    await stage.until(lambda: stage.seen.calls, 8)
    assert stage.seen.nominals_us[0] == instant(first["nominal_at"]) + 2_000_000


async def test_what_cannot_be_skipped_is_refused(stage: Stage, call: Calling) -> None:
    manual = await stage.job("manual", "hold", schedule=Manual())
    assert (await call("POST", f"/v1/jobs/{manual.id}/skip")).status == 409
    nominal = (await call.done("POST", "/v1/jobs/manual/trigger"))["nominal_at"]
    await eventually(lambda: stage.seen.calls)
    started = await call("POST", f"/v1/jobs/{manual.id}/skip", {"nominal_at": nominal})
    assert (started.status, started.json["field"]) == (409, "nominal_at")
    assert "cancel" in started.json["fix"]
    hourly = await stage.job("hourly", schedule=Every("1h"))
    first = datetime.fromisoformat((await fires(call, hourly.id))[0]["nominal_at"])
    between = (first + timedelta(minutes=1)).isoformat()
    wrong = await call("POST", f"/v1/jobs/{hourly.id}/skip", {"nominal_at": between})
    assert (wrong.status, wrong.json["field"]) == (422, "nominal_at")
    assert not any(fire["skipped"] for fire in await fires(call, hourly.id))
