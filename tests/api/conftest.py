"""Nodes on real sockets over a real database."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, NamedTuple

import aiohttp
import msgspec
import pytest
import uvicorn

from noonmark.api.app import create_app
from noonmark.store.connect import Pool
from tests.api.database import SHARDS, database_url, pool, postgres_url
from tests.api.plain_node import PlainNode

__all__ = ["database_url", "pool", "postgres_url"]

StartNode = Callable[..., Awaitable[PlainNode]]


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


@pytest.fixture
async def owners() -> list[str | None]:
    return [None] * SHARDS


@pytest.fixture
async def start_node(pool: Pool, owners: list[str | None]) -> AsyncIterator[StartNode]:
    running: list[tuple[uvicorn.Server, asyncio.Task[None]]] = []

    async def start(*shards: int, token: str | None = None, loopback: bool = True) -> PlainNode:
        # With its protocol named, as asyncio sets TCP_NODELAY only then; else each answer waits 40 ms for an ACK.
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        node = PlainNode(address, pool, owners, await pool.fetchval("SELECT clock_timestamp()"))
        for shard in shards or range(SHARDS):
            owners[shard] = address
        await node.declare_tasks(["greet", "clean"])
        config = uvicorn.Config(
            create_app(node, token, loopback=loopback), log_level="warning", lifespan="on", ws="none"
        )
        server = uvicorn.Server(config)
        running.append((server, asyncio.create_task(server.serve(sockets=[listener]))))
        return node

    yield start
    for server, task in running:
        server.should_exit = True
        await task


@pytest.fixture
async def node(start_node: StartNode) -> PlainNode:
    return await start_node()


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.fixture
async def call(node: PlainNode, session: aiohttp.ClientSession) -> Caller:
    return Caller(session, node.address)
