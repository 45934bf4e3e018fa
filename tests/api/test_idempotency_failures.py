"""A key is worth most when something broke: what was done stays done once, and what was not can be asked for again."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from noonmark.api.routes import tenants
from noonmark.node import committer
from noonmark.node.commands import create_jobs
from noonmark.node.commands.carry_out import _HANDLERS
from noonmark.store.connect import Connection, Pool
from noonmark.store.fence import CommitUnknown
from noonmark.wire.commands import CreateJobs
from tests.api.conftest import Caller, RunningNode, names_at

JOB = {"name": "a", "task": "greet"}
KEY = {"Idempotency-Key": "k"}
REPLAYED = "Idempotent-Replayed"
COUNT_JOBS = "SELECT count(*) FROM noonmark.job"
COUNT_RUNS = "SELECT count(*) FROM noonmark.run"


class Once:
    """True the first time."""

    def __init__(self) -> None:
        self.happened = False

    def __bool__(self) -> bool:
        first, self.happened = not self.happened, True
        return first


async def test_a_run_whose_commit_was_not_confirmed_is_made_once(
    call: Caller, node: RunningNode, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The life of the node ends with it; the next one finds the key."""
    await call("POST", "/v1/jobs", JOB)
    commit, breaks = committer.commit_batch, Once()

    async def broken(connection: Connection, node_id: int, batch: Any) -> Any:
        committed = await commit(connection, node_id, batch)
        if batch.created and breaks:
            raise CommitUnknown("the connection broke")
        return committed

    monkeypatch.setattr(committer, "commit_batch", broken)
    life = node.node.life
    made = await call("POST", "/v1/jobs/a/trigger", headers=KEY)
    assert (made.status, made.headers[REPLAYED]) == (202, "true")
    assert node.node.life is not life
    again = await call("POST", "/v1/jobs/a/trigger", headers=KEY)
    assert (again.status, again.body) == (202, made.body)
    assert await pool.fetchval(COUNT_RUNS) == 1
    breaks.happened = False
    lost = await call("POST", "/v1/jobs/a/trigger")
    assert (lost.status, lost.json["code"]) == (504, "outcome_unknown")
    assert await pool.fetchval(COUNT_RUNS) == 2


async def test_a_job_whose_commit_was_not_confirmed_is_made_once(
    call: Caller, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    fenced, breaks = create_jobs.fenced, Once()

    @asynccontextmanager
    async def broken(connection: Connection, node_id: int) -> AsyncIterator[None]:
        async with fenced(connection, node_id):
            yield
        if breaks:
            raise CommitUnknown("the connection broke")

    monkeypatch.setattr(create_jobs, "fenced", broken)
    made = await call("POST", "/v1/jobs", JOB, headers=KEY)
    assert (made.status, made.json["name"], made.headers[REPLAYED]) == (201, "a", "true")
    breaks.happened = False
    lost = await call("POST", "/v1/jobs", JOB | {"name": "b"})
    assert (lost.status, lost.json["code"]) == (504, "outcome_unknown")
    assert await pool.fetchval(COUNT_JOBS) == 2


async def test_a_failure_after_the_effect_does_not_free_the_key(
    call: Caller, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as failing:
        failing.setattr(tenants, "_fetch", fail)
        assert (await call("POST", "/v1/tenants", {"name": "acme"}, headers=KEY)).status == 500
    again = await call("POST", "/v1/tenants", {"name": "acme"}, headers=KEY)
    assert (again.status, again.json["name"], again.headers[REPLAYED]) == (201, "acme", "true")
    other = await call("POST", "/v1/tenants", {"name": "other"}, headers=KEY)
    assert (other.status, other.json["code"]) == (422, "idempotency_mismatch")
    assert await pool.fetchval("SELECT count(*) FROM noonmark.tenant") == 2


async def test_a_failure_before_the_effect_keeps_nothing(
    call: Caller, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as failing:
        failing.setitem(_HANDLERS, CreateJobs, fail)
        assert (await call("POST", "/v1/jobs", JOB, headers=KEY)).status == 500
    assert await pool.fetchval("SELECT count(*) FROM noonmark.request") == 0
    made = await call("POST", "/v1/jobs", JOB, headers=KEY)
    assert (made.status, REPLAYED in made.headers) == (201, False)


async def test_the_next_owner_knows_the_key(
    call: Caller, node: RunningNode, there: RunningNode, session: aiohttp.ClientSession, pool: Pool
) -> None:
    [name] = names_at(there.address, node)
    body = JOB | {"name": name}
    first = await Caller(session, there.address)("POST", "/v1/jobs", body, headers=KEY)
    run = await call("POST", f"/v1/jobs/{name}/trigger", headers={"Idempotency-Key": "r"})
    await there.stop()
    again = await call("POST", "/v1/jobs", body, headers=KEY)
    assert (first.status, again.status, again.body) == (201, 201, first.body)
    rerun = await call("POST", f"/v1/jobs/{name}/trigger", headers={"Idempotency-Key": "r"})
    assert (rerun.status, rerun.body, rerun.headers[REPLAYED]) == (202, run.body, "true")
    assert (await pool.fetchval(COUNT_JOBS), await pool.fetchval(COUNT_RUNS)) == (1, 1)
