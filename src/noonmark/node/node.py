"""The node: begins life after life, and answers for the one that is going on.

A failed life is followed by the next at once, then after a growing pause while the database cannot be reached. A stop
commits what was decided, gives the shards back and ends the node's row, so that others take over at once.
"""

import asyncio
from contextlib import suppress

import asyncpg
import structlog

from noonmark import __version__
from noonmark.clock import Clock, MonotonicClock, monotonic_s
from noonmark.errors import InvalidInput, NotFound, Unavailable
from noonmark.model.ids import JobId, RunKey
from noonmark.model.job import Applied
from noonmark.model.notice import OWN_TASKS
from noonmark.model.run import Backfilled
from noonmark.node import dispatch
from noonmark.node.commands import backfill, dedup, job_commands, run_commands, skip, upsert
from noonmark.node.commands.cancel_runs import cancel_runs
from noonmark.node.commands.discard import discard
from noonmark.node.commands.retry_run import retry_run
from noonmark.node.config import NodeConfig
from noonmark.node.life import Life
from noonmark.node.loops.deliverer import keep_delivering
from noonmark.node.loops.inbox import keep_draining
from noonmark.node.loops.notifier import Notifier
from noonmark.node.loops.pager import next_page
from noonmark.node.loops.rescuer import keep_hearing, keep_rescuing, keep_tenants
from noonmark.node.loops.ticker import keep_ticking
from noonmark.node.loops.upkeep import keep_history
from noonmark.node.loops.zones import keep_zones
from noonmark.node.metrics import NodeMetrics
from noonmark.node.ownership import keep_ownership, keep_reaping, renew
from noonmark.shard.outbox import Batch
from noonmark.store.connect import Connection, Pool, connect, open_pool
from noonmark.store.migrate import make_partitions, migrate
from noonmark.store.ownership import end_node
from noonmark.store.reads.runs import RunRecord
from noonmark.store.statement import statement
from noonmark.wire import worker as wire
from noonmark.wire.resources import JobPatch, JobSpec, Submission

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
        self._notifier: Notifier | None = None
        self._tenants: dict[str, int] = {}
        self._stopping = asyncio.Event()
        self.living = asyncio.Event()
        """Set while there is a life."""

    # -- lives -------------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Until `stop`; then everything has been handed over."""
        await self._open()
        pause_s = 0.0
        while not self._stopping.is_set():
            began_s = monotonic_s()
            try:
                await self._live()
            except Exception as error:
                log.error("life ended", error=_sentence(error), node_id=self._life and self._life.node_id)
                await self._end_life()
            if monotonic_s() - began_s > 5.0:
                pause_s = 0.0
            elif not self._stopping.is_set():
                pause_s = min(2.0, pause_s * 2 or 0.1)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stopping.wait(), pause_s)
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
            now_us = await connection.fetchval("SELECT clock_timestamp()")
            assert isinstance(self.clock, MonotonicClock)
            self.clock.observe(before_s, now_us, monotonic_s())
            await make_partitions(connection, self.clock)
        finally:
            await connection.close()
        self._pool = await open_pool(self.config.database_url)

    async def _reach(self) -> Connection:
        while True:
            try:
                return await connect(self.config.database_url)
            except (OSError, TimeoutError, asyncpg.PostgresConnectionError, asyncpg.CannotConnectNowError) as error:
                log.warning("cannot reach the database", error=_sentence(error))
                await asyncio.sleep(0.5)

    async def _live(self) -> None:
        assert isinstance(self.clock, MonotonicClock)
        life = await Life.begin(self.config, self.clock, self.pool, self.address, self.version)
        self.metrics.lives += 1
        life.committer.on_commit = self._note_commit
        life.committer.next_page = lambda: next_page(life)
        self._life = life
        self._notifier = notifier = Notifier(life)
        await notifier.refresh()
        await renew(life)
        self.living.set()
        log.info("life began", node_id=life.node_id, address=self.address)
        going = asyncio.create_task(
            life.run(
                keep_ownership, keep_reaping, keep_ticking, keep_rescuing, keep_hearing, keep_tenants, keep_draining,
                keep_history, keep_zones, self._watch_loop,
                lambda _: notifier.run(), lambda life: keep_delivering(life, notifier.subscribed),
            )
        )  # fmt: skip
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

    async def _watch_loop(self, life: Life) -> None:
        while True:
            before_s = monotonic_s()
            await asyncio.sleep(0.25)
            self.metrics.loop_lag_seconds.observe(max(0.0, monotonic_s() - before_s - 0.25))

    def _note_commit(self, batch: Batch, seconds: float) -> None:
        self.metrics.commit_seconds.observe(seconds)
        self.metrics.commit_rows.observe(len(batch.created) + len(batch.ended) + len(batch.attempts))

    # -- what the API asks -------------------------------------------------------------------------------------------

    @property
    def pool(self) -> Pool:
        if self._pool is None:
            raise Unavailable("the node is starting")
        return self._pool

    @property
    def ready(self) -> bool:
        return self._life is not None and self._life.trusted and self._life.balanced.is_set()

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
        return self.metrics.text()

    async def tenant_id(self, name: str) -> int:
        found = self._tenants.get(name)
        if found is None:
            rows = await self.pool.fetch(statement("load_tenants"))
            self._tenants = {row[1]: row[0] for row in rows}
            found = self._tenants.get(name)
        if found is None:
            raise NotFound(f"there is no tenant {name!r}", field="tenant")
        return found

    def _tenant_name(self, tenant_id: int) -> str:
        return next((name for name, number in self._tenants.items() if number == tenant_id), str(tenant_id))

    async def declare_tasks(self, names: list[str]) -> None:
        await self.pool.execute(statement("declare_tasks"), names)

    async def create_jobs(self, tenant_id: int, specs: list[JobSpec]) -> list[JobId]:
        return await job_commands.create_jobs(self.life, tenant_id, specs, self.shard_count)

    async def update_job(self, tenant_id: int, job_id: JobId, patch: JobPatch, expected_version: int | None) -> None:
        await job_commands.update_job(self.life, tenant_id, job_id, patch, expected_version)

    async def delete_job(self, tenant_id: int, job_id: JobId, expected_version: int | None) -> None:
        await job_commands.delete_job(self.life, tenant_id, job_id, expected_version)

    async def pause_job(self, tenant_id: int, job_id: JobId) -> None:
        await job_commands.pause_job(self.life, tenant_id, job_id)

    async def resume_job(self, tenant_id: int, job_id: JobId) -> None:
        await job_commands.resume_job(self.life, tenant_id, job_id)

    async def apply_job(
        self, tenant_id: int, spec: JobSpec, *, expected_version: int | None, create_only: bool
    ) -> Applied:
        return await upsert.apply_job(
            self.life, tenant_id, spec, self.shard_count, expected_version=expected_version, create_only=create_only
        )

    async def apply_jobs(self, tenant_id: int, specs: list[JobSpec], *, dry_run: bool) -> list[Applied]:
        return await upsert.apply_jobs(self.life, tenant_id, specs, self.shard_count, dry_run=dry_run)

    async def replace_job(self, tenant_id: int, job_id: JobId, spec: JobSpec, expected_version: int | None) -> None:
        await upsert.replace_job(self.life, tenant_id, job_id, spec, expected_version)

    async def skip(self, tenant_id: int, job_id: JobId, nominal_us: int | None) -> RunKey:
        return await skip.skip(self.life, tenant_id, job_id, nominal_us)

    async def unskip(self, tenant_id: int, job_id: JobId, nominal_us: int | None) -> RunKey:
        return await skip.unskip(self.life, tenant_id, job_id, nominal_us)

    async def backfill(
        self, tenant_id: int, job_id: JobId, from_us: int, to_us: int, limit: int, *, dry_run: bool
    ) -> Backfilled:
        return await backfill.backfill(self.life, tenant_id, job_id, from_us, to_us, limit, dry_run=dry_run)

    async def submit(self, tenant_id: int, submissions: list[Submission]) -> list[RunKey]:
        if any(submission.dedup_key is not None for submission in submissions):
            return await dedup.submit_once(self.life, tenant_id, submissions, self.shard_count)
        return await run_commands.submit(self.life, tenant_id, submissions, self.shard_count)

    async def submit_run(self, tenant_id: int, submission: Submission) -> tuple[RunKey, RunRecord]:
        return await run_commands.submit_run(self.life, tenant_id, submission, self.shard_count)

    async def cancel_run(self, tenant_id: int, key: RunKey) -> None:
        await run_commands.cancel_run(self.life, tenant_id, key)

    async def cancel_runs(self, tenant_id: int, job_id: JobId) -> tuple[int, int]:
        return await cancel_runs(self.life, tenant_id, job_id)

    async def retry_run(self, tenant_id: int, key: RunKey) -> None:
        await retry_run(self.life, tenant_id, key)

    async def discard(self, tenant_id: int, keys: list[RunKey]) -> int:
        return await discard(self.life, tenant_id, keys)

    async def redrive(self, tenant_id: int, keys: list[RunKey]) -> int:
        return await run_commands.redrive(self.life, tenant_id, keys)

    @property
    def private_webhooks(self) -> bool:
        return self.config.private_webhooks

    async def look_at_subscriptions(self) -> None:
        if self._notifier is not None:
            await self._notifier.refresh()

    async def register(self, message: wire.Register) -> wire.Registered:
        own = [task for task in message.tasks if task.startswith(OWN_TASKS)]
        if own:
            raise InvalidInput("tasks", f"{own[0][:80]!r} is carried out by nodes", f"choose names without {OWN_TASKS}")
        return await dispatch.register(self.life, message)

    async def claim(self, message: wire.Claim) -> wire.ClaimAnswer:
        return await dispatch.claim(self.life, message)

    async def heartbeat(self, message: wire.Heartbeat) -> wire.HeartbeatAnswer:
        return await dispatch.heartbeat(self.life, message)

    async def report(self, message: wire.Report) -> wire.ReportAnswer:
        return await dispatch.report(self.life, message)


def _sentence(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"
