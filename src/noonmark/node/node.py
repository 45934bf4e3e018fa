"""The node: one process that lives one life after another, and that the API asks for everything.

When a life fails, the next begins at once; while the database cannot be reached, the pauses between lives grow. A stop
commits all decisions, gives the shards back and ends the node's row, so that other nodes take over at once.
"""

import asyncio
from contextlib import suppress
from typing import Any, cast

import asyncpg
import structlog

from noonmark.clock import Clock, MonotonicClock, monotonic_s
from noonmark.errors import InvalidInput, NotFound, NotOwner, Unavailable
from noonmark.model.ids import TenantId
from noonmark.model.notice import OWN_TASKS
from noonmark.node import dispatch
from noonmark.node.board import Board
from noonmark.node.commands.carry_out import carry_out
from noonmark.node.committer import LeasePassed
from noonmark.node.config import NodeConfig
from noonmark.node.life import Life
from noonmark.node.loops.every import every_loop
from noonmark.node.loops.notifier import NotifierLoop
from noonmark.node.loops.ownership import renew
from noonmark.node.loops.pager import next_page
from noonmark.node.metrics import NodeMetrics
from noonmark.node.perform import perform
from noonmark.node.sleep_watch import SleepWatch
from noonmark.node.transport import NodeTransport, Performed, read_command
from noonmark.shard.outbox import Batch
from noonmark.store.connect import Connection, Pool, connect, open_pool, read_clock
from noonmark.store.fence import Fenced
from noonmark.store.migrate import load_node_secret, make_partitions, migrate
from noonmark.store.ownership import end_node
from noonmark.store.tenants import load_tenants
from noonmark.store.workers import declare_tasks
from noonmark.version import __version__
from noonmark.wire import worker as wire
from noonmark.wire.commands import Answer, Command

log = structlog.get_logger("noonmark.node")


class Node:
    version = __version__

    def __init__(self, config: NodeConfig, address: str) -> None:
        self.config = config
        self.address = address
        self.shard_count = 0
        self.clock: Clock = MonotonicClock()
        self.metrics = NodeMetrics(lambda: self._life, self._tenant_name)
        self._pool: Pool | None = None
        self._life: Life | None = None
        self._notifier: NotifierLoop | None = None
        self._tenants: dict[str, int] = {}
        self._others = NodeTransport()
        self.sleep_watch = SleepWatch(config.lease_s)
        self._stopping = asyncio.Event()
        self.board: Board | None = None
        """The pages of all processes of this node, if it has several."""
        self.living = asyncio.Event()
        """Set while there is a life."""

    # -- lives -------------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Runs until `stop`, and returns when other nodes can take over."""
        watching = asyncio.create_task(self.sleep_watch.run())
        try:
            await self._run()
        finally:
            watching.cancel()

    async def _run(self) -> None:
        await self._open()
        pause_s = 0.0
        while not self._stopping.is_set():
            began_s = monotonic_s()
            try:
                await self._live()
            except Exception as error:
                log.error("life ended", error=_sentence(error), node_id=self._life and self._life.node_id)
                if isinstance(_first(error), Fenced | LeasePassed):
                    self.sleep_watch.woke(monotonic_s())
                await self._end_life()
            if monotonic_s() - began_s > 5.0:
                pause_s = 0.0
            elif not self._stopping.is_set():
                pause_s = min(2.0, pause_s * 2 or 0.1)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stopping.wait(), pause_s)
        await self._others.close()
        if self._pool is not None:
            self._pool.terminate()

    def stop(self) -> None:
        self._stopping.set()

    async def _open(self) -> None:
        """Waits for the database, brings its schema up to date and opens the pool."""
        connection = await self._reach()
        try:
            self.shard_count = await migrate(connection, self.config.shards)
            before_s = monotonic_s()
            now_us = await read_clock(connection)
            assert isinstance(self.clock, MonotonicClock)
            self.clock.observe(before_s, now_us, monotonic_s())
            await make_partitions(connection, self.clock)
            self._others.secret = await load_node_secret(connection)
            if self.board is not None and self.board.predecessor:
                await end_node(connection, self.board.predecessor)  # its shards need not wait for its lease
        finally:
            await connection.close()
        self._pool = await open_pool(self.config.database_url, self.config.pool_size)

    async def _reach(self) -> Connection:
        while True:
            try:
                return await connect(self.config.database_url)
            except (OSError, TimeoutError, asyncpg.PostgresConnectionError, asyncpg.CannotConnectNowError) as error:
                log.warning("cannot reach the database", error=_sentence(error))
                await asyncio.sleep(0.5)

    async def _live(self) -> None:
        assert isinstance(self.clock, MonotonicClock)
        life = await Life.begin(self.config, self.clock, self.pool, self.address, self.version, self.shard_count)
        self.metrics.lives += 1
        life.committer.on_commit = self._note_commit
        life.committer.next_page = lambda: next_page(life)
        self._life = life
        self._notifier = notifier = NotifierLoop(life)
        await notifier.refresh()
        await renew(life)
        self.living.set()
        log.info("life began", node_id=life.node_id, address=self.address)
        going = asyncio.create_task(life.run(*every_loop(life, notifier, self.metrics)))
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait((going, stopping), return_when=asyncio.FIRST_COMPLETED)
            if stopping.done() and not going.done():
                life.end_claims()
                with suppress(Exception):
                    await asyncio.wait_for(life.committer.flush(), 5.0)
                going.cancel()
            await asyncio.wait((going,))
            if stopping.done():
                await self._end_life()
            elif (error := going.exception()) is not None:
                raise error
        finally:
            stopping.cancel()
            going.cancel()

    async def _end_life(self) -> None:
        """Ends the row of the life that is over, so that its shards are free at once."""
        life, self._life = self._life, None
        self.living.clear()
        if life is None:
            return
        self.metrics.keep(life)
        with suppress(Exception):
            connection = await connect(self.config.database_url, timeout_s=2.0)
            try:
                await asyncio.wait_for(end_node(connection, life.node_id), 4.0)
            finally:
                await connection.close()

    def _note_commit(self, batch: Batch, seconds: float) -> None:
        self.metrics.commit_seconds.observe(seconds)
        self.metrics.commit_rows.observe(len(batch.created) + len(batch.ended) + len(batch.attempts))

    # -- for the API ------------------------------------------------------------------------------------------------

    @property
    def pool(self) -> Pool:
        if self._pool is None:
            raise Unavailable("the node is starting")
        return self._pool

    @property
    def ready(self) -> bool:
        if self.board is None:
            return self.balanced
        self.write_page()
        return self.board.ready()

    @property
    def balanced(self) -> bool:
        """This process is ready; the node's other processes may not be."""
        return self._life is not None and self._life.trusted and self._life.balanced.is_set()

    def write_page(self) -> None:
        if self.board is not None:
            node_id = self._life.node_id if self._life is not None else 0
            self.board.write(self.metrics.text().decode(), ready=self.balanced, node_id=node_id)

    @property
    def life(self) -> Life:
        if self._life is None:
            raise Unavailable("the node is joining the fleet")
        return self._life

    def owns(self, shard: int) -> bool:
        return self._life is not None and shard in self._life.terms

    def owner_address(self, shard: int) -> str | None:
        if self._life is None:
            return None
        if shard in self._life.terms:
            return self.address
        owner = self._life.ownership.owners.get(shard)
        return None if owner is None else self._life.ownership.nodes.get(owner)

    def metrics_text(self) -> bytes:
        """The metrics of all processes of the node."""
        if self.board is None:
            return self.metrics.text()
        self.write_page()
        return self.board.metrics()

    async def tenant_id(self, name: str) -> int:
        found = self._tenants.get(name)
        if found is None:
            self._tenants = {known: tenant_id for tenant_id, known, _ in await load_tenants(self.pool)}
            found = self._tenants.get(name)
        if found is None:
            raise NotFound(f"there is no tenant {name!r}", field="tenant")
        return found

    def _tenant_name(self, tenant_id: int) -> str:
        return next((name for name, number in self._tenants.items() if number == tenant_id), str(tenant_id))

    async def declare_tasks(self, names: list[str]) -> None:
        await declare_tasks(self.pool, names)

    async def perform(self, command: Command[Answer]) -> Answer:
        """Carries the command out at the owners of its shards, here or on other nodes; see `perform`."""
        return cast(Answer, (await self.performed(command)).answer)

    async def performed(self, command: Command[Any]) -> Performed:
        """As `perform`; also says whether the command was done before under its key."""
        return await perform(self, self._others.send, command)

    async def carry_out(self, command: Command[Any]) -> Performed:
        """Carries the command out on this node; fails if another owns one of its shards."""
        if self._life is None:
            raise NotOwner("the node is joining the fleet")
        return await carry_out(self._life, command)

    def read_command(self, body: bytes, signature: str) -> Command[Any] | None:
        """Reads a command from another node; None if its signature is wrong."""
        return read_command(self._others.secret, body, signature)

    @property
    def private_webhooks(self) -> bool:
        return self.config.private_webhooks

    async def look_at_subscriptions(self) -> None:
        if self._notifier is not None:
            await self._notifier.refresh()

    async def register(self, message: wire.Register, tenant_id: TenantId | None) -> wire.Registered:
        own = [task for task in message.tasks if task.startswith(OWN_TASKS)]
        if own:
            raise InvalidInput("tasks", f"{own[0][:80]!r} is carried out by nodes", f"choose names without {OWN_TASKS}")
        return await dispatch.register(self.life, message, tenant_id)

    async def claim(self, message: wire.Claim, tenant_id: TenantId | None) -> wire.ClaimAnswer:
        return await dispatch.claim(self.life, message, tenant_id)

    async def heartbeat(self, message: wire.Heartbeat, tenant_id: TenantId | None) -> wire.HeartbeatAnswer:
        return await dispatch.heartbeat(self.life, message, tenant_id)

    async def report(self, message: wire.Report, tenant_id: TenantId | None) -> wire.ReportAnswer:
        return await dispatch.report(self.life, message, tenant_id)


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _sentence(error: BaseException) -> str:
    return f"{type(_first(error)).__name__}: {_first(error)}"
