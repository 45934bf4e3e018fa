"""Drains the inbox: submissions that users made inside their own SQL transactions.

The inbox is asked every `inbox_s` and again at once while it has rows; nobody needs to ring, so users' commits are
never serialised behind a notification.
"""

import asyncio

from noonmark.errors import NotOwner
from noonmark.model.reason import Reason
from noonmark.model.run import RunRow
from noonmark.node.commands.dead_letters import park_paused
from noonmark.node.life import Life
from noonmark.planning.runs import asleep_beyond, make_run
from noonmark.store.commit import insert_runs
from noonmark.store.connect import Connection
from noonmark.store.fence import fenced
from noonmark.store.jobs import drain_inbox, load_job_rows
from noonmark.store.statement import statement

_MOST = 2_000


async def keep_draining(life: Life) -> None:
    while True:
        if life.terms and await life.pool.fetchval(statement("peek_inbox"), list(life.terms)):
            drained = await drain(life)
            if drained == _MOST:
                continue
        await asyncio.sleep(life.config.inbox_s)


async def drain(life: Life) -> int:
    """Turns inbox rows into runs, in one transaction; those of deleted jobs are dropped with them."""

    async def action(connection: Connection) -> int:
        now_us = life.clock.now_us()
        async with fenced(connection, life.node_id):
            rows = await drain_inbox(connection, list(life.terms), _MOST)
            heads = {head.job_id: head for head in await load_job_rows(connection, list({row.job_id for row in rows}))}
            runs: list[RunRow] = []
            for row in rows:
                head = heads.get(row.job_id)
                if head is None:
                    continue
                nominal_us = life.owner.next_nominal_us(now_us)
                due_us = max(nominal_us, row.due_us or nominal_us)
                given = row.input if row.has_input else head.input
                run = make_run(head, nominal_us, due_us, Reason.SUBMITTED, given, row.priority)
                runs.append(asleep_beyond(run, life.owner.watermarks[head.shard]))
            await insert_runs(connection, runs)
            await park_paused(life, connection, heads.values())
        await life.know_policies(connection, {row.policy_id for row in runs})
        for run in runs:
            if not run.sleeps and heads[run.job_id].active:
                life.owner.admit(run, life.clock.now_us())
        return len(rows)

    try:
        return await life.committer.perform(action)
    except NotOwner:
        if life.committer.closed:
            raise
        return 0
