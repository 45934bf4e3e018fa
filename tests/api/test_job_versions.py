"""The definitions that a job has had, their differences, the way back, and its next fires."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest

from tests.conftest import Engine, engine
from tests.node.calling import Calling, calling

__all__ = ["engine"]


@pytest.fixture
async def call(engine: Engine) -> AsyncIterator[Calling]:
    await engine.start_node()
    async with calling(engine) as call:
        await call.done("PUT", "/v1/tasks", {"tasks": ["greet"]})
        yield call


async def make(call: Calling, name: str, schedule: Any, **spec: Any) -> Any:
    return await call.done("POST", "/v1/jobs", {"name": name, "task": "greet", "schedule": schedule, **spec})


async def test_versions_and_what_is_different(call: Calling) -> None:
    await make(call, "a", "0 9 * * *", labels={"team": "web"}, input={"x": 1})
    await call.done(
        "PATCH", "/v1/jobs/a", {"schedule": "0 10 * * *", "labels": {"site": "de"}, "input": {"x": 2, "y": 3}}
    )
    await call.done("PATCH", "/v1/jobs/a", {"retry": {"max_attempts": 2}})
    one = await call.done("GET", "/v1/jobs/a/versions/1")
    assert (one["version"], one["spec"]["input"]) == (1, {"x": 1})
    found = (await call.done("GET", "/v1/jobs/a/versions/1/diff/2"))["differences"]
    told = {one["path"]: (one["before"], one["after"]) for one in found}
    assert told == {
        "schedule.cron": ("0 9 * * *", "0 10 * * *"),
        "labels.team": ("web", None),
        "labels.site": (None, "de"),
        "input": ({"x": 1}, {"x": 2, "y": 3}),
    }
    back = (await call.done("GET", "/v1/jobs/a/versions/3/diff/2"))["differences"]
    assert [one["path"] for one in back] == ["retry.max_attempts"]
    assert (await call.done("GET", "/v1/jobs/a/versions/2/diff/2"))["differences"] == []
    for path in ("versions/9", "versions/1/diff/9"):
        answer = await call("GET", f"/v1/jobs/a/{path}")
        assert (answer.status, answer.json["field"]) == (404, "version")


async def test_the_way_back_is_a_new_version(call: Calling) -> None:
    await make(call, "a", "0 9 * * *", labels={"team": "web"})
    await call.done("PATCH", "/v1/jobs/a", {"schedule": "0 10 * * *", "labels": {}})
    assert (await call("POST", "/v1/jobs/a/rollback", {"version": 1}, If_Match='"1"')).status == 412
    assert (await call("POST", "/v1/jobs/a/rollback", {"version": 7})).status == 404
    job = await call.done("POST", "/v1/jobs/a/rollback", {"version": 1}, If_Match='"2"')
    assert (job["version"], job["schedule"]["cron"], job["labels"]) == (3, "0 9 * * *", {"team": "web"})
    assert (await call.done("GET", "/v1/jobs?label=team:web&count=true"))["count"] == 1


async def test_next_fires_have_the_jobs_own_jitter_and_bounds(call: Calling) -> None:
    schedule = {"kind": "cron", "cron": "30 1 * * *", "tz": "America/New_York", "max_runs": 3}
    await make(call, "a", schedule, jitter_s=600)
    found = await call.done("GET", "/v1/jobs/a/fires?count=2")
    assert (found["state"], found["more"], len(found["fires"])) == ("active", True, 2)
    first, second = found["fires"]
    jitter = datetime.fromisoformat(first["due_at"]) - datetime.fromisoformat(first["nominal_at"])
    assert timedelta(0) < jitter < timedelta(seconds=600)
    assert datetime.fromisoformat(second["due_at"]) - datetime.fromisoformat(second["nominal_at"]) == jitter
    assert "T01:30:00-0" in first["local"]
    rest = await call.done("GET", f"/v1/jobs/a/fires?from={quote(second['nominal_at'])}")
    assert (rest["more"], len(rest["fires"])) == (False, 1)
    last = quote(rest["fires"][0]["nominal_at"])
    none = await call.done("GET", f"/v1/jobs/a/fires?from={last}")
    assert (none["fires"], [one["code"] for one in none["notices"]]) == ([], ["ended"])


async def test_a_paused_job_says_so_and_a_fixed_delay_knows_one(call: Calling) -> None:
    await make(call, "a", "0 9 * * *")
    await call.done("POST", "/v1/jobs/a/pause")
    paused = await call.done("GET", "/v1/jobs/a/fires")
    assert (paused["state"], paused["fires"], paused["notices"][0]["code"]) == ("paused", [], "paused")
    await make(call, "delayed", {"kind": "every", "every": "1h", "pace": "delay"})
    delayed = await call.done("GET", "/v1/jobs/delayed/fires")
    assert (len(delayed["fires"]), delayed["notices"][0]["code"]) == (1, "fixed_delay")
    at = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    await make(call, "once", {"kind": "at", "at": at})
    once = await call.done("GET", "/v1/jobs/once/fires")
    assert [datetime.fromisoformat(one["nominal_at"]) for one in once["fires"]] == [datetime.fromisoformat(at)]
    await make(call, "manual", {"kind": "manual"})
    assert (await call.done("GET", "/v1/jobs/manual/fires"))["fires"] == []
    for query, field in {"count=0": "count", "count=101": "count", "from=2026-01-01T00:00:00": "from"}.items():
        answer = await call("GET", f"/v1/jobs/a/fires?{query}")
        assert (answer.status, answer.json["field"]) == (422, field)


async def test_notes_tell_of_clock_changes(call: Calling) -> None:
    schedule = {"kind": "cron", "cron": "30 2 * * *", "tz": "Europe/Berlin"}
    await make(call, "a", schedule)
    found = await call.done("GET", "/v1/jobs/a/fires?count=3&from=2027-03-27T00:00:00Z")
    assert [fire["note"] for fire in found["fires"]] == [None, "the clock goes forward: moved from 02:30", None]
