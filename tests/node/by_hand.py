"""One life of a node whose clock, ticks and worker a test moves by hand: its real commands on a real PostgreSQL."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from noonmark.node.commands.job_commands import create_jobs, delete_job, pause_job, resume_job, update_job
from noonmark.node.commands.run_commands import cancel_run, submit

from noonmark.clock import Clock
from noonmark.model.ids import JobId, RunKey, WorkerId
from noonmark.model.job_row import JobRow
from noonmark.model.reason import Outcome
from noonmark.node.config import NodeConfig
from noonmark.node.life import Life
from noonmark.node.loops.ticker import tick_all
from noonmark.node.ownership import take
from noonmark.shard.answers import Granted
from noonmark.store.connect import OWNER_SETTINGS, Connection, Pool, connect, open_pool
from noonmark.store.jobs import load_job_rows
from noonmark.store.ownership import register_node
from noonmark.wire.resources import JobPatch, JobSpec, Submission
from noonmark.wire.worker import ReportItem
from tests.conftest import SHARDS

T = TypeVar("T")
TENANT = 1
_WORKER = WorkerId(1)
_EMPTY = """
TRUNCATE noonmark.run, noonmark.grant, noonmark.attempt, noonmark.dead, noonmark.job, noonmark.job_skip,
    noonmark.job_version, noonmark.job_event, noonmark.job_label, noonmark.gap;
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
        self.life = Life(config, self.clock, self.database.pool, node_id, connection, connection)  # type: ignore[arg-type]
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
        [job_id] = self.do(create_jobs(self.life, TENANT, [spec], 1))
        return job_id

    def change(self, job_id: JobId, patch: JobPatch) -> None:
        self.do(update_job(self.life, TENANT, job_id, patch, None))

    def pause(self, job_id: JobId) -> None:
        self.do(pause_job(self.life, TENANT, job_id))

    def resume(self, job_id: JobId) -> None:
        self.do(resume_job(self.life, TENANT, job_id))

    def delete(self, job_id: JobId) -> None:
        self.do(delete_job(self.life, TENANT, job_id, None))

    def submit(self, submission: Submission) -> None:
        self.do(submit(self.life, TENANT, [submission], 1))

    def cancel(self, key: RunKey) -> None:
        self.do(cancel_run(self.life, TENANT, key))

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
