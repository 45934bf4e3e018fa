"""Nodes, workers, shards, tasks, health."""

from noonmark.store.connect import Pool
from tests.api.conftest import Caller, RunningNode, StartNode
from tests.conftest import SHARDS


async def test_who_is_there(call: Caller, node: RunningNode, start_node: StartNode, pool: Pool) -> None:
    other = await start_node()
    await pool.execute(
        "INSERT INTO noonmark.worker (name, queues, tasks, concurrency)"
        " SELECT 'w', '{q}', '{t}', n FROM generate_series(1, 3) n"
    )
    nodes = (await call("GET", "/v1/nodes")).json["nodes"]
    assert {(told["address"], told["state"], told["shards"]) for told in nodes} == {
        (node.address, "alive", SHARDS // 2), (other.address, "alive", SHARDS // 2),
    }  # fmt: skip
    shards = (await call("GET", "/v1/shards")).json["shards"]
    assert [shard["address"] for shard in shards] == [node.node.owner_address(shard) for shard in range(SHARDS)]
    page = (await call("GET", "/v1/workers?limit=2")).json
    rest = (await call("GET", f"/v1/workers?limit=2&cursor={page['next_cursor']}")).json
    assert [worker["concurrency"] for worker in page["workers"] + rest["workers"]] == [3, 2, 1]


async def test_a_declared_task_is_known_at_once(call: Caller) -> None:
    spec = {"name": "a", "task": "new.task"}
    assert (await call("POST", "/v1/jobs", spec)).status == 422
    assert (await call("PUT", "/v1/tasks", {"tasks": ["new.task"]})).status == 200
    assert (await call("POST", "/v1/jobs", spec)).status == 201
    wrong = await call("PUT", "/v1/tasks", {"tasks": ["ok", "not ok"]})
    assert (wrong.status, wrong.json["field"]) == (422, "tasks[1]")


async def test_health(call: Caller, node: RunningNode) -> None:
    assert (await call("GET", "/healthz")).json == {"status": "alive"}
    assert (await call("GET", "/readyz")).json == {"ready": True, "reasons": []}
    assert b"noonmark_" in (await call("GET", "/metrics")).body
    assert (await call("GET", "/v1/version")).json == {"version": node.node.version}
    node.node.life.trusted_until_s = 0.0
    waiting = await call("GET", "/readyz")
    assert waiting.status == 503
    assert len(waiting.json["reasons"]) == 1
