"""Every change leaves its entry in the same transaction, whoever made it and through whichever door."""

from typing import Any

import asyncpg
import msgspec
import pytest

from noonmark import Retry
from noonmark.client import Client, submit_in
from noonmark.client.agent import CLI
from noonmark.errors import DuplicateName, JobPaused, NoonmarkError, VersionConflict
from noonmark.model.caller import Role
from noonmark.node.commands.bootstrap import make_key
from noonmark.wire.audit import AuditEntry
from noonmark.wire.resources import JobPatch, JobSpec, Submission
from tests.conftest import Engine, eventually
from tests.node.conftest import Stage
from tests.node.tasks import Seen


async def entries(client: Client, **filters: Any) -> list[AuditEntry]:
    return (await client.audit(limit=1000, **filters)).items


def decoded(raw: msgspec.Raw) -> Any:
    return msgspec.json.decode(raw)


async def test_before_and_after_of_every_change_of_a_job(stage: Stage) -> None:
    job = await stage.job("watched", "wait", priority=3)
    await stage.client.update_job("watched", JobPatch(priority=7))
    await stage.client.pause_job("watched")
    await stage.client.pause_job("watched")
    await stage.client.resume_job("watched")
    await stage.client.delete_job("watched")
    told = await entries(stage.client, subject=job.id)
    assert [entry.action for entry in told] == ["job.delete", "job.resume", "job.pause", "job.change", "job.create"]
    deleted, resumed, paused, changed, created = [(decoded(entry.before), decoded(entry.after)) for entry in told]
    assert created[0] is None
    assert (created[1]["name"], created[1]["task"], created[1]["priority"]) == ("watched", "wait", 3)
    assert changed == (created[1], {**created[1], "priority": 7})
    assert paused == ({"state": "active"}, {"state": "paused"})
    assert resumed == ({"state": "paused"}, {"state": "active"})
    assert deleted == (changed[1], None)


async def test_runs_are_told_by_request_with_their_number_and_the_first_of_them(stage: Stage) -> None:
    job = await stage.job("busy", "hold")
    other = await stage.job("other")
    run = await stage.client.trigger_job("busy")
    many = await stage.client.submit([_of("busy") for _ in range(30)])
    mixed = await stage.client.submit([_of("busy"), _of("other")])
    told = await entries(stage.client, action="run.submit")
    assert [entry.subject for entry in told] == ["runs", job.id, job.id]
    assert [decoded(entry.after) for entry in told] == [
        {"count": 2, "runs": mixed},
        {"count": 30, "runs": many[:10]},
        {"count": 1, "runs": [run]},
    ]
    await eventually(lambda: stage.seen.calls)
    await stage.client.cancel_run(run)
    [cancelled] = await entries(stage.client, action="run.cancel")
    assert cancelled.subject == run
    assert other.id != job.id


def _of(job: str) -> Submission:
    return Submission(job=job)


async def test_a_redrive_is_told_with_what_came_back(stage: Stage) -> None:
    job = await stage.job("failing", "refuse", retry=Retry(max_attempts=1))
    run = await stage.client.trigger_job("failing")
    await stage.ended(run)
    assert await stage.client.redrive([run]) == 1
    assert await stage.client.redrive(["run_1_1"]) == 0
    [told] = await entries(stage.client, action="dead.redrive")
    assert (told.subject, decoded(told.after)) == (job.id, {"count": 1, "runs": [run]})


async def test_what_was_refused_left_nothing(stage: Stage) -> None:
    await stage.job("once")
    await stage.client.pause_job("once")
    before = await entries(stage.client)
    with pytest.raises(DuplicateName):
        await stage.client.create_jobs([JobSpec(name="new", task="record"), JobSpec(name="once", task="record")])
    with pytest.raises(VersionConflict):
        await stage.client.update_job("once", JobPatch(priority=1), version=9)
    with pytest.raises(JobPaused):
        await stage.client.trigger_job("once")
    with pytest.raises(NoonmarkError):
        await stage.client.cancel_run("run_1_1")
    assert await entries(stage.client) == before


async def test_a_change_that_cannot_be_recorded_is_not_made(stage: Stage) -> None:
    """The two stand or fall together."""
    await stage.engine.pool.execute(
        "CREATE FUNCTION noonmark.full_disk() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN IF NEW.subject LIKE 'job_%' AND NEW.action = 'job.create' THEN"
        "   RAISE EXCEPTION 'no space left'; END IF; RETURN NEW; END $$;"
        " CREATE TRIGGER full_disk BEFORE INSERT ON noonmark.audit FOR EACH ROW EXECUTE FUNCTION noonmark.full_disk()"
    )
    with pytest.raises(NoonmarkError):
        await stage.job("unrecorded")
    assert await stage.engine.pool.fetchval("SELECT count(*) FROM noonmark.job") == 0
    assert await stage.engine.pool.fetchval("SELECT count(*) FROM noonmark.audit") == 0


async def test_a_submission_in_sql_is_told_in_the_users_own_transaction(stage: Stage) -> None:
    job = await stage.job("from-sql")
    user = await asyncpg.connect(stage.engine.database_url, server_settings={"application_name": "the shop"})
    try:
        undone = user.transaction()
        await undone.start()
        await submit_in(user, "from-sql")
        await undone.rollback()
        assert await entries(stage.client, action="run.") == []
        await submit_in(user, "from-sql")
        name = await user.fetchval("SELECT session_user")
    finally:
        await user.close()
    [told] = await entries(stage.client, action="run.")
    assert (told.actor, told.door, told.agent, told.subject) == (name, "sql", "the shop", job.id)
    assert (told.action, decoded(told.after)) == ("run.submit", {"count": 1})


@pytest.fixture
async def key(engine: Engine) -> str:
    made = await make_key(engine.database_url, name="ada", role=Role.ADMIN, tenant=None, lives_us=None)
    return made.text


async def test_who_and_from_where_also_through_another_node(engine: Engine, key: str) -> None:
    first = await engine.start_node()
    second = await engine.start_node()
    owned = "SELECT count(DISTINCT owner) = 2 AND count(*) = count(owner) FROM noonmark.shard"
    await eventually(lambda: engine.pool.fetchval(owned), 20)
    async with Client(first, key) as sdk, Client(second, key, agent=CLI) as cli:
        await sdk.declare_tasks(["record"])
        for n in range(8):
            await sdk.create_job(JobSpec(name=f"sdk-{n}", task="record"))
            await cli.create_job(JobSpec(name=f"cli-{n}", task="record"))
        told = await entries(sdk, action="job.create")
    assert len(told) == 16
    assert {entry.actor for entry in told} == {"ada"}
    assert len({entry.key for entry in told}) == 1
    doors = {decoded(entry.after)["name"]: entry.door for entry in told}
    assert all(door == name.split("-")[0] for name, door in doors.items()), "a request that was passed on keeps it"
    assert {entry.address for entry in told} == {"127.0.0.1"}


async def test_a_node_with_keys_asks_for_them_and_a_worker_works_with_its_own(engine: Engine, key: str) -> None:

    await engine.start_node()
    worker_key = await make_key(engine.database_url, name="fleet", role=Role.WORKER, tenant=None, lives_us=None)
    with pytest.raises(NoonmarkError, match="no key"):
        await engine.client().list_jobs()
    seen = Seen()
    await engine.start_worker(seen.app, token=worker_key.text)
    async with Client(engine.address, key) as client:
        await client.create_job(JobSpec(name="a", task="record", input=msgspec.Raw(b'["done"]')))
        await client.trigger_job("a")
        await eventually(lambda: seen.whats() == ["done"])
    await seen.app.close()
