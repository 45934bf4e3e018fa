"""Jobs as they are declared: created, changed or left alone, also when several declare them at once."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from tests.conftest import Engine
from tests.node.calling import Calling, calling
from tests.node.tasks import Seen


@pytest.fixture
async def call(engine: Engine) -> AsyncIterator[Calling]:
    """Two nodes: whatever is asked of one, the other owns half of it."""
    await engine.start_node()
    await engine.start_node()
    async with calling(engine) as call:
        await call.done("PUT", "/v1/tasks", {"tasks": sorted(Seen().app.tasks)})
        yield call


async def test_a_definition_is_made_once_and_then_changed(call: Calling) -> None:
    spec = {"task": "record", "input": {"a": 1}, "priority": 7, "labels": {"team": "data"}}
    made = await call("PUT", "/v1/jobs/a", spec)
    assert (made.status, made.json["outcome"], made.json["version"]) == (201, "created", 1)
    again = await call("PUT", "/v1/jobs/a", {**spec, "name": "a", "input": {"a": 1.0}})
    assert (again.status, again.json["outcome"], again.json["version"]) == (200, "unchanged", 1)
    changed = await call("PUT", "/v1/jobs/a", {"task": "record"})
    assert (changed.status, changed.json["outcome"], changed.json["version"]) == (200, "changed", 2)
    # What is left out is as in a new job.
    assert (changed.json["priority"], changed.json["input"], changed.json["labels"]) == (5, None, {})
    assert changed.json["id"] == made.json["id"]


async def test_conditions_are_honoured(call: Calling) -> None:
    spec = {"task": "record"}
    nothing = await call("PUT", "/v1/jobs/a", spec, If_Match='"1"')
    assert (nothing.status, nothing.json["code"]) == (412, "version_conflict")
    made = await call("PUT", "/v1/jobs/a", spec, If_None_Match="*")
    assert made.status == 201
    there = await call("PUT", "/v1/jobs/a", {**spec, "priority": 1}, If_None_Match="*")
    assert (there.status, there.json["field"]) == (409, "If-None-Match")
    stale = await call("PUT", "/v1/jobs/a", {**spec, "priority": 1}, If_Match='"2"')
    assert stale.status == 412
    fresh = await call("PUT", "/v1/jobs/a", {**spec, "priority": 1}, If_Match=made.headers["ETag"])
    assert (fresh.status, fresh.json["version"]) == (200, 2)
    other = await call("PUT", "/v1/jobs/a", {**spec, "name": "b"})
    assert (other.status, other.json["field"]) == (422, "name")
    assert (await call("PUT", "/v1/jobs/bulk", spec)).status in (405, 422)


async def test_many_who_declare_the_same_make_one_job(call: Calling) -> None:
    answers = await asyncio.gather(*(call("PUT", "/v1/jobs/a", {"task": "record"}) for _ in range(8)))
    assert sorted(answer.json["outcome"] for answer in answers) == ["created"] + ["unchanged"] * 7
    answers = await asyncio.gather(*(call("PUT", "/v1/jobs/a", {"task": "record", "priority": n}) for n in range(4)))
    assert {answer.status for answer in answers} == {200}
    job = await call.done("GET", "/v1/jobs/a")
    assert job["version"] == 5
    assert job["priority"] in range(4)


async def test_a_time_that_has_passed_may_be_declared_again(engine: Engine, call: Calling) -> None:
    soon = (datetime.now(UTC) + timedelta(seconds=1.5)).isoformat()
    spec = {"task": "record", "schedule": {"kind": "at", "at": soon}}
    assert (await call("PUT", "/v1/jobs/once", spec)).status == 201
    await engine.pass_time(3)  # so long that a new job could not have it
    assert (await call("PUT", "/v1/jobs/once", spec)).json["outcome"] == "unchanged"
    assert (await call("PUT", "/v1/jobs/other", spec)).status == 422


async def test_a_batch_says_what_it_did_for_each(call: Calling) -> None:
    jobs = [{"name": f"job-{n}", "task": "record"} for n in range(30)]
    plan = await call.done("PUT", "/v1/jobs/batch", {"jobs": jobs, "dry_run": True})
    assert {one["outcome"] for one in plan["jobs"]} == {"created"}
    assert (await call.done("GET", "/v1/jobs?count=true"))["count"] == 0
    await call.done("PUT", "/v1/jobs/batch", {"jobs": jobs[:20]})
    jobs[3]["queue"] = "slow"
    done = await call.done("PUT", "/v1/jobs/batch", {"jobs": jobs})
    assert [one["name"] for one in done["jobs"]] == [job["name"] for job in jobs]
    outcomes = [one["outcome"] for one in done["jobs"]]
    assert outcomes == ["changed" if n == 3 else "unchanged" if n < 20 else "created" for n in range(30)]
    assert all(one["id"] for one in done["jobs"])
    bad = await call("PUT", "/v1/jobs/batch", {"jobs": [{"name": "new", "task": "record"}, {"name": "x", "task": "?"}]})
    assert (bad.status, bad.json["field"]) == (422, "jobs[1].task")
    assert (await call("GET", "/v1/jobs/new")).status == 404
