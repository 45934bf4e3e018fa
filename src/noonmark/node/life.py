"""One life of a node: a node id, its shards, its memory, and the loops that run it.

A life begins with a new row in `node` and owns nothing yet. It ends at a clean stop, when another node declares it
dead, or at the first commit that fails. All waiting callers then get an error, the memory is dropped, and the node
begins its next life. Nothing is ever repaired in place.
"""

import asyncio
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack, suppress
from random import Random
from typing import Any

import structlog

from noonmark.clock import SECOND_US, MonotonicClock, monotonic_s
from noonmark.errors import DeadlinePassed, NoonmarkError, NotOwner
from noonmark.model.ids import JobId, PolicyId, RunKey, TenantId
from noonmark.model.policy import Policy
from noonmark.model.run import RunRow
from noonmark.node.committer import Committer
from noonmark.node.config import NodeConfig
from noonmark.node.in_flight import InFlight
from noonmark.node.job_cache import JobCache
from noonmark.node.loop import Loop
from noonmark.shard.owner import Owner
from noonmark.shard.timetable import Timetable
from noonmark.store.connect import OWNER_SETTINGS, Connection, Pool, connect
from noonmark.store.intern import load_policies
from noonmark.store.ownership import Ownership, name_session, register_node
from noonmark.wire.commands import Command, SubmitRuns

log = structlog.get_logger("noonmark.node")


class DedupRequest:
    """One command's submissions with keys of their own, which happen all or not at all; see `dedup`."""

    def __init__(self, command: SubmitRuns, job_ids: list[JobId]) -> None:
        self.command = command
        self.job_ids = job_ids
        self.answer: list[RunKey] | NoonmarkError | None = None


class Life:
    def __init__(
        self,
        config: NodeConfig,
        clock: MonotonicClock,
        pool: Pool,
        node_id: int,
        connection: Connection,
        lease: Connection,
        shard_count: int,
    ) -> None:
        self.config = config
        self.pool = pool
        self.clock = clock
        self.node_id = node_id
        self.began_us = clock.now_us()
        self.connection = connection
        self.lease = lease
        self.shard_count = shard_count
        self.policies: dict[PolicyId, Policy] = {}
        self.weights: dict[TenantId, int] = {}
        self.owner = Owner(
            node_id=node_id,
            policies=self.policies,
            weights=self.weights,
            limits=config.limits,
            random=Random(node_id).random,
        )
        self.committer = Committer(connection, node_id, self.owner, clock, lambda: monotonic_s() < self.trusted_until_s)
        self.committer.on_followers = self._admit_followers
        self.timetable = Timetable(grace_us=round(config.grace_s * SECOND_US))
        self.job_cache = JobCache(self.committer, self.know_policies)
        self.terms: dict[int, int] = {}
        self.ownership = Ownership({}, {})
        self.trusted_until_s = monotonic_s() + config.lease_s
        self.balanced = asyncio.Event()
        """Set when the node owns its share."""
        self.tick_wanted = asyncio.Event()
        """Set when shards were taken: they lag, and new runs of them sleep until they are ticked."""
        self.loops: dict[str, Loop] = {}
        """By name, once they run."""
        self.in_flight = InFlight()
        self.deduplicated: list[DedupRequest] = []
        """Submissions with keys of their own, which the next turn for such takes together."""
        self.fired = 0
        self.ticked = 0
        """Runs that the last round of ticks made or woke."""
        self.ownership_changes = 0
        self._waiting: set[asyncio.Future[Any]] = set()
        self.claims: set[Callable[[], None]] = set()
        """For each waiting claim, a function that ends the wait."""
        self.leaving = False
        """Set when the node stops: it grants nothing more."""

    @classmethod
    async def begin(
        cls, config: NodeConfig, clock: MonotonicClock, pool: Pool, address: str, version: str, shard_count: int
    ) -> "Life":
        async with AsyncExitStack() as unwind:
            connection = await connect(config.database_url, OWNER_SETTINGS)
            unwind.callback(connection.terminate)
            lease = await connect(config.database_url, {"application_name": "noonmark lease"})
            unwind.callback(lease.terminate)
            node_id = await register_node(
                lease, address, version, config.lease_s, config.public_address, config.process
            )
            await name_session(connection, node_id)
            unwind.pop_all()
            return cls(config, clock, pool, node_id, connection, lease, shard_count)

    async def run(self, *loops: Loop) -> None:
        """Runs until cancelled or until something fails; raises the failure after all callers have their error."""
        self.loops = {loop.name: loop for loop in loops}
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.committer.run())
                for loop in loops:
                    group.create_task(loop.run())
        finally:
            self.committer.closed = True
            for future in list(self._waiting):
                if not future.done():
                    future.set_exception(NotOwner("the node lost its shards; nothing was done"))
            for connection in (self.connection, self.lease):
                with suppress(Exception):
                    connection.terminate()

    @property
    def trusted(self) -> bool:
        """The lease holds: no other node can have taken the shards."""
        return monotonic_s() < self.trusted_until_s and not self.committer.closed

    def check(self, shard: int) -> None:
        if not self.trusted or shard not in self.terms:
            raise NotOwner(f"this node does not own shard {shard}")

    def check_command(self, command: Command[Any], shards: Collection[int]) -> None:
        """Asked when the owner comes to a command, and nothing of it was done.

        A caller that no longer waits may have revoked the command since. The answers that were read for its key hold
        only as long as the shards have not changed hands.
        """
        if self.clock.now_us() > command.deadline_us:
            raise DeadlinePassed("the request lay too long before its owner came to it; nothing was done")
        for shard in shards:
            self.check(shard)
        if command.key is not None:
            terms = self.in_flight.terms(command.tenant_id, command.key.text)
            if any(self.terms[shard] != terms.get(shard) for shard in shards):
                raise NotOwner("the shard changed hands; nothing was done")

    def token(self) -> asyncio.Future[Any]:
        """A future for an answer of the owner; it fails when the life ends."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        future.add_done_callback(self._waiting.discard)
        return future

    def end_claims(self) -> None:
        """Answers all waiting claims: no work, because the node stops."""
        self.leaving = True
        for give_up in list(self.claims):
            give_up()

    async def know_policies(self, connection: Connection, policy_ids: set[PolicyId]) -> None:
        """Before runs enter memory, the policies that they name must be there."""
        missing = policy_ids - self.policies.keys()
        if missing:
            self.policies.update(await load_policies(connection, missing))

    async def _admit_followers(self, rows: list[RunRow]) -> None:
        """Takes in the next runs of fixed delays, which the commit that ended the runs before them has made."""
        await self.know_policies(self.connection, {row.policy_id for row in rows})
        for row in rows:
            if not row.sleeps:
                self.owner.admit(row, self.clock.now_us())
                self.fired += 1

    def policies_of(self, kind: tuple[str, str]) -> list[PolicyId]:
        return [policy_id for policy_id, policy in self.policies.items() if policy.kind == kind]
