"""Any node takes any request, and has it carried out by the owners of its shards; what was not done is said so."""

import asyncio

import pytest

from noonmark.api import call as call_module
from noonmark.model.ids import parse_job, shard_of
from noonmark.store.connect import Pool
from tests.api.conftest import Caller, RunningNode, names_at
from tests.api.strange_owner import strange_owner

COUNT_JOBS = "SELECT count(*) FROM noonmark.job"


async def test_any_node_takes_any_command(call: Caller, node: RunningNode, there: RunningNode) -> None:
    [name] = names_at(there.address, node)
    made = await call("POST", "/v1/jobs", {"name": name, "task": "greet", "input": {"x": 1}})
    assert (made.status, made.json["input"], made.headers["ETag"][:3]) == (201, {"x": 1}, '"1-')
    assert there.node.owns(shard_of(parse_job(made.json["id"])))
    changed = await call("PATCH", f"/v1/jobs/{name}", {"priority": 1}, headers={"If-Match": "1"})
    assert (changed.status, changed.json["version"]) == (200, 2)
    refused = await call("PATCH", f"/v1/jobs/{name}", {"priority": 1}, headers={"If-Match": "1"})
    assert (refused.status, refused.json["code"], refused.json["field"]) == (412, "version_conflict", "If-Match")
    assert (await call("POST", f"/v1/jobs/{name}/pause")).json["state"] == "paused"
    assert (await call("POST", f"/v1/jobs/{name}/trigger")).json["code"] == "job_paused"
    assert (await call("POST", f"/v1/jobs/{name}/resume")).json["state"] == "active"
    run = (await call("POST", f"/v1/jobs/{name}/trigger")).json
    assert (await call("POST", f"/v1/runs/{run['id']}/cancel")).json["state"] == "cancelled"
    assert (await call("POST", "/v1/dead/redrive", {"runs": [run["id"]]})).json["redriven"] == 0
    assert (await call("DELETE", f"/v1/jobs/{name}")).status == 204


async def test_batches_are_split_by_owner_and_put_together_in_order(call: Caller, there: RunningNode) -> None:
    names = [f"b{n}" for n in range(50)]
    made = await call("POST", "/v1/jobs/batch", {"jobs": [{"name": n, "task": "greet"} for n in names]})
    assert made.status == 201
    assert [job["name"] for job in made.json["jobs"]] == names
    assert len({there.node.owns(shard_of(parse_job(job["id"]))) for job in made.json["jobs"]}) == 2
    runs = (await call("POST", "/v1/runs/batch", {"runs": [{"job": n} for n in names]})).json["runs"]
    told = [(await call("GET", f"/v1/runs/{run}")).json["job_name"] for run in runs]
    assert told == names
    applied = await call("PUT", "/v1/jobs/batch", {"jobs": [{"name": n, "task": "clean"} for n in reversed(names)]})
    assert [(one["name"], one["outcome"]) for one in applied.json["jobs"]] == [(n, "changed") for n in reversed(names)]


async def test_a_bad_item_for_another_owner_changes_nothing_here(
    call: Caller, node: RunningNode, there: RunningNode, pool: Pool
) -> None:
    [here], [elsewhere] = names_at(node.address, node), names_at(there.address, node)
    jobs = [{"name": here, "task": "greet"}, {"name": elsewhere, "task": "greet", "priority": 11}]
    answer = await call("POST", "/v1/jobs/batch", {"jobs": jobs})
    assert (answer.status, answer.json["field"]) == (422, "jobs[1].priority")
    assert await pool.fetchval(COUNT_JOBS) == 0


@pytest.mark.parametrize(("take", "listening"), [(False, True), (True, False)], ids=["nobody owns", "nobody listens"])
async def test_it_waits_while_ownership_moves(
    call: Caller, node: RunningNode, database_url: str, take: bool, listening: bool
) -> None:
    async with strange_owner(database_url, node, take=take, listening=listening) as owner:
        names = names_at(owner.address if take else None, node, 5)
        asking = [asyncio.create_task(call("POST", "/v1/jobs", {"name": n, "task": "greet"})) for n in names]
        done, _ = await asyncio.wait(asking, timeout=0.3)
        assert not done
        await owner.leave()
        assert [(await task).status for task in asking] == [201] * len(names)
        assert not owner.asked


async def test_it_waits_for_an_owner_that_is_between_two_lives(
    call: Caller, node: RunningNode, there: RunningNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    [name] = names_at(there.address, node)
    with monkeypatch.context() as between:
        between.setattr(there.node, "_life", None)
        asking = asyncio.create_task(call("POST", "/v1/jobs", {"name": name, "task": "greet"}))
        done, _ = await asyncio.wait([asking], timeout=0.3)
        assert not done
    assert (await asking).status == 201


@pytest.mark.parametrize(
    ("take", "code"), [(False, "unavailable"), (True, "not_owner")], ids=["nobody owns", "nobody listens"]
)
async def test_without_an_owner_it_gives_up(
    call: Caller,
    node: RunningNode,
    database_url: str,
    pool: Pool,
    monkeypatch: pytest.MonkeyPatch,
    take: bool,
    code: str,
) -> None:
    monkeypatch.setattr(call_module, "PATIENCE_S", 0.3)
    async with strange_owner(database_url, node, take=take, listening=False) as owner:
        [name] = names_at(owner.address if take else None, node)
        for headers in ({}, {"Idempotency-Key": "k"}):
            answer = await call("POST", "/v1/jobs", {"name": name, "task": "greet"}, headers=headers)
            assert (answer.status, answer.json["code"], answer.headers["Retry-After"]) == (503, code, "1")
    assert await pool.fetchval(COUNT_JOBS) == 0


async def test_a_node_that_stops_hands_over(call: Caller, node: RunningNode, there: RunningNode) -> None:
    names = names_at(there.address, node, 5)
    stopping = asyncio.create_task(there.stop())
    asking = [asyncio.create_task(call("POST", "/v1/jobs", {"name": n, "task": "greet"})) for n in names]
    assert [(await task).status for task in asking] == [201] * len(names)
    await stopping
