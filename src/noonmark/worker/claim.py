"""Asks one node for runs. The first loop of a node waits there for work; the others help while it is busy."""

import asyncio

import structlog

from noonmark.clock import SECOND_US
from noonmark.errors import Unauthorized
from noonmark.wire.worker import MAX_AGE_S, Claim
from noonmark.worker.execute import TICK_S
from noonmark.worker.fleet import KnownNodes
from noonmark.worker.nodes import Backoff, NodeClient, NodeError, NotRegistered

WAIT_S = 20.0
HANGS_S, HANGS_BUSY_S = 0.1, 0.5
"""A claim that took this long waits at a node that has nothing; commits are longer when much is going on."""
BUSY_PER_S = 1000.0
"""Above this pace, slots free up faster than it makes sense to ask for them one by one."""

_log = structlog.get_logger("noonmark.worker")


async def claim_loop(fleet: KnownNodes, node: NodeClient, *, first: bool) -> None:
    backoff = Backoff()
    while True:
        await node.registered.wait()
        if not first:
            await node.busy.wait()
        executor, demand = fleet.executor, fleet.demand
        max_runs = demand.ask(
            running=executor.running,
            waiting=executor.waiting,
            expected=fleet.expected,
            nodes=fleet.asking(node),
            asked=node.asked,
        )
        if max_runs == 0:
            await _room(fleet)
            continue
        try:
            await _claim(fleet, node, max_runs, WAIT_S if first else 0.0)
            backoff.reset()
        except NotRegistered:
            continue
        except (NodeError, Unauthorized) as error:
            _log.debug("claim_failed", node=node.address, error=str(error))
            node.busy.clear()
            await asyncio.sleep(backoff.next_s())


async def _room(fleet: KnownNodes) -> None:
    fleet.executor.room.clear()
    if fleet.demand.pace_per_s > BUSY_PER_S:
        await asyncio.sleep(0.002)
        return
    try:
        # room comes with a free slot, or with a tick that widened the bounds
        await asyncio.wait_for(fleet.executor.room.wait(), 2 * TICK_S)
    except TimeoutError:
        return


class _Asked:
    """One claim on its way. Its runs are counted until it is answered, or hangs at a node without work."""

    def __init__(self, fleet: KnownNodes, node: NodeClient, runs: int) -> None:
        self._fleet = fleet
        self._node = node
        self._runs = runs
        self._expected = 0 if node.idle else runs
        hangs_s = HANGS_BUSY_S if fleet.demand.pace_per_s > BUSY_PER_S else HANGS_S
        self._timer = asyncio.get_running_loop().call_later(hangs_s, self._hang)
        node.asked += runs
        node.expected += self._expected

    def answered(self) -> None:
        self._timer.cancel()
        self._node.asked -= self._runs
        self._node.expected -= self._expected

    def _hang(self) -> None:
        self._node.idle = True
        self._node.expected -= self._expected
        self._expected = 0
        self._fleet.executor.room.set()


async def _claim(fleet: KnownNodes, node: NodeClient, max_runs: int, wait_s: float) -> None:
    counters = fleet.counters
    counters.claims += 1
    asked = _Asked(fleet, node, max_runs)
    try:
        answer = await node.claim(Claim(fleet.worker_id, max_runs, wait_s))
    finally:
        asked.answered()
    node.idle = not answer.runs
    if len(answer.runs) * 2 >= max_runs:
        node.busy.set()
    else:
        node.busy.clear()
    if fleet.clock.known and fleet.clock.now_us() - answer.now_us > MAX_AGE_S * SECOND_US:
        _log.warning("old_answer_dropped", node=node.address, runs=len(answer.runs))
        return
    if answer.runs and fleet.reports.hold(answer.grant, node, len(answer.runs)):
        counters.claimed += len(answer.runs)
        executor, granted = fleet.executor, len(answer.runs)
        excess = fleet.demand.excess(running=executor.running, waiting=executor.waiting, granted=granted)
        executor.offer(answer, granted - excess)
