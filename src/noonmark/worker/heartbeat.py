"""Keeps the worker known at one node: registers, then sends one heartbeat for all that it holds, anywhere.

Every node hears all grants, because shards move: the node that made a grant may not be the one that now decides.
"""

import asyncio
import contextlib

import structlog

from noonmark.errors import Unauthorized
from noonmark.wire.worker import Heartbeat
from noonmark.worker.fleet import KnownNodes
from noonmark.worker.nodes import CALL_TIMEOUT_S, Backoff, NodeClient, NodeError, NotRegistered

_log = structlog.get_logger("noonmark.worker")


async def heartbeat_loop(fleet: KnownNodes, node: NodeClient) -> None:
    backoff = Backoff()
    while True:
        try:
            if not node.registered.is_set():
                await fleet.register_with(node)
            else:
                await beat(fleet, node)
            backoff.reset()
        except NotRegistered:
            pass
        except (NodeError, Unauthorized) as error:
            wait_s = backoff.next_s()
            _log.debug("heartbeat_failed", node=node.address, error=str(error), wait_s=round(wait_s, 3))
            fleet.forget_if_gone(node)
            await asyncio.sleep(wait_s)
            continue
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(node.lapsed.wait(), fleet.heartbeat_s)


async def beat(fleet: KnownNodes, node: NodeClient) -> None:
    fleet.counters.heartbeats += 1
    timeout_s = min(CALL_TIMEOUT_S, max(1.0, fleet.heartbeat_s))
    sent_us = fleet.clock.now_us() if fleet.clock.known else 0
    message = Heartbeat(fleet.worker_id, fleet.reports.held(), sent_us, node.never)
    answer = await node.heartbeat(message, timeout_s)
    node.never = fleet.reports.deny(answer.missing)
    fleet.learn(answer.nodes)
    if answer.cancel:
        fleet.executor.cancel({(job_id, nominal_us) for job_id, nominal_us in answer.cancel})
    if answer.lost:
        lost = fleet.reports.lose(answer.lost)
        if lost:
            _log.warning("grants_lost", node=node.address, grants=lost)
            fleet.executor.abandon(set(lost))
