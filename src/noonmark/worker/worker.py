"""The supervisor: puts the parts of a worker together, runs until `stop`, then drains.

Draining: claim no more; hand back attempts that have not started; let the others finish within `grace_s`; stop those
that have not, and hand them back; deliver the reports; send a last heartbeat, which names no grant any more.
"""

import asyncio
import contextlib
import os
import socket
from collections.abc import Iterable, Sequence
from functools import partial

import structlog

from noonmark.app import App
from noonmark.client.local_key import find_key
from noonmark.clock import MonotonicClock
from noonmark.errors import NoonmarkError
from noonmark.wire.worker import Heartbeat, Register
from noonmark.worker.claim import claim_loop
from noonmark.worker.counters import Counters
from noonmark.worker.demand import Demand
from noonmark.worker.execute import TICK_S, Executor
from noonmark.worker.fleet import KnownNodes, Loop
from noonmark.worker.heartbeat import heartbeat_loop
from noonmark.worker.nodes import NodeClient, NodeError, connect
from noonmark.worker.report import REROUTE_S, Reports, report_loop
from noonmark.worker.stall import StallGuard

FLUSH_S = 5.0
"""How long a leaving worker tries to deliver its last reports."""
FAREWELL_S = 1.0

_log = structlog.get_logger("noonmark.worker")


class Worker:
    """Runs the tasks of an app for the nodes behind `server` (one address, or several separated by commas)."""

    def __init__(
        self,
        app: App,
        *,
        server: str | None = None,
        token: str | None = None,
        name: str | None = None,
        concurrency: int = 100,
        processes: int | None = None,
        queues: Sequence[str] | None = None,
        grace_s: float = 30.0,
        claim_max: int = 1000,
        claims_per_node: int = 2,
        spare_threads: int | None = None,
        stall_limit_s: float = 5.0,
    ) -> None:
        if concurrency < 1 or claim_max < 1 or claims_per_node < 1:
            raise ValueError("concurrency, claim_max and claims_per_node are at least 1")
        self.app = app
        self.name = name or f"{socket.gethostname()}:{os.getpid()}"
        self.counters = Counters()
        self.clock = MonotonicClock()
        self._seeds = [address.strip().rstrip("/") for address in (server or app.server).split(",") if address.strip()]
        self._token = token or app.token or find_key(next(iter(self._seeds), ""))
        self._concurrency = concurrency
        self._processes = processes or os.cpu_count() or 1
        self._queues = sorted(set(queues or {"default", *(task.queue for task in app.tasks.values())}))
        self._grace_s = grace_s
        self._claim_max = claim_max
        self._claims_per_node = claims_per_node
        self._spare_threads = max(4, concurrency // 4) if spare_threads is None else spare_threads
        self._guard = StallGuard(stall_limit_s)
        self._stops = 0
        self._stopping = asyncio.Event()
        self._hurried = asyncio.Event()
        self.hung = 0
        """Functions that went on after `run()` had returned. They keep asyncio.run() from ending: leave by os._exit."""
        self.ready = asyncio.Event()
        """Set once a node has accepted the worker."""

    def stop(self) -> None:
        """Starts draining; the second call ends the time of grace. Call it on the event loop's thread."""
        self._stops += 1
        self._stopping.set()
        if self._stops > 1:
            self._hurried.set()

    async def run(self) -> None:
        """Works until `stop()`. Raises Unauthorized if the first node that answers refuses the token."""
        async with connect(self._token) as session:
            reports = Reports(self.clock, self.counters)
            executor = Executor(
                tasks=self.app.tasks,
                clock=self.clock,
                slots=self._concurrency,
                processes=self._processes,
                spare_threads=self._spare_threads,
                counters=self.counters,
                report=reports.put,
            )
            demand = Demand(self._concurrency, self._claim_max)
            fleet = KnownNodes(
                seeds=self._seeds,
                register=Register(self.name, self._queues, sorted(self.app.tasks), self._concurrency),
                session=session,
                clock=self.clock,
                counters=self.counters,
                reports=reports,
                executor=executor,
                demand=demand,
                claims=self._claim_loops,
                upkeep=lambda fleet, node: [partial(heartbeat_loop, fleet, node), partial(report_loop, fleet, node)],
            )
            self._guard.start()
            chores = [asyncio.create_task(self._tick_loop(executor, demand))]
            try:
                if await self._find(fleet):
                    self.ready.set()
                    chores.append(asyncio.create_task(fleet.reconnect_loop()))
                    chores.append(asyncio.create_task(fleet.reroute_loop(REROUTE_S)))
                    await self._stopping.wait()
                    await self._drain(fleet)
            finally:
                await fleet.close()
                self.hung = await executor.close()
                for chore in chores:
                    chore.cancel()
                await asyncio.gather(*chores, return_exceptions=True)
                self._guard.stop()
                _log.info("stopped", **vars(self.counters))

    def _claim_loops(self, fleet: KnownNodes, node: NodeClient) -> Iterable[Loop]:
        return [partial(claim_loop, fleet, node, first=number == 0) for number in range(self._claims_per_node)]

    async def _find(self, fleet: KnownNodes) -> bool:
        """False if the worker was stopped before any node answered."""
        finding = asyncio.create_task(fleet.find())
        stopping = asyncio.create_task(self._stopping.wait())
        await asyncio.wait({finding, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if finding.done():
            finding.result()
            return True
        finding.cancel()
        await asyncio.gather(finding, return_exceptions=True)
        return False

    async def _tick_loop(self, executor: Executor, demand: Demand) -> None:
        before_s, finished, handed_back = self.clock.elapsed_s(), 0, 0
        while True:
            await asyncio.sleep(TICK_S)
            self._guard.tick()
            try:
                executor.tick()
            except Exception:
                _log.exception("tick_failed")
            now_s = self.clock.elapsed_s()
            demand.observe(executor.finished - finished, executor.handed_back - handed_back, now_s - before_s)
            before_s, finished, handed_back = now_s, executor.finished, executor.handed_back

    async def _drain(self, fleet: KnownNodes) -> None:
        executor, reports = fleet.executor, fleet.reports
        _log.info("draining", running=executor.running, waiting=executor.waiting, grace_s=self._grace_s)
        await fleet.stop_claiming()
        executor.release_waiting()
        await self._until_idle(executor, self._grace_s, self._hurried)
        if not executor.idle:
            executor.release_running()
            await self._until_idle(executor, 1.0, None)
            executor.give_up()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(reports.empty.wait(), FLUSH_S)
        nodes = [node for node in fleet.nodes.values() if node.reachable]
        await asyncio.gather(*(_say_farewell(fleet, node) for node in nodes))

    async def _until_idle(self, executor: Executor, within_s: float, hurried: asyncio.Event | None) -> None:
        until_s = self.clock.elapsed_s() + within_s
        while not executor.idle and self.clock.elapsed_s() < until_s and not (hurried and hurried.is_set()):
            executor.room.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(executor.room.wait(), TICK_S / 2)


async def _say_farewell(fleet: KnownNodes, node: NodeClient) -> None:
    with contextlib.suppress(NodeError, NoonmarkError):
        answer = await node.heartbeat(Heartbeat(fleet.worker_id, [], never=node.never), FAREWELL_S)
        if never := fleet.reports.deny(answer.missing):
            await node.heartbeat(Heartbeat(fleet.worker_id, [], never=never), FAREWELL_S)
