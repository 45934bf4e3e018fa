"""A real PostgreSQL for the session, a migrated database of its own for each test, and nodes and workers on it."""

import asyncio
import inspect
import math
import os
import socket
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from importlib.resources import files
from typing import Any, TypeVar

import asyncpg
import pytest

from noonmark.api.server import serve
from noonmark.app import App
from noonmark.client import Client
from noonmark.clock import SECOND_US, MonotonicClock, SettableClock, monotonic_s
from noonmark.embedded import EmbeddedPostgres, temporary_postgres
from noonmark.node.config import NodeConfig
from noonmark.node.node import Node
from noonmark.store.connect import Connection, Pool, connect, open_pool
from noonmark.store.migrate import make_partitions, migrate
from noonmark.worker import Worker

# The zones of the locked package, whatever newer copy this machine may have; child processes follow.
os.environ["NOONMARK_TZDIR"] = str(files("tzdata") / "zoneinfo")

SHARDS = 8
_STEP_S = 0.25
TEMPLATE = "noonmark_template"
T = TypeVar("T")


@pytest.fixture(scope="session")
def postgres() -> Iterator[EmbeddedPostgres]:
    with temporary_postgres(settings={"fsync": "off"}) as server:
        asyncio.run(make_template(server.url))
        yield server


async def make_template(url: str) -> None:
    admin = await asyncpg.connect(url)
    await admin.execute(f"CREATE DATABASE {TEMPLATE}")
    await admin.close()
    template = await connect(on(url, TEMPLATE))
    await migrate(template, SHARDS)
    await make_partitions(template, SettableClock(await template.fetchval("SELECT clock_timestamp()")))
    await template.close()


def on(url: str, database: str) -> str:
    head, _, query = url.partition("?")
    return f"{head.rpartition('/')[0]}/{database}?{query}"


async def new_database(url: str, template: str = "template0") -> str:
    """Its URL; what it holds goes with the server."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    admin = await asyncpg.connect(url)
    await admin.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    await admin.close()
    return on(url, name)


async def drop_database(url: str, database_url: str) -> None:
    admin = await asyncpg.connect(url)
    await admin.execute(f"DROP DATABASE {database_url.partition('?')[0].rpartition('/')[2]} WITH (FORCE)")
    await admin.close()


@pytest.fixture
async def database_url(postgres: EmbeddedPostgres) -> AsyncIterator[str]:
    """A migrated database with SHARDS shards."""
    url = await new_database(postgres.url, TEMPLATE)
    yield url
    await drop_database(postgres.url, url)


@pytest.fixture
async def empty_database_url(postgres: EmbeddedPostgres) -> AsyncIterator[str]:
    url = await new_database(postgres.url)
    yield url
    await drop_database(postgres.url, url)


@pytest.fixture
async def connection(database_url: str) -> AsyncIterator[Connection]:
    connection = await connect(database_url)
    yield connection
    await connection.close()


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[Pool]:
    pool = await open_pool(database_url)
    yield pool
    await pool.close()


async def eventually(check: Callable[[], T | Awaitable[T]], within_s: float = 10.0, pause_s: float = 0.02) -> T:
    """The first true answer of `check`; fails with its last answer when the time is up."""
    until_s = monotonic_s() + within_s
    while True:
        answer = check()
        found: T = await answer if inspect.isawaitable(answer) else answer  # type: ignore[assignment]
        if found:
            return found
        assert monotonic_s() < until_s, f"not within {within_s} s; last seen: {found!r}"
        await asyncio.sleep(pause_s)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


class AheadClock(MonotonicClock):
    """The clock of the nodes: the database's time, and what the test let pass beyond it."""

    ahead_us = 0

    def now_us(self) -> int:
        return super().now_us() + self.ahead_us


class WorkerClock(MonotonicClock):
    """The same for workers: what nodes tell them of the time is known already."""

    known = True

    def __init__(self, clock: AheadClock) -> None:
        super().__init__()
        self._clock = clock

    def observe(self, before_s: float, remote_us: int, after_s: float) -> None:
        pass

    def now_us(self) -> int:
        return self._clock.now_us()


class Engine:
    """Nodes, workers and clients in this process, on one database."""

    def __init__(self, database_url: str, pool: Pool) -> None:
        self.database_url = database_url
        self.pool = pool
        self.address = ""
        self._nodes: dict[str, tuple[asyncio.Event, asyncio.Task[None]]] = {}
        self._running: dict[str, Node] = {}
        self._clock = AheadClock()
        self._workers: list[tuple[Worker, asyncio.Task[None]]] = []
        self._clients: list[Client] = []

    async def start_node(self, **settings: Any) -> str:
        """Returns its address when it owns its share."""
        port = free_port()
        stop = asyncio.Event()
        config = NodeConfig(database_url=self.database_url, port=port, **settings)
        task = asyncio.create_task(serve(config, stop, on_node=self._prepare))
        address = f"http://127.0.0.1:{port}"
        self._nodes[address] = (stop, task)
        self.address = self.address if self.address in self._nodes else address
        owned = (
            "SELECT count(*) > 0 FROM noonmark.shard s JOIN noonmark.node n ON n.node_id = s.owner AND n.alive"
            " WHERE n.address = $1"
        )

        async def settled() -> bool:
            assert not task.done() or task.result()
            return bool(await self.pool.fetchval(owned, address))

        await eventually(settled, 20)
        return address

    def _prepare(self, node: Node) -> None:
        node.clock = self._clock
        self._running[node.address] = node

    def node(self, address: str | None = None) -> Node:
        return self._running[address or self.address]

    async def ticked(self, *loops: str) -> None:
        """Until each of these loops of the node has done a whole tick that began after now."""
        for name in loops:
            await asyncio.wait_for(self.node().life.loops[name].ticked(), 20)

    def now_us(self) -> int:
        return self._clock.now_us()

    async def pass_time(self, seconds: float) -> None:
        """Time passes for nodes and workers, at most a second at once, and each step is ticked."""
        while seconds > 0:
            self._clock.ahead_us += round(min(seconds, 1.0) * SECOND_US)
            seconds -= 1.0
            for address in self._nodes:
                life = self._running[address].life
                life.committer.wake()
                await asyncio.wait_for(life.loops["ticker"].ticked(), 20)

    async def until(self, check: Callable[[], T | Awaitable[T]], within_s: float = 10.0) -> T:
        """The first true answer of `check`, while time passes for the nodes: at most so many of their seconds."""
        for _ in range(math.ceil(within_s / _STEP_S)):
            with suppress(AssertionError):
                return await eventually(check, _STEP_S / 10, 0.005)
            await self.pass_time(_STEP_S)
        return await eventually(check, 5.0)

    async def stop_node(self, address: str | None = None) -> None:
        stop, task = self._nodes.pop(address or self.address)
        stop.set()
        await asyncio.wait_for(task, 20)

    async def start_worker(self, app: App, **settings: Any) -> Worker:
        worker = Worker(app, server=self.address, **{"grace_s": 0.0, "processes": 1, **settings})
        worker.clock = WorkerClock(self._clock)
        task = asyncio.create_task(worker.run())
        self._workers.append((worker, task))
        await asyncio.wait_for(worker.ready.wait(), 20)
        return worker

    async def stop_worker(self, worker: Worker) -> None:
        [entry] = [entry for entry in self._workers if entry[0] is worker]
        self._workers.remove(entry)
        worker.stop()
        await asyncio.wait_for(entry[1], 20)

    def client(self, tenant: str = "default") -> Client:
        client = Client(self.address, tenant=tenant)
        self._clients.append(client)
        return client

    async def close(self) -> None:
        for worker, task in self._workers:
            worker.stop()
            worker.stop()
            with suppress(Exception):
                await asyncio.wait_for(task, 20)
        for client in self._clients:
            await client.close()
        for address in list(self._nodes):
            await self.stop_node(address)


@pytest.fixture
async def engine(database_url: str, pool: Pool) -> AsyncIterator[Engine]:
    engine = Engine(database_url, pool)
    yield engine
    await engine.close()
