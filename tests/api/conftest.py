"""Real nodes on real sockets over a real database."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import islice
from typing import Any, NamedTuple

import aiohttp
import msgspec
import pytest
import uvicorn

from noonmark.api.app import create_app
from noonmark.api.doorway import Doorway
from noonmark.clock import SECOND_US, MonotonicClock
from noonmark.model.ids import shard_for
from noonmark.node.config import REQUESTS_PER_S, NodeConfig
from noonmark.node.node import Node
from tests.conftest import SHARDS, eventually

_PATIENCE_S = 20.0
"""What takes longer hangs."""


class Answer(NamedTuple):
    status: int
    headers: Any
    body: bytes

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)


class Caller:
    """Speaks to one node and reads whole answers."""

    def __init__(self, session: aiohttp.ClientSession, address: str) -> None:
        self.session = session
        self.address = address

    async def __call__(self, method: str, path: str, json: Any = None, **options: Any) -> Answer:
        if json is not None:
            options["data"] = msgspec.json.encode(json)
        async with self.session.request(method, self.address + path, **options) as answer:
            return Answer(answer.status, answer.headers, await answer.read())


class MovedClock(MonotonicClock):
    """The database's time, put forward or back by the test."""

    def __init__(self) -> None:
        super().__init__()
        self._ahead_us = 0

    def now_us(self) -> int:
        return super().now_us() + self._ahead_us

    def advance(self, seconds: float) -> None:
        self._ahead_us += round(seconds * SECOND_US)

    def move_to(self, instant_us: int) -> None:
        self._ahead_us += instant_us - self.now_us()


class RunningNode:
    """A node and its HTTP, as api/server.py puts them together."""

    def __init__(self, config: NodeConfig, *, loopback: bool) -> None:
        # With its protocol named, as asyncio sets TCP_NODELAY only then; else each answer waits 40 ms for an ACK.
        self._listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen()
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.clock = MovedClock()
        self.node = Node(config, self.address)
        self.node.clock = self.clock
        app = create_app(self.node, config.token, config.requests_per_s, loopback=loopback)
        self._door = Doorway(app, self.node.living)
        self._server = uvicorn.Server(
            uvicorn.Config(self._door, loop="none", http="httptools", ws="none", lifespan="on", log_level="warning")
        )
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._tasks = [
            asyncio.create_task(self.node.run()),
            asyncio.create_task(self._server.serve(sockets=[self._listener])),
        ]

    @property
    def failed(self) -> bool:
        return any(task.done() for task in self._tasks)

    async def stop(self, *, at_once: bool = False) -> None:
        """Hands over, then closes its HTTP, or with `at_once` both together; to ask again changes nothing."""
        tasks, self._tasks = self._tasks, []
        if not at_once:
            await self._door.close()
        self.node.stop()
        self._server.should_exit = at_once
        for task in tasks:
            await asyncio.wait_for(task, _PATIENCE_S)
            self._server.should_exit = True


StartNode = Callable[..., Awaitable[RunningNode]]


@pytest.fixture
async def start_node(database_url: str) -> AsyncIterator[StartNode]:
    """Answers when the shards are shared out among all nodes of the test, and all of them know it."""
    running: list[RunningNode] = []

    async def start(
        token: str | None = None, *, loopback: bool = True, requests_per_s: float = REQUESTS_PER_S
    ) -> RunningNode:
        config = NodeConfig(
            database_url=database_url, token=token, requests_per_s=requests_per_s, renew_s=0.1, inbox_s=1.0
        )
        started = RunningNode(config, loopback=loopback)
        running.append(started)
        started.start()
        await eventually(lambda: started.failed or are_settled(running), pause_s=0.005)
        await started.node.declare_tasks(["greet", "clean"])
        return started

    yield start
    await asyncio.gather(*(one.stop(at_once=True) for one in running))


def are_settled(running: list[RunningNode]) -> bool:
    nodes = [one.node for one in running]
    if not all(node.ready and node.shard_count for node in nodes):
        return False
    owned = [sum(node.owns(shard) for shard in range(node.shard_count)) for node in nodes]
    maps = {tuple(node.owner_address(shard) for shard in range(node.shard_count)) for node in nodes}
    return max(owned) - min(owned) <= 1 and len(maps) == 1 and None not in maps.pop()


@pytest.fixture
async def node(start_node: StartNode) -> RunningNode:
    return await start_node()


@pytest.fixture
async def there(node: RunningNode, start_node: StartNode) -> RunningNode:
    """Another node, with half of the shards."""
    return await start_node()


def names_at(owner: str | None, asked: RunningNode, count: int = 1) -> list[str]:
    """Names of jobs of the default tenant whose shards belong to the node at `owner`."""
    names = (f"n{number}" for number in range(1000))
    found = (name for name in names if asked.node.owner_address(shard_for(1, name, SHARDS)) == owner)
    return list(islice(found, count))


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_PATIENCE_S)) as session:
        yield session


@pytest.fixture
async def call(node: RunningNode, session: aiohttp.ClientSession) -> Caller:
    return Caller(session, node.address)
