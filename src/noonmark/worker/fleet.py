"""The nodes that the worker works for, and the loops that run for each of them.

It starts from the addresses that it was given (seeds). From the first answer on, the nodes' own list counts: each
listed node gets its own loops, so that one that hangs holds up no other. If none answers any more, the seeds are asked
again.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import TYPE_CHECKING, Any

import structlog

from noonmark.clock import MonotonicClock
from noonmark.errors import Unauthorized
from noonmark.wire.worker import Register, Registered
from noonmark.worker.counters import Counters
from noonmark.worker.demand import Demand
from noonmark.worker.execute import Executor
from noonmark.worker.nodes import Backoff, NodeClient, NodeError, NotRegistered, Unreachable
from noonmark.worker.report import Reports

if TYPE_CHECKING:
    import aiohttp

Loop = Callable[[], Coroutine[Any, Any, None]]
Loops = Callable[["KnownNodes", NodeClient], Iterable[Loop]]

_log = structlog.get_logger("noonmark.worker")


class KnownNodes:
    def __init__(
        self,
        *,
        seeds: list[str],
        register: Register,
        session: "aiohttp.ClientSession",
        clock: MonotonicClock,
        counters: Counters,
        reports: Reports,
        executor: Executor,
        demand: Demand,
        claims: Loops,
        upkeep: Loops,
    ) -> None:
        self._seeds = seeds
        self._register = register
        self._session = session
        self.clock = clock
        self._claims = claims
        self._upkeep = upkeep
        self._claiming: dict[str, list[asyncio.Task[None]]] | None = {}
        """None once the worker claims no more."""
        self._keeping: dict[str, list[asyncio.Task[None]]] = {}
        self._listed: set[str] = set()
        self.nodes: dict[str, NodeClient] = {}
        self.counters = counters
        self.reports = reports
        self.executor = executor
        self.demand = demand
        self.worker_id = 0
        self.heartbeat_s = 1.0
        self.silence_s = 10.0

    @property
    def reachable(self) -> int:
        return sum(node.reachable for node in self.nodes.values())

    @property
    def expected(self) -> int:
        """Runs that claims may bring any moment."""
        return sum(node.expected for node in self.nodes.values())

    def asking(self, node: NodeClient) -> int:
        """How many nodes are about to ask: this one, and those that have no claim on its way."""
        return 1 + sum(one.reachable and not one.asked for one in self.nodes.values() if one is not node)

    async def find(self) -> None:
        """Asks the seeds in turn until one answers. Raises Unauthorized or Unacceptable if one refuses the worker."""
        backoff = Backoff()
        while True:
            for address in self._seeds:
                node = NodeClient(address, self._session, self.clock)
                try:
                    await self.register_with(node)
                except (Unreachable, NotRegistered) as error:
                    wait_s = backoff.next_s()
                    _log.warning("no_node_answers", node=address, error=str(error), wait_s=round(wait_s, 3))
                    await asyncio.sleep(wait_s)
                    continue
                if not self.nodes:
                    self.learn([node.address])  # a node that lists none: itself, then
                return

    async def register_with(self, node: NodeClient) -> None:
        name = self._register
        message = Register(name.name, name.queues, name.tasks, name.concurrency, self.worker_id)
        answer: Registered = await node.register(message)
        self.counters.registrations += 1
        if self.worker_id not in (0, answer.worker):
            _log.warning("worker_id_changed", old=self.worker_id, new=answer.worker)
        self.worker_id = answer.worker
        self.heartbeat_s, self.silence_s = answer.heartbeat_s, answer.silence_s
        _log.info("registered", node=node.address, worker=self.worker_id)
        self.learn(answer.nodes)

    def learn(self, addresses: list[str]) -> None:
        """Takes over a node's list: new nodes get their loops; missing ones leave when they stop answering."""
        if not addresses:
            return
        self._listed = {address.rstrip("/") for address in addresses}
        for address in sorted(self._listed - self.nodes.keys()):
            node = self.nodes[address] = NodeClient(address, self._session, self.clock)
            self._keeping[address] = [asyncio.create_task(_keep_going(loop)) for loop in self._upkeep(self, node)]
            if self._claiming is not None:
                self._claiming[address] = [asyncio.create_task(_keep_going(loop)) for loop in self._claims(self, node)]

    def forget_if_gone(self, node: NodeClient) -> None:
        """Called when a node did not answer. The task that calls ends with the node."""
        if node.reachable or node.address in self._listed or self.nodes.get(node.address) is not node:
            return
        _log.info("node_forgotten", node=node.address)
        del self.nodes[node.address]
        for task in self._keeping.pop(node.address) + (self._claiming or {}).pop(node.address, []):
            task.cancel()
        self.reports.evict(node)

    async def stop_claiming(self) -> None:
        claiming, self._claiming = self._claiming or {}, None
        await _end([task for tasks in claiming.values() for task in tasks])

    async def close(self) -> None:
        await self.stop_claiming()
        await _end([task for tasks in self._keeping.values() for task in tasks])

    async def reconnect_loop(self) -> None:
        """When no node has answered for a while, the whole fleet may have moved: ask the seeds."""
        while True:
            await asyncio.sleep(max(2.0, self.heartbeat_s))
            if self.reachable == 0:
                try:
                    await self.find()
                except (NodeError, Unauthorized) as error:
                    _log.error("seeds_refuse", error=str(error))

    async def reroute_loop(self, every_s: float) -> None:
        while True:
            await asyncio.sleep(every_s)
            self.reports.reroute(list(self.nodes.values()))


async def _keep_going(loop: Loop) -> None:
    """A mistake in one turn must not end a loop for ever."""
    while True:
        try:
            await loop()
        except Exception:
            _log.exception("loop_failed")
            await asyncio.sleep(1.0)


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
