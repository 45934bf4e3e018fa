"""A command is carried out by the node that owns its shard; a batch, by several at once.

    split the items by owner ──> here: the node's own command        ──> done
                             └─> there: one forwarded request each   ──> done
                                   nobody, not_owner, no connection  ──> nothing was done: split again, for up to 6 s
                                   any other failure                 ──> stop

Each owner's part is all or nothing. Across owners there is no transaction: if one part fails after another was done,
the answer is 503 `partly_done`, which names what was done by its place in the batch; the rest may be sent again. If no
part was done, the answer is the failure itself.
"""

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

import structlog

from noonmark.api.forward import AnswerLost, NeverArrived
from noonmark.api.ports import NodePort
from noonmark.clock import monotonic_s
from noonmark.errors import NoonmarkError, NotOwner, Unavailable

_log = structlog.get_logger("noonmark.api")

PATIENCE_S = 6.0
"""Ownership moves within about 5 seconds, even after kill -9."""
_PAUSE_S = 0.1

Item = TypeVar("Item")
Done = TypeVar("Done")


class PartlyDone(NoonmarkError):
    """Some owners did their part of a batch and others did not."""

    code, status, exit_code = "partly_done", 503, 7


class Parts(Generic[Item, Done]):
    """What a batch consists of, and how a part of it is done here or at another node's address."""

    def __init__(
        self,
        items: Sequence[Item],
        shards: Sequence[int],
        *,
        here: Callable[[list[Item]], Awaitable[list[Done]]],
        there: Callable[[str, list[Item]], Awaitable[list[Done]]],
        label: Callable[[int], str],
    ) -> None:
        """`shards` are those of the items; `label` names the item at a position, for whoever must send the rest."""
        self.items = items
        self.shards = shards
        self.label = label
        self._here = here
        self._there = there

    async def do(self, address: str, own_address: str, positions: list[int]) -> list[Done]:
        items = [self.items[position] for position in positions]
        return await (self._here(items) if address == own_address else self._there(address, items))


async def at_owners(node: NodePort, parts: Parts[Item, Done], *, forwarded: bool) -> list[Done]:
    """What was done for each item, in order."""
    done: dict[int, Done] = {}
    pending = list(range(len(parts.items)))
    deadline_s = monotonic_s() + PATIENCE_S
    while pending:
        by_owner = _split(node, parts.shards, pending)
        if forwarded and by_owner.keys() != {node.address}:
            raise NotOwner("this node does not own the shard of the forwarded request")
        ownerless = by_owner.pop(None, [])
        outcomes = await asyncio.gather(
            *(parts.do(str(address), node.address, positions) for address, positions in by_owner.items()),
            return_exceptions=True,
        )
        failures: list[BaseException] = [Unavailable("nobody owns the shard right now")] if ownerless else []
        pending = ownerless
        final = False
        for positions, outcome in zip(by_owner.values(), outcomes, strict=True):
            if not isinstance(outcome, BaseException):
                done.update(zip(positions, outcome, strict=True))
                continue
            failures.append(outcome)
            pending += positions
            final |= forwarded or not isinstance(outcome, NeverArrived | NotOwner)
        if failures and (final or monotonic_s() > deadline_s):
            raise _verdict(parts, sorted(done), failures)
        if pending:
            await asyncio.sleep(_PAUSE_S)
    return [done[position] for position in range(len(parts.items))]


def _split(node: NodePort, shards: Sequence[int], positions: Sequence[int]) -> dict[str | None, list[int]]:
    by_owner: dict[str | None, list[int]] = {}
    owners: dict[int, str | None] = {}
    for position in positions:
        shard = shards[position]
        if shard not in owners:
            owners[shard] = node.address if node.owns(shard) else _other(node, shard)
        by_owner.setdefault(owners[shard], []).append(position)
    return by_owner


def _other(node: NodePort, shard: int) -> str | None:
    """While a shard comes or goes, our own address may stand for it although we do not own it."""
    address = node.owner_address(shard)
    return None if address == node.address else address


def _verdict(parts: Parts[Item, Done], done: list[int], failures: list[BaseException]) -> BaseException:
    """The failure that says most: first an unexpected one, then one with an unknown end, then a refusal."""
    worst = min(failures, key=_gravity)
    if not done:
        return Unavailable(worst.message) if isinstance(worst, NeverArrived) else worst
    if not isinstance(worst, NoonmarkError):
        _log.error("a part of a batch failed unexpectedly", traceback="".join(traceback.format_exception(worst)))
    why = worst.message if isinstance(worst, NoonmarkError) else "something went wrong inside the node"
    unknown = " (where the answer was lost, some may be done as well)" if isinstance(worst, AnswerLost) else ""
    labels = ", ".join(parts.label(position) for position in done)
    return PartlyDone(
        f"{len(done)} of {len(parts.items)} were done: {labels}. The others were not{unknown}: {why}",
        fix="send those that are not named again",
    )


def _gravity(failure: BaseException) -> int:
    if isinstance(failure, AnswerLost):
        return 1
    if isinstance(failure, Unavailable):
        return 3
    return 2 if isinstance(failure, NoonmarkError) else 0
