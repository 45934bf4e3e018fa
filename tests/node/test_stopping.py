"""A node that stops, starts, or whose connections the database ends: every request gets a proper answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import aiohttp
import asyncpg
import pytest

from noonmark.api.server import serve
from noonmark.node.config import NodeConfig
from tests.conftest import Engine, eventually, free_port

PROBLEM = "application/problem+json"


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30)) as session:
        yield session


@asynccontextmanager
async def locked(engine: Engine, table: str, mode: str = "ACCESS EXCLUSIVE") -> AsyncIterator["Lock"]:
    """Whoever needs the table waits until the block ends."""
    connection = await asyncpg.connect(engine.database_url)
    try:
        async with connection.transaction():
            await connection.execute(f"LOCK TABLE noonmark.{table} IN {mode} MODE")
            yield Lock(engine, connection.get_server_pid())
    finally:
        await connection.close()


class Lock(NamedTuple):
    engine: Engine
    pid: int

    async def waiting(self) -> list[int]:
        """The backends that wait for it, once there are any."""
        found = "SELECT array_agg(pid) FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))"
        return list(await eventually(lambda: self.engine.pool.fetchval(found, self.pid)) or [])

    async def end_waiting(self) -> None:
        for pid in await self.waiting():
            await self.engine.pool.execute("SELECT pg_terminate_backend($1)", pid)


async def get(http: aiohttp.ClientSession, url: str) -> tuple[int, str, Any]:
    async with http.get(url) as answer:
        return answer.status, answer.content_type, await answer.json(content_type=None)


async def post(http: aiohttp.ClientSession, url: str, body: object) -> tuple[int, str, Any]:
    async with http.post(url, json=body) as answer:
        return answer.status, answer.content_type, await answer.json(content_type=None)


async def worker_of(http: aiohttp.ClientSession, address: str) -> int:
    worker = {"name": "w", "queues": ["default"], "tasks": ["t"], "concurrency": 1}
    return int((await post(http, f"{address}/v1/worker/register", worker))[2]["worker"])


async def refused(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return True
    writer.close()
    return False


async def test_a_stop_lets_end_what_has_begun_and_workers_report(engine: Engine, http: aiohttp.ClientSession) -> None:
    address = await engine.start_node()
    worker = await worker_of(http, address)
    await post(http, f"{address}/v1/jobs", {"name": "a", "task": "t", "schedule": {"kind": "now"}})
    claim = {"worker": worker, "max": 1, "wait_s": 20}
    _, _, granted = await post(http, f"{address}/v1/worker/claim", claim)
    [(job_id, nominal_us, attempt, *_)] = granted["runs"]
    await asyncio.gather(*(get(http, f"{address}/v1/jobs") for _ in range(4)))  # as many connections
    async with locked(engine, "audit") as lock:
        begun = asyncio.create_task(get(http, f"{address}/v1/audit"))
        idle = asyncio.create_task(post(http, f"{address}/v1/worker/claim", claim))
        await lock.waiting()
        stopping = asyncio.create_task(engine.stop_node(address))
        await eventually(lambda: refused(int(address.rpartition(":")[2])))
        # Connections that are open go on: a worker's words count, whatever else comes is told to go elsewhere.
        item = [granted["grant"], job_id, nominal_us, attempt, 1, granted["now_us"], granted["now_us"]]
        told = await post(http, f"{address}/v1/worker/report", {"worker": worker, "items": [item]})
        assert (told[0], told[2]["refused"], told[2]["elsewhere"]) == (200, [], [])
        assert not begun.done()
        assert not stopping.done()
    status, kind, body = await begun
    assert (status, kind) == (200, "application/json")
    assert body
    status, _, nothing = await idle
    assert (status, nothing["grant"]) == (200, 0), "a claim that waits is told that there is nothing"
    await stopping
    assert await engine.pool.fetchval("SELECT count(*) FROM noonmark.attempt WHERE final AND outcome = 1") == 1


async def test_an_event_stream_ends_with_the_node(engine: Engine, http: aiohttp.ClientSession) -> None:
    address = await engine.start_node()
    await worker_of(http, address)
    await post(http, f"{address}/v1/jobs", {"name": "a", "task": "t", "schedule": {"kind": "manual"}})
    async with http.get(f"{address}/v1/jobs/a/follow") as stream:
        assert await stream.content.readline() == b"retry: 1000\n"
        began_s = asyncio.get_running_loop().time()
        stopping = asyncio.create_task(engine.stop_node(address))
        assert b"data" not in await stream.content.read(), "and no ClientPayloadError: it ended as it should"
        await stopping
        assert asyncio.get_running_loop().time() - began_s < 5


async def test_a_node_that_starts_is_waited_for(engine: Engine, http: aiohttp.ClientSession) -> None:
    address, stop = f"http://127.0.0.1:{(port := free_port())}", asyncio.Event()
    async with locked(engine, "node", "EXCLUSIVE") as lock:
        serving = asyncio.create_task(serve(NodeConfig(database_url=engine.database_url, port=port), stop))
        await lock.waiting()
        asked = asyncio.create_task(get(http, f"{address}/v1/jobs"))
        assert (await get(http, f"{address}/healthz"))[0] == 200
        assert (await get(http, f"{address}/readyz"))[0] == 503
        assert not asked.done()
    assert (await asked)[0] == 200
    stop.set()
    await serving


async def test_a_read_whose_connection_the_server_ended_is_repeated(
    engine: Engine, http: aiohttp.ClientSession
) -> None:
    address = await engine.start_node()
    async with locked(engine, "audit") as lock:
        asked = asyncio.create_task(get(http, f"{address}/v1/audit"))
        await lock.end_waiting()
        await lock.waiting()
    assert (await asked)[0] == 200


async def test_a_change_whose_connection_the_server_ended_is_unavailable(
    engine: Engine, http: aiohttp.ClientSession
) -> None:
    address = await engine.start_node()
    async with locked(engine, "audit", "EXCLUSIVE") as lock:
        asked = asyncio.create_task(post(http, f"{address}/v1/tenants", {"name": "another"}))
        await lock.end_waiting()
        status, kind, problem = await asked
    assert (status, kind, problem["code"]) == (503, PROBLEM, "unavailable")
