"""Drains the inbox: submissions that users made inside their own SQL transactions.

The inbox is asked every `inbox_s` and again at once while it has rows; no bell is needed, so users' commits are
never serialised behind a notification.
"""

from noonmark.errors import NotOwner
from noonmark.model.reason import Reason
from noonmark.model.run import RunRow
from noonmark.node.commands.dead_letters import park_paused
from noonmark.node.life import Life
from noonmark.node.loop import Loop
from noonmark.planning.runs import asleep_beyond, make_run
from noonmark.store.commit import insert_runs
from noonmark.store.connect import Connection
from noonmark.store.fence import fenced
from noonmark.store.jobs import drain_inbox, load_job_rows, peek_inbox

_MAX_ROWS = 2_000


class InboxLoop(Loop):
    name = "inbox"

    def __init__(self, life: Life) -> None:
        super().__init__(life.config.inbox_s)
        self._life = life

    async def tick(self) -> None:
        terms = list(self._life.terms)
        waits = terms and await peek_inbox(self._life.pool, terms)
        if waits and await drain(self._life) == _MAX_ROWS:
            self.bell.set()


async def drain(life: Life) -> int:
    """Turns inbox rows into runs, in one transaction; those of deleted jobs are dropped with them."""

    async def action(connection: Connection) -> int:
        now_us = life.clock.now_us()
        async with fenced(connection, life.node_id):
            rows = await drain_inbox(connection, list(life.terms), _MAX_ROWS)
            jobs = {job.job_id: job for job in await load_job_rows(connection, list({row.job_id for row in rows}))}
            runs: list[RunRow] = []
            for row in rows:
                job = jobs.get(row.job_id)
                if job is None:
                    continue
                nominal_us = life.owner.next_nominal_us(now_us)
                due_us = max(nominal_us, row.due_us or nominal_us)
                given = row.input if row.has_input else job.input
                run = make_run(job, nominal_us, due_us, Reason.SUBMITTED, given, row.priority)
                runs.append(asleep_beyond(run, life.owner.watermarks[job.shard]))
            await insert_runs(connection, runs)
            await park_paused(life, connection, jobs.values())
        await life.know_policies(connection, {row.policy_id for row in runs})
        for run in runs:
            if not run.sleeps and jobs[run.job_id].active:
                life.owner.admit(run, life.clock.now_us())
        return len(rows)

    try:
        return await life.committer.perform(action)
    except NotOwner:
        if life.committer.closed:
            raise
        return 0
