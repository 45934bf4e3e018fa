"""A node, a worker with the recording tasks, and a client, all in the test's process."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

import msgspec
import pytest

from noonmark.client import Client
from noonmark.clock import to_datetime
from noonmark.wire.resources import Job, JobSpec
from noonmark.worker import Worker
from tests.conftest import Engine, eventually
from tests.node.tasks import Seen

T = TypeVar("T")
HEARTBEAT_S = 0.2
"""By its heartbeats a worker hears what it should stop; tests need not wait for the usual ones."""


class Stage(NamedTuple):
    engine: Engine
    client: Client
    seen: Seen
    worker: Worker

    async def job(self, name: str, task: str = "record", input: Any = None, **spec: Any) -> Job:
        raw = msgspec.Raw(msgspec.json.encode(input))
        return await self.client.create_job(JobSpec(name=name, task=task, input=raw, **spec))

    async def now(self) -> datetime:
        return to_datetime(self.engine.now_us()).astimezone(UTC)

    async def pass_time(self, seconds: float) -> None:
        await self.engine.pass_time(seconds)

    async def until(self, check: Callable[[], T | Awaitable[T]], within_s: float = 10.0) -> T:
        """The first true answer of `check`, while time passes for the nodes."""
        return await self.engine.until(check, within_s)

    async def ended(self, run: str, within_s: float = 10.0) -> list[str]:
        """The outcomes of a run's attempts, once it has ended."""

        async def outcomes() -> list[str] | None:
            found = await self.client.attempts(run)
            return [attempt.outcome for attempt in found] if any(attempt.final for attempt in found) else None

        return (await eventually(outcomes, within_s)) or []

    async def idle(self, within_s: float = 20.0) -> None:
        """Nothing waits and nothing is granted."""
        left = "SELECT NOT EXISTS (SELECT FROM noonmark.run) AND NOT EXISTS (SELECT FROM noonmark.grant)"
        await eventually(lambda: self.engine.pool.fetchval(left), within_s)

    async def finals(self, outcome: int = 1) -> list[tuple[int, int]]:
        rows = await self.engine.pool.fetch(
            "SELECT job_id, nominal_at FROM noonmark.attempt WHERE final AND outcome = $1", outcome
        )
        return [tuple(row) for row in rows]


@pytest.fixture
async def stage(engine: Engine) -> AsyncIterator[Stage]:
    await engine.start_node(heartbeat_s=HEARTBEAT_S)
    seen = Seen()
    worker = await engine.start_worker(seen.app)
    yield Stage(engine, engine.client(), seen, worker)
    seen.gate.set()
    await seen.app.close()
