"""A node as the worker sees it: the protocol on a real socket, with grants and failures at the test's command."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from aiohttp import web

from noonmark.model.reason import Outcome
from noonmark.wire.worker import (
    Claim,
    ClaimAnswer,
    Heartbeat,
    HeartbeatAnswer,
    Register,
    Registered,
    Report,
    ReportAnswer,
    ReportItem,
    RunGrant,
    Terms,
)

EPOCH_US = 5_000_000_000_000_000
"""The peers' clock stands in the year 2128, far from this machine's."""
WITHIN_S = 20.0
T = TypeVar("T")


def now_us() -> int:
    return EPOCH_US + time.monotonic_ns() // 1000


class Peer:
    def __init__(self) -> None:
        self.port = 0
        self.listed: list[Peer] = [self]
        self.known: set[int] = set()
        self.worker_id = 41
        self.heartbeat_s = 0.1
        self.registrations: list[Register] = []
        self.claims: list[Claim] = []
        self.heartbeats: list[Heartbeat] = []
        self.reports: list[ReportItem] = []
        self.elsewhere = False
        self.elsewhere_jobs: set[int] = set()
        self.refuses = False
        self.cancel: list[tuple[int, int]] = []
        self.lost: list[int] = []
        self.missing: list[int] = []
        self.tokens: set[str | None] = set()
        self.frozen = asyncio.Event()
        self.frozen.set()  # set: it answers; clear: requests hang
        self._changed = asyncio.Condition()
        self._ready: list[tuple[RunGrant, Terms]] = []
        self._granted = 0
        self._policies: dict[tuple[str, float], int] = {}
        self._runner: web.AppRunner | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> "Peer":
        app = web.Application(client_max_size=64 * 1024 * 1024)
        for verb in ("register", "claim", "heartbeat", "report"):
            app.router.add_post(f"/v1/worker/{verb}", self._serve(verb))
        self._runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def grant(self, task: str, input: Any = None, *, job: int = 0, attempt: int = 1, timeout_s: float = 60.0):
        """Makes a run ready for whoever claims next; returns its key."""
        self._granted += 1
        job = job or self._granted << 12 | 7
        text = None if input is None else msgspec.json.encode(input).decode()
        terms = Terms(task, timeout_s, 5, "default")
        policy_id = self._policies.setdefault((task, timeout_s), len(self._policies) + 1)
        run = RunGrant(job, now_us(), attempt, now_us(), policy_id, text)
        self._ready.append((run, terms))
        await self._notify()
        return (run.job_id, run.nominal_us)

    async def until(self, condition: Callable[[], T], within_s: float = WITHIN_S) -> T:
        """Waits until something that the worker sent makes the condition true."""
        async with asyncio.timeout(within_s), self._changed:
            await self._changed.wait_for(condition)
        return condition()

    async def end_of(self, key: tuple[int, int]) -> ReportItem:
        def found() -> ReportItem | None:
            return next((item for item in self.reports if (item.job_id, item.nominal_us) == key), None)

        item = await self.until(found)
        assert item is not None
        return item

    def ends(self, *outcomes: Outcome) -> list[ReportItem]:
        return [item for item in self.reports if item.outcome in outcomes]

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    def _serve(self, verb: str):
        async def handle(request: web.Request) -> web.Response:
            body = await request.read()
            await self.frozen.wait()
            self.tokens.add(request.headers.get("Authorization"))
            answer = await getattr(self, f"_{verb}")(body)
            await self._notify()
            if isinstance(answer, int):
                return web.Response(status=answer)
            return web.Response(body=msgspec.msgpack.encode(answer), content_type="application/msgpack")

        return handle

    def _addresses(self) -> list[str]:
        return [peer.address for peer in self.listed]

    async def _register(self, body: bytes) -> Registered:
        message = msgspec.msgpack.decode(body, type=Register)
        self.registrations.append(message)
        worker = message.worker or self.worker_id
        self.known.add(worker)
        return Registered(worker, self.heartbeat_s, 10.0, self._addresses(), now_us())

    async def _claim(self, body: bytes) -> ClaimAnswer | int:
        message = msgspec.msgpack.decode(body, type=Claim)
        if message.worker not in self.known:
            return 410
        self.claims.append(message)
        await self._notify()
        try:
            async with asyncio.timeout(message.wait_s), self._changed:
                await self._changed.wait_for(lambda: self._ready)
        except TimeoutError:
            return ClaimAnswer(0, [], {}, now_us())
        batch, self._ready = self._ready[: message.max], self._ready[message.max :]
        if not batch:
            return ClaimAnswer(0, [], {}, now_us())
        self._granted += 1
        return ClaimAnswer(self._granted, [run for run, _ in batch], {run.policy_id: t for run, t in batch}, now_us())

    async def _heartbeat(self, body: bytes) -> HeartbeatAnswer | int:
        message = msgspec.msgpack.decode(body, type=Heartbeat)
        if message.worker not in self.known:
            return 410
        self.heartbeats.append(message)
        return HeartbeatAnswer(self.cancel, self.lost, self._addresses(), now_us(), self.missing)

    async def _report(self, body: bytes) -> ReportAnswer | int:
        message = msgspec.msgpack.decode(body, type=Report)
        if message.worker not in self.known:
            return 410
        if self.elsewhere:
            return 421
        moved = [at for at, item in enumerate(message.items) if item.job_id in self.elsewhere_jobs]
        self.reports.extend(item for item in message.items if item.job_id not in self.elsewhere_jobs)
        refused = [at for at in range(len(message.items)) if at not in moved] if self.refuses else []
        return ReportAnswer(refused, moved, now_us())
