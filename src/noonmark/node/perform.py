"""Carries a command out at the owners of its shards: here, or at the nodes that own them.

    split the items by owner ──> here: carried out              ──> done
                             └─> there: sent over                ──> done
                                   nobody, not_owner, no connection ──> nothing was done: split again
                                   nobody knows, and it has a key   ──> split again: the key makes it exact
                                   anything else                    ──> stop
    until the command's deadline, by the database's clock.

Each owner's part is all or nothing. Across owners there is no transaction: if one part fails after another was done,
the answer is `partly_done`, which names what was done by its place in the batch. A repetition with the same key does
the rest. If no part was done, the answer is the failure itself.
"""

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

import structlog

from noonmark.clock import Clock
from noonmark.errors import NoonmarkError, NotFound, NotOwner, OutcomeUnknown, PartlyDone, Unavailable
from noonmark.node.transport import Performed
from noonmark.wire.commands import BatchCommand, Command

_log = structlog.get_logger("noonmark.node")

_PAUSE_S = 0.1


class Here(Protocol):
    """The node that carries out, or passes on."""

    address: str
    clock: Clock
    shard_count: int

    def owner_address(self, shard: int) -> str | None: ...

    async def carry_out(self, command: Command[Any]) -> Performed:
        """NotOwner if a shard of the command is not owned here: then nothing was done."""


Send = Callable[[str, Command[Any], int], Awaitable[Performed]]


async def perform(here: Here, send: Send, command: Command[Any]) -> Performed:
    shards = command.shards(here.shard_count)
    if any(shard >= here.shard_count for shard in shards):
        raise NotFound("there is no such job or run: its id leads to no shard")
    done: dict[int, Any] = {}
    replayed = True
    pending = list(range(len(shards)))
    unknown: dict[int, BaseException] = {}
    while pending:
        by_owner = _split(here, shards, pending)
        pending = by_owner.pop(None, [])
        failures: list[BaseException] = [Unavailable("nobody owns the shard right now")] if pending else []
        parts = {address: command.part(positions) for address, positions in by_owner.items()}
        outcomes = await asyncio.gather(
            *(_do(here, send, str(address), part) for address, part in parts.items()), return_exceptions=True
        )
        final = False
        for positions, outcome in zip(by_owner.values(), outcomes, strict=True):
            _note(unknown, positions, outcome)
            if isinstance(outcome, BaseException):
                failures.append(outcome)
                pending += positions
                final |= not _may_repeat(outcome, command)
            else:
                answers = outcome.answer if isinstance(command, BatchCommand) else [outcome.answer]
                done.update(zip(positions, answers, strict=True))
                replayed &= outcome.replayed
        if failures and (final or here.clock.now_us() > command.deadline_us):
            raise _verdict(command, sorted(done), [*failures, *unknown.values()])
        if pending:
            await asyncio.sleep(_PAUSE_S)
    answers = [done[position] for position in range(len(shards))]
    return Performed(answers if isinstance(command, BatchCommand) else answers[0], replayed and bool(shards))


async def _do(here: Here, send: Send, address: str, part: Command[Any]) -> Performed:
    if address == here.address:
        return await here.carry_out(part)
    return await send(address, part, here.clock.now_us())


def _split(here: Here, shards: Sequence[int], positions: Sequence[int]) -> dict[str | None, list[int]]:
    by_owner: dict[str | None, list[int]] = {}
    owners: dict[int, str | None] = {}
    for position in positions:
        shard = shards[position]
        if shard not in owners:
            owners[shard] = here.owner_address(shard)
        by_owner.setdefault(owners[shard], []).append(position)
    return by_owner


def _may_repeat(failure: BaseException, command: Command[Any]) -> bool:
    return isinstance(failure, NotOwner) or (isinstance(failure, OutcomeUnknown) and command.key is not None)


def _note(unknown: dict[int, BaseException], positions: Sequence[int], outcome: Performed | BaseException) -> None:
    """Keeps what may have been done in one of the rounds: that nobody can be asked later does not undo it.

    An answer or a refusal ends the doubt: it comes from an owner who looked the key up first.
    """
    for position in positions:
        if isinstance(outcome, OutcomeUnknown):
            unknown[position] = outcome
        elif isinstance(outcome, (Performed, NoonmarkError)) and not isinstance(outcome, Unavailable):
            unknown.pop(position, None)


def _verdict(command: Command[Any], done: list[int], failures: list[BaseException]) -> BaseException:
    """The failure that says most: first an unexpected one, then one with an unknown end, then a refusal."""
    worst = min(failures, key=_gravity)
    if not done:
        return worst
    if not isinstance(worst, NoonmarkError):
        _log.error("a part of a batch failed unexpectedly", traceback="".join(traceback.format_exception(worst)))
    why = worst.message if isinstance(worst, NoonmarkError) else "something went wrong inside the node"
    unknown = " (of some it is unknown)" if isinstance(worst, OutcomeUnknown) else ""
    labels = ", ".join(command.label(position) for position in done)
    total = len(getattr(command, command.items)) if isinstance(command, BatchCommand) else 1
    return PartlyDone(
        f"{len(done)} of {total} were done: {labels}. The others were not{unknown}: {why}",
        fix="send it again with the same Idempotency-Key: what was done is not done twice",
    )


def _gravity(failure: BaseException) -> int:
    if isinstance(failure, OutcomeUnknown):
        return 1
    if isinstance(failure, Unavailable):
        return 3
    return 2 if isinstance(failure, NoonmarkError) else 0
