"""Commands reach the owner of their shard: forwarded once, retried while ownership moves, never repeated blindly."""

import asyncio
import socket

import aiohttp
import pytest

from noonmark.api import owners as owners_module
from noonmark.errors import Unavailable
from noonmark.model.ids import parse_job, shard_for, shard_of
from noonmark.store.connect import Pool
from tests.api.conftest import Caller, RunningNode, StartNode
from tests.conftest import SHARDS

LOW, HIGH = range(SHARDS // 2), range(SHARDS // 2, SHARDS)


def name_on(shards: range, start: int = 0) -> str:
    return next(f"n{n}" for n in range(start, 1000) if shard_for(1, f"n{n}", SHARDS) in shards)


@pytest.fixture
async def low(start_node: StartNode) -> RunningNode:
    return await start_node(*LOW)


@pytest.fixture
async def high(start_node: StartNode) -> RunningNode:
    return await start_node(*HIGH)


@pytest.fixture
async def ask_low(low: RunningNode, session: aiohttp.ClientSession) -> Caller:
    return Caller(session, low.address)


async def test_any_node_takes_any_command(ask_low: Caller, high: RunningNode) -> None:
    name = name_on(HIGH)
    made = await ask_low("POST", "/v1/jobs", {"name": name, "task": "greet", "input": {"x": 1}})
    assert (made.status, made.json["input"], made.headers["ETag"][:3]) == (201, {"x": 1}, '"1-')
    assert high.owns(shard_of(parse_job(made.json["id"])))
    changed = await ask_low("PATCH", f"/v1/jobs/{name}", {"priority": 1}, headers={"If-Match": "1"})
    assert (changed.status, changed.json["version"]) == (200, 2)
    assert (await ask_low("PATCH", f"/v1/jobs/{name}", {"priority": 1}, headers={"If-Match": "1"})).status == 412
    assert (await ask_low("POST", f"/v1/jobs/{name}/pause")).json["state"] == "paused"
    assert (await ask_low("POST", f"/v1/jobs/{name}/resume")).json["state"] == "active"
    run = (await ask_low("POST", f"/v1/jobs/{name}/trigger")).json
    assert (await ask_low("POST", f"/v1/runs/{run['id']}/cancel")).json["state"] == "cancelled"
    assert (await ask_low("POST", "/v1/dead/redrive", {"runs": [run["id"]]})).json["redriven"] == 0
    assert (await ask_low("DELETE", f"/v1/jobs/{name}")).status == 204


async def test_batches_are_split_by_owner_and_put_together_in_order(ask_low: Caller, high: RunningNode) -> None:
    names = [f"b{n}" for n in range(50)]
    made = await ask_low("POST", "/v1/jobs/batch", {"jobs": [{"name": n, "task": "greet"} for n in names]})
    assert made.status == 201
    assert [job["name"] for job in made.json["jobs"]] == names
    runs = (await ask_low("POST", "/v1/runs/batch", {"runs": [{"job": n} for n in names]})).json["runs"]
    told = [(await ask_low("GET", f"/v1/runs/{run}")).json["job_name"] for run in runs]
    assert told == names


async def test_a_forwarded_request_is_not_forwarded_again(ask_low: Caller, high: RunningNode) -> None:
    spec = {"name": name_on(HIGH), "task": "greet"}
    answer = await ask_low("POST", "/v1/jobs", spec, headers={"Noonmark-Forwarded": "1"})
    assert (answer.status, answer.json["code"], answer.headers["Retry-After"]) == (503, "not_owner", "1")


async def test_it_waits_while_ownership_moves(ask_low: Caller, high: RunningNode, owners: list[str | None]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}"
    for shard in HIGH:
        owners[shard] = nobody if shard % 2 else None
    names = [name_on(range(shard, shard + 1)) for shard in HIGH]
    asking = [asyncio.create_task(ask_low("POST", "/v1/jobs", {"name": n, "task": "greet"})) for n in names]
    done, _ = await asyncio.wait(asking, timeout=0.3)
    assert not done
    for shard in HIGH:
        owners[shard] = high.address
    assert [(await task).status for task in asking] == [201] * len(names)


async def test_without_an_owner_it_gives_up(
    ask_low: Caller, owners: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owners_module, "PATIENCE_S", 0.2)
    answer = await ask_low("POST", "/v1/jobs", {"name": name_on(HIGH), "task": "greet"})
    assert (answer.status, answer.json["code"], answer.headers["Retry-After"]) == (503, "unavailable", "1")


async def test_a_lost_answer_is_not_sent_again(ask_low: Caller, owners: list[str | None]) -> None:
    asked = 0

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        await reader.readuntil(b"\r\n\r\n")
        asked += 1
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    for shard in HIGH:
        owners[shard] = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    answer = await ask_low("POST", "/v1/jobs", {"name": name_on(HIGH), "task": "greet"})
    assert (answer.status, answer.json["code"], asked) == (504, "answer_lost", 1)
    server.close()


async def test_a_batch_that_is_partly_done_says_which(ask_low: Caller, high: RunningNode, pool: Pool) -> None:
    high.fails_with = Unavailable("the database of the owner is away")
    here, there = name_on(LOW), name_on(HIGH)
    answer = await ask_low("POST", "/v1/jobs/batch", {"jobs": [{"name": n, "task": "greet"} for n in (there, here)]})
    assert (answer.status, answer.json["code"]) == (503, "partly_done")
    assert f"1 of 2 were done: jobs[1] {here}." in answer.json["detail"]
    assert "the database of the owner is away" in answer.json["detail"]
    assert [row["name"] for row in await pool.fetch("SELECT name FROM noonmark.job")] == [here]


async def test_a_bad_item_for_another_owner_changes_nothing_here(
    ask_low: Caller, high: RunningNode, pool: Pool
) -> None:
    jobs = [{"name": name_on(LOW), "task": "greet"}, {"name": name_on(HIGH), "task": "greet", "priority": 11}]
    answer = await ask_low("POST", "/v1/jobs/batch", {"jobs": jobs})
    assert (answer.status, answer.json["field"]) == (422, "jobs[1].priority")
    assert await pool.fetchval("SELECT count(*) FROM noonmark.job") == 0
