"""One life of a node whose clock, ticks and worker a test moves by hand: its real commands on a real PostgreSQL."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from noonmark.clock import NEVER_US, Clock
from noonmark.model.caller import SYSTEM
from noonmark.model.ids import JobId, RunKey, WorkerId
from noonmark.model.job_row import JobRow
from noonmark.model.reason import Outcome
from noonmark.node.commands.carry_out import carry_out
from noonmark.node.config import NodeConfig
from noonmark.node.life import Life
from noonmark.node.loops.ownership import take
from noonmark.node.loops.ticker import tick_all
from noonmark.shard.answers import Granted
from noonmark.store.connect import OWNER_SETTINGS, Connection, Pool, connect, open_pool
from noonmark.store.jobs import load_job_rows
from noonmark.store.ownership import register_node
from noonmark.wire.commands import (
    CancelRun,
    Command,
    CreateJobs,
    DeleteJobs,
    PatchJob,
    PauseJobs,
    ResumeJobs,
    SubmitRuns,
)
from noonmark.wire.resources import JobPatch, JobSpec, Submission
from noonmark.wire.worker import ReportItem
from tests.conftest import SHARDS

T = TypeVar("T")
TENANT = 1
_WORKER = WorkerId(1)
_EMPTY = """
TRUNCATE noonmark.run, noonmark.grant, noonmark.attempt, noonmark.dead, noonmark.job, noonmark.job_skip,
    noonmark.job_version, noonmark.job_event, noonmark.job_label, noonmark.gap, noonmark.lease, noonmark.watermark,
    noonmark.request;
UPDATE noonmark.shard SET owner = NULL, term = 0;
DELETE FROM noonmark.node;
ALTER SEQUENCE noonmark.job_sequence RESTART;
"""


class Database:
    """The connections that lives share, and the event loop on which they are used."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.loop = asyncio.new_event_loop()
        self.pool: Pool = self.do(open_pool(url))
        self.connection: Connection = self.do(connect(url, OWNER_SETTINGS))

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def close(self) -> None:
        self.connection.terminate()
        self.do(self.pool.close())
        self.loop.close()


class NodeByHand:
    """All jobs are in shard 0, so their ids, and with them their places in jitter windows, are 1, 2, 3 …"""

    def __init__(self, database: Database, clock: Clock, lookahead_s: float) -> None:
        self.database = database
        self.clock = clock
        self.do = database.do
        self.do(self._begin(lookahead_s))

    async def _begin(self, lookahead_s: float) -> None:
        connection = self.database.connection
        await connection.execute("DISCARD SEQUENCES")
        await connection.execute(_EMPTY)
        await connection.execute("UPDATE noonmark.shard SET watermark = $1", self.clock.now_us())
        config = NodeConfig(database_url=self.database.url, shards=SHARDS, lookahead_s=lookahead_s)
        node_id = await register_node(connection, "http://by-hand", "1", 3_600)
        self.life = Life(config, self.clock, self.database.pool, node_id, connection, connection, 1)  # type: ignore[arg-type]
        self.life.trusted_until_s = float("inf")
        self._committer = asyncio.create_task(self.life.committer.run())
        await take(self.life, SHARDS)

    def end(self) -> None:
        async def stop() -> None:
            self._committer.cancel()
            await asyncio.gather(self._committer, return_exceptions=True)

        self.do(stop())

    # commands

    def create(self, spec: JobSpec) -> JobId:
        [job_id] = self._perform(CreateJobs, specs=[spec])
        return JobId(job_id)

    def change(self, job_id: JobId, patch: JobPatch) -> None:
        self._perform(PatchJob, job_id=job_id, patch=patch)

    def pause(self, job_id: JobId) -> None:
        self._perform(PauseJobs, job_ids=[job_id])

    def resume(self, job_id: JobId) -> None:
        self._perform(ResumeJobs, job_ids=[job_id])

    def delete(self, job_id: JobId) -> None:
        self._perform(DeleteJobs, job_ids=[job_id])

    def submit(self, submission: Submission) -> None:
        self._perform(SubmitRuns, submissions=[submission])

    def cancel(self, key: RunKey) -> None:
        self._perform(CancelRun, run=key)

    def _perform(self, kind: type[Command[Any]], **said: Any) -> Any:
        """A change waits until the ticks have come up to it, so there must be one."""
        asked = {"tenant_id": TENANT, "caller": SYSTEM, "deadline_us": NEVER_US}

        async def perform() -> Any:
            await tick_all(self.life)
            return (await carry_out(self.life, kind(**asked, **said))).answer

        return self.do(perform())

    # time

    def work(self) -> None:
        """What is due by now is made, run, and ends at once, and so on until nothing more is due."""
        self.do(self._work())

    async def _work(self) -> None:
        life = self.life
        await tick_all(life)
        while True:
            now_us = self.clock.now_us()
            life.owner.fleet.serve(_WORKER, ["default"], ["work"], now_us)
            token = life.token()
            life.owner.claim(token, _WORKER, 1000, now_us)
            await life.committer.flush()
            if not token.done():
                life.owner.withdraw_claim(token)
                token.cancel()
                return
            granted: Granted = token.result()
            ends = [
                ReportItem(
                    granted.grant_id, run.job_id, run.nominal_us, run.attempt + 1, Outcome.SUCCEEDED, now_us, now_us
                )
                for run in granted.runs
            ]
            life.owner.report(life.token(), _WORKER, ends, now_us)
            await life.committer.flush()

    # what there is

    def jobs(self, job_ids: list[JobId]) -> dict[JobId, JobRow]:
        return {row.job_id: row for row in self.do(load_job_rows(self.database.connection, job_ids))}

    def rows(self, query: str) -> set[tuple[Any, ...]]:
        return {tuple(row) for row in self.do(self.database.connection.fetch(query))}
