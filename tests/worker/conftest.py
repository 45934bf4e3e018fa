"""A peer node and a worker on the real event loop, stopped after each test."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from noonmark.worker import Worker
from tests.worker import tasks
from tests.worker.peer import Peer

Start = Callable[..., Any]


@pytest.fixture(autouse=True)
def _fresh_signals() -> None:
    tasks.started.clear()
    tasks.release.clear()
    tasks.seen.clear()


@pytest.fixture
async def peer() -> AsyncIterator[Peer]:
    node = await Peer().start()
    yield node
    node.frozen.set()
    await node.stop()


@pytest.fixture
async def other() -> AsyncIterator[Peer]:
    node = await Peer().start()
    yield node
    node.frozen.set()
    await node.stop()


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    """Starts a worker on the test tasks, and waits until a node has accepted it."""
    running: list[tuple[Worker, asyncio.Task[None]]] = []

    async def start(server: Peer | str, **settings: Any) -> Worker:
        address = server if isinstance(server, str) else server.address
        worker = Worker(tasks.app, server=address, **{"grace_s": 0.0, "processes": 1, **settings})
        task = asyncio.create_task(worker.run())
        running.append((worker, task))
        ready = asyncio.create_task(worker.ready.wait())
        async with asyncio.timeout(20):
            await asyncio.wait({ready, task}, return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if task.done():
            task.result()
        worker.ended = task  # type: ignore[attr-defined]
        return worker

    yield start
    tasks.release.set()  # lets those end that a test has left hanging
    for worker, _ in running:
        worker.stop()
        worker.stop()
    async with asyncio.timeout(30):
        await asyncio.gather(*(task for _, task in running), return_exceptions=True)
