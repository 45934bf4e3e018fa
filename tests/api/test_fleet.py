"""Nodes, workers, shards, tasks, health."""

from noonmark.store.connect import Pool
from tests.api.conftest import Caller
from tests.api.database import SHARDS
from tests.api.plain_node import PlainNode


async def test_who_is_there(call: Caller, pool: Pool) -> None:
    await pool.execute(
        "INSERT INTO noonmark.node (address, version, lease_until) VALUES ('http://n', '1', now() + '5 s'::interval)"
    )
    await pool.execute("UPDATE noonmark.shard SET owner = 1, term = 4 WHERE shard < 3")
    await pool.execute(
        "INSERT INTO noonmark.worker (name, queues, tasks, concurrency)"
        " SELECT 'w', '{q}', '{t}', n FROM generate_series(1, 3) n"
    )
    nodes = (await call("GET", "/v1/nodes")).json["nodes"]
    assert [(node["address"], node["state"], node["shards"]) for node in nodes] == [("http://n", "alive", 3)]
    shards = (await call("GET", "/v1/shards")).json["shards"]
    assert [shard["address"] for shard in shards] == ["http://n"] * 3 + [None] * (SHARDS - 3)
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


async def test_health(call: Caller, node: PlainNode) -> None:
    assert (await call("GET", "/healthz")).json == {"status": "alive"}
    assert (await call("GET", "/readyz")).json == {"ready": True, "reasons": []}
    assert (await call("GET", "/metrics")).body == b"noonmark_up 1\n"
    assert (await call("GET", "/v1/version")).json == {"version": node.version}
    node.ready = False
    waiting = await call("GET", "/readyz")
    assert waiting.status == 503
    assert len(waiting.json["reasons"]) == 1
