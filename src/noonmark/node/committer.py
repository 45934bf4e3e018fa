"""The committer: the one place where a node's decisions become durable, one after the other.

It alternates between batches (all that the owner decided since the last one, in one transaction) and *units*: work with
its own transaction, such as a tick, a page or a change of a job. While one is under way the next batch gathers, so
groups grow with the load and an idle node commits at once.

Invariants
- Nothing of this node writes to owned tables but the committer, and it does one thing at a time.
- Before a unit begins, the outbox is taken and the unit's `prepare` runs, with no event between the two; the outbox is
  committed first. So a unit sees in the database every decision from before its `prepare`; later decisions are still in
  the outbox.
- Runs that a commit made by itself (the next runs of fixed delays) are in memory before the unit's action begins. A
  job whose runs `prepare` took out of memory may have such a run there again, so the action looks once more.
- The page to read is chosen together with the outbox that is committed before it. A run that is passed over later sets
  a new mark.
- Answers are released only after the commit that makes them true, and only while the lease holds: a node that slept
  right after a commit must not hand out runs that another node may have granted since.
- After a failure nothing more is written: it may be unknown whether the last commit happened, so the life ends. Every
  caller that waits gets one of two errors: nothing was done, or the outcome is unknown.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

from noonmark.clock import SECOND_US, Clock, monotonic_s
from noonmark.errors import NoonmarkError, NotOwner, OutcomeUnknown, Unavailable
from noonmark.model.run import RunRow
from noonmark.shard.answers import Granted
from noonmark.shard.outbox import Batch
from noonmark.shard.owner import Owner
from noonmark.store.commit import commit_batch
from noonmark.store.connect import Connection
from noonmark.store.fence import Fenced, NotCommitted

T = TypeVar("T")


class LeasePassed(Exception):
    """The node slept after a commit: another node may have granted the same runs since."""


class _Unit(Generic[T]):
    def __init__(
        self, prepare: Callable[[], None] | None, action: Callable[[Connection], Awaitable[T]], done: asyncio.Future[T]
    ) -> None:
        self.prepare = prepare
        self.action = action
        self.done = done


class Committer:
    def __init__(
        self, connection: Connection, node_id: int, owner: Owner, clock: Clock, trusted: Callable[[], bool]
    ) -> None:
        self._connection = connection
        self._node_id = node_id
        self._owner = owner
        self._clock = clock
        self._trusted = trusted
        self._wanted = asyncio.Event()
        self._units: deque[_Unit[Any]] = deque()
        self.next_page: Callable[[], Callable[[], Awaitable[None]] | None] = lambda: None
        """The pager sets this: it gives the page to read after this turn's commit, or None."""
        self.on_followers: Callable[[list[RunRow]], Awaitable[None]] = _nothing_follows
        """Gets the runs that a commit made by itself, before anything else is done."""
        self.closed = False
        self.on_commit: Callable[[Batch, float], None] = lambda batch, seconds: None

    def wake(self) -> None:
        self._wanted.set()

    async def perform(
        self, action: Callable[[Connection], Awaitable[T]], prepare: Callable[[], None] | None = None
    ) -> T:
        """Runs `action` in its turn. A NoonmarkError from it goes to the caller and changes nothing else."""
        if self.closed:
            raise NotOwner("the node is losing its shards")
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._units.append(_Unit(prepare, action, done))
        self.wake()
        return await done

    async def run(self) -> None:
        """Until cancelled, or until a commit fails: then the failure is raised."""
        try:
            while True:
                await self._wait()
                await self._turn()
        finally:
            self.closed = True
            for unit in self._units:
                if not unit.done.done():
                    unit.done.set_exception(_not_begun())

    async def flush(self) -> None:
        """Returns when all that was decided so far is durable."""

        async def nothing(connection: Connection) -> None:
            return None

        await self.perform(nothing)

    async def _wait(self) -> None:
        if self._units:
            return
        due_us = self._owner.next_due_us()
        wait_s = 1.0 if due_us is None else min(1.0, (due_us - self._clock.now_us()) / SECOND_US)
        if wait_s > 0:
            timer = asyncio.get_running_loop().call_later(wait_s, self._wanted.set)
            await self._wanted.wait()
            timer.cancel()
        self._wanted.clear()

    async def _turn(self) -> None:
        unit = self._units.popleft() if self._units else None
        self._owner.advance(self._clock.now_us())
        batch = self._owner.take_outbox()
        read_page = self.next_page()
        if unit is not None and unit.prepare is not None:
            try:
                unit.prepare()
            except NoonmarkError as error:
                _fail(unit.done, error)
                unit = None
        if batch:
            try:
                await self._commit(batch)
            except BaseException as error:
                for token, _ in batch.answers:
                    _fail(token, _outcome(error))
                if unit is not None:
                    _fail(unit.done, _not_begun())
                raise
        if unit is not None:
            try:
                await self._act(unit)
            except BaseException as error:
                _fail(unit.done, _outcome(error))
                raise
        if read_page is not None:
            await read_page()

    async def _commit(self, batch: Batch) -> None:
        started_s = monotonic_s()
        followers = await commit_batch(self._connection, self._node_id, batch)
        if followers:
            await self.on_followers(followers)
            self.wake()
        self._release(batch)
        self.on_commit(batch, monotonic_s() - started_s)

    async def _act(self, unit: _Unit[Any]) -> None:
        try:
            result = await unit.action(self._connection)
        except NoonmarkError as error:
            _fail(unit.done, error)
        else:
            if not unit.done.done():
                unit.done.set_result(result)
        if self._owner.outbox:
            self.wake()

    def _release(self, batch: Batch) -> None:
        if batch.answers and not self._trusted():
            raise LeasePassed("the lease passed before the answers could be released")
        # Grants first: a run waits for its start, the caller that submitted it only for the news.
        for token, answer in sorted(batch.answers, key=lambda item: not isinstance(item[1], Granted)):
            assert isinstance(token, asyncio.Future)
            if isinstance(answer, Granted):
                if token.done():
                    self._owner.return_grant(answer.grant_id, self._clock.now_us())
                    self.wake()
                else:
                    self._owner.fleet.delivered(answer.grant_id, self._clock.now_us())
            if not token.done():
                token.set_result(answer)


async def _nothing_follows(rows: list[RunRow]) -> None:
    return None


def _not_begun() -> NotOwner:
    return NotOwner("the node lost its shards before it began; nothing was done")


def _outcome(error: BaseException) -> NoonmarkError:
    """The error for the callers of a transaction that failed."""
    if isinstance(error, NotCommitted) and error.refused:
        return Unavailable("the database refused the transaction; nothing was done")
    if isinstance(error, (Fenced, NotCommitted)):
        return NotOwner("the node lost its shards; nothing was done")
    return OutcomeUnknown(
        "the node lost its shards, and it is unknown whether this was done",
        fix="send it again with the same Idempotency-Key, or look first",
    )


def _fail(future: Any, error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
