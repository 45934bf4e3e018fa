"""Sees to it that every end of an attempt reaches the node that decides for its run.

Invariants:
1. A grant is held, and named in heartbeats, until a node has accepted or refused the report of each of its runs. Else
   the node would take the grant for lost on the way and grant its runs again.
2. An item is in exactly one place: the outbox of a node, a request on its way, or `_homeless`. It leaves when a node
   accepts or refuses it, when its grant is lost, or after `GIVE_UP_US`.
3. An item goes first to the node that granted it. A node that does not decide for its shard (`elsewhere`, 421), or does
   not answer, makes it homeless, and it is tried at the next node in turn. A request that timed out may have been done:
   reporting again is harmless.
4. A grant is denied only if it was never held, and one that was denied is never held: because of the denial its runs
   are given to another worker, also those that may begin only once. A grant whose reports got no answer is not denied.

One request at a time flies to each node, and the next group gathers meanwhile.
"""

import asyncio
from typing import TYPE_CHECKING

import msgspec
import structlog

from noonmark.clock import SECOND_US, MonotonicClock
from noonmark.errors import Unauthorized
from noonmark.wire.worker import Report, ReportItem
from noonmark.worker.counters import Counters
from noonmark.worker.nodes import Backoff, NodeClient, NodeError, NotRegistered, NotTheOwner, Unacceptable, Unreachable

if TYPE_CHECKING:
    from noonmark.worker.fleet import KnownNodes

MAX_ITEMS = 1000
MAX_CHARACTERS = 2_000_000
GIVE_UP_US = 600 * SECOND_US
REROUTE_S = 0.2
_REMEMBERED = 100_000

_log = structlog.get_logger("noonmark.worker")


class _Held:
    __slots__ = ("left", "node")

    def __init__(self, node: NodeClient, left: int) -> None:
        self.node = node
        self.left = left


class Reports:
    def __init__(self, clock: MonotonicClock, counters: Counters) -> None:
        self._clock = clock
        self._counters = counters
        self._grants: dict[int, _Held] = {}
        self._unanswered: dict[int, None] = {}
        """Grants that were held and went without an answer to all of their reports."""
        self._denied: dict[int, None] = {}
        self._homeless: list[tuple[ReportItem, str]] = []
        """Items, each with the address where it was tried last."""
        self.empty = asyncio.Event()
        """Set while nothing is held."""
        self.empty.set()

    def hold(self, grant: int, node: NodeClient, runs: int) -> bool:
        """False if the grant comes after it was denied: another worker has it by now."""
        if grant in self._denied:
            _log.warning("denied_grant_dropped", node=node.address, grant=grant, runs=runs)
            return False
        self._grants[grant] = _Held(node, runs)
        self.empty.clear()
        return True

    def deny(self, missing: list[int]) -> list[int]:
        """Those of the grants that the worker never had and, from here on, never takes."""
        never = [grant for grant in missing if grant not in self._grants and grant not in self._unanswered]
        for grant in never:
            _remember(self._denied, grant)
        return never

    def held(self) -> list[int]:
        return list(self._grants)

    def lose(self, grants: list[int]) -> list[int]:
        """Those of the grants that were held; their items are dropped where they lie."""
        lost = [grant for grant in grants if self._grants.pop(grant, None) is not None]
        for grant in lost:
            _remember(self._unanswered, grant)
        self._check_empty()
        return lost

    def put(self, item: ReportItem) -> None:
        held = self._grants.get(item.grant)
        if held is None:
            return
        if held.node.reachable:
            held.node.put(item)
        else:
            self._homeless.append((item, held.node.address))

    def evict(self, node: NodeClient) -> None:
        """The node does not answer: its reports go to other nodes."""
        self._send_away(node.outbox, node)
        node.outbox.clear()
        node.outbox_filled.clear()

    async def deliver(self, worker_id: int, node: NodeClient) -> None:
        """Sends one group from the node's outbox and does what the answer says."""
        items = self._take(node)
        if items:
            await self._send(worker_id, node, items)

    async def _send(self, worker_id: int, node: NodeClient, items: list[ReportItem]) -> None:
        self._counters.reports += 1
        try:
            answer = await node.report(Report(worker_id, items))
        except Unacceptable as error:
            # one bad item must not take the others with it
            if len(items) > 1:
                middle = len(items) // 2
                node.outbox[:0] = items[middle:]
                node.outbox_filled.set()
                await self._send(worker_id, node, items[:middle])
            else:
                self._strip(items[0], node, str(error))
            return
        except NotRegistered:
            node.outbox[:0] = items
            node.outbox_filled.set()
            raise
        except NotTheOwner:
            self._send_away(items, node)
            return
        except (Unreachable, Unauthorized, asyncio.CancelledError):
            self._send_away(items, node)
            self.evict(node)
            raise
        if answer.elsewhere:
            moved = set(answer.elsewhere)
            self._send_away([item for at, item in enumerate(items) if at in moved], node)
            items = [item for at, item in enumerate(items) if at not in moved]
        if answer.refused:
            self._counters.refused += len(answer.refused)
            _log.info("reports_refused", node=node.address, count=len(answer.refused))
        self._counters.reported += len(items) - len(answer.refused)
        self._drop_answered(items)

    def reroute(self, nodes: list[NodeClient]) -> None:
        """Gives every homeless item to the node after the one it was tried at last."""
        if not self._homeless:
            return
        homeless, self._homeless = self._homeless, []
        overdue_us = self._clock.now_us() - GIVE_UP_US
        routes: dict[str, NodeClient] = {}
        for item, tried in homeless:
            if item.grant not in self._grants:
                continue
            if item.finished_us < overdue_us:
                self._counters.dropped += 1
                _log.error("report_dropped", job=item.job_id, nominal_us=item.nominal_us, attempt=item.attempt)
                _remember(self._unanswered, item.grant)
                self._drop_answered([item])
            elif not nodes:
                self._homeless.append((item, tried))
            else:
                self._counters.rerouted += 1
                if tried not in routes:
                    routes[tried] = _after(nodes, tried)
                routes[tried].put(item)

    def _take(self, node: NodeClient) -> list[ReportItem]:
        outbox = node.outbox
        count = characters = 0
        for item in outbox[:MAX_ITEMS]:
            characters += len(item.result or "") + len(item.error or "")
            if count and characters > MAX_CHARACTERS:
                break
            count += 1
        items = [item for item in outbox[:count] if item.grant in self._grants]
        del outbox[:count]
        if not outbox:
            node.outbox_filled.clear()
        return items

    def _strip(self, item: ReportItem, node: NodeClient, why: str) -> None:
        """Reports the bare outcome of an item that the node does not take with its texts, or gives it up."""
        _log.error("report_unacceptable", node=node.address, job=item.job_id, nominal_us=item.nominal_us, error=why)
        if item.result is None and item.error is None:
            self._counters.dropped += 1
            _remember(self._unanswered, item.grant)
            self._drop_answered([item])
        else:
            node.put(msgspec.structs.replace(item, error_type=None, error=None, result=None))

    def _send_away(self, items: list[ReportItem], node: NodeClient) -> None:
        self._homeless.extend((item, node.address) for item in items)

    def _drop_answered(self, items: list[ReportItem]) -> None:
        grants = self._grants
        for item in items:
            held = grants.get(item.grant)
            if held is not None:
                held.left -= 1
                if not held.left:
                    del grants[item.grant]
        self._check_empty()

    def _check_empty(self) -> None:
        if not self._grants:
            self.empty.set()


def _remember(grants: dict[int, None], grant: int) -> None:
    grants[grant] = None
    if len(grants) > _REMEMBERED:
        del grants[next(iter(grants))]


def _after(nodes: list[NodeClient], tried: str) -> NodeClient:
    """The next node in turn, among those that answer if any does."""
    candidates = sorted([node for node in nodes if node.reachable] or nodes, key=lambda node: node.address)
    return next((node for node in candidates if node.address > tried), candidates[0])


async def report_loop(fleet: "KnownNodes", node: NodeClient) -> None:
    backoff = Backoff()
    while True:
        await node.outbox_filled.wait()
        try:
            await fleet.reports.deliver(fleet.worker_id, node)
            backoff.reset()
        except NotRegistered:
            await node.registered.wait()
        except (NodeError, Unauthorized) as error:
            _log.debug("report_failed", node=node.address, error=str(error))
            await asyncio.sleep(backoff.next_s())
