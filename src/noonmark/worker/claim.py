"""Asks one node for runs. The first loop of a node waits there for work; the others help while it is busy."""

import asyncio

import structlog

from noonmark.clock import SECOND_US
from noonmark.errors import Unauthorized
from noonmark.wire.worker import MAX_AGE_S, Claim
from noonmark.worker.execute import TICK_S
from noonmark.worker.fleet import Fleet
from noonmark.worker.nodes import Backoff, Node, NodeError, UnknownWorker

WAIT_S = 20.0
BUSY_PER_S = 1000.0
"""Above this pace, slots free up faster than it makes sense to ask for them one by one."""

_log = structlog.get_logger("noonmark.worker")


async def claim_loop(fleet: Fleet, node: Node, *, first: bool) -> None:
    backoff = Backoff()
    while True:
        await node.registered.wait()
        if not first:
            await node.busy.wait()
        executor, demand = fleet.executor, fleet.demand
        max_runs = demand.ask(executor.running, executor.waiting, fleet.reachable, node.asked)
        if max_runs == 0:
            await _room(fleet)
            continue
        try:
            await _claim(fleet, node, max_runs, WAIT_S if first else 0.0)
            backoff.reset()
        except UnknownWorker:
            continue
        except (NodeError, Unauthorized) as error:
            _log.debug("claim_failed", node=node.address, error=str(error))
            node.busy.clear()
            await asyncio.sleep(backoff.next_s())


async def _room(fleet: Fleet) -> None:
    fleet.executor.room.clear()
    if fleet.demand.pace_per_s > BUSY_PER_S:
        await asyncio.sleep(0.002)
        return
    try:
        # room comes with a free slot, or with a tick that widened the bounds
        await asyncio.wait_for(fleet.executor.room.wait(), 2 * TICK_S)
    except TimeoutError:
        return


async def _claim(fleet: Fleet, node: Node, max_runs: int, wait_s: float) -> None:
    counters = fleet.counters
    counters.claims += 1
    node.asked += max_runs
    try:
        answer = await node.claim(Claim(fleet.worker_id, max_runs, wait_s))
    finally:
        node.asked -= max_runs
    if len(answer.runs) * 2 >= max_runs:
        node.busy.set()
    else:
        node.busy.clear()
    if fleet.clock.known and fleet.clock.now_us() - answer.now_us > MAX_AGE_S * SECOND_US:
        _log.warning("old_answer_dropped", node=node.address, runs=len(answer.runs))
        return
    if answer.runs and fleet.reports.hold(answer.grant, node, len(answer.runs)):
        counters.claimed += len(answer.runs)
        fleet.executor.offer(answer)
