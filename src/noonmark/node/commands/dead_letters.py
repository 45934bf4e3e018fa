"""Dead letters: taken back as runs, or removed for good; the history of their attempts stays."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from noonmark.model.audit import entry
from noonmark.model.ids import JobId, RunKey, shard_of
from noonmark.model.job_row import JobRow
from noonmark.node.commands.ends import audit_details
from noonmark.node.commands.once import by_shard, remember
from noonmark.node.commands.turn import admit, take_turn
from noonmark.node.life import Life
from noonmark.store import jobs as store
from noonmark.store.audit import record
from noonmark.store.connect import Connection
from noonmark.store.fence import fenced
from noonmark.store.job_runs import park_runs
from noonmark.wire.commands import Command, DiscardRuns, RedriveRuns


async def redrive_runs(life: Life, command: RedriveRuns) -> list[bool]:
    shards = command.shards(life.shard_count)
    return await redrive(life, command, command.runs, lambda done: by_shard(shards, done))


async def redrive(
    life: Life, command: Command[Any], keys: Sequence[RunKey], answers: Callable[[list[bool]], Mapping[int, Any]]
) -> list[bool]:
    """Whether each was a dead letter and is a run again.

    `answers` turns that into the answers that are kept under the command's key.
    """
    shards = {shard_of(job_id) for job_id, _ in keys}

    async def action(connection: Connection) -> list[bool]:
        now_us = life.clock.now_us()
        async with fenced(connection, life.node_id):
            due_us = min(now_us, *(life.owner.watermarks[shard] for shard in shards))
            rows = await store.redrive_dead(connection, command.tenant_id, keys, due_us)
            jobs = await store.load_job_rows(connection, list({row.job_id for row in rows}))
            paused = await park_paused(life, connection, jobs)
            taken = {row.key for row in rows}
            done = [key in taken for key in keys]
            if rows:
                subject, after = audit_details([row.key for row in rows])
                audit_entry = entry(command.caller, command.tenant_id, now_us, "dead.redrive", subject, after=after)
                await record(connection, [audit_entry])
            await remember(connection, command, answers(done), now_us)
        await admit(life, connection, [row for row in rows if row.job_id not in paused])
        return done

    return await take_turn(life, command, shards, action)


async def discard_runs(life: Life, command: DiscardRuns) -> list[bool]:
    shards = command.shards(life.shard_count)

    async def action(connection: Connection) -> list[bool]:
        now_us = life.clock.now_us()
        async with fenced(connection, life.node_id):
            gone = await store.discard_dead(connection, command.tenant_id, command.runs)
            removed = set(gone)
            done = [key in removed for key in command.runs]
            if gone:
                subject, before = audit_details(gone)
                audit_entry = entry(command.caller, command.tenant_id, now_us, "dead.discard", subject, before=before)
                await record(connection, [audit_entry])
            await remember(connection, command, by_shard(shards, done), now_us)
        return done

    return await take_turn(life, command, set(shards), action)


async def park_paused(life: Life, connection: Connection, jobs: Iterable[JobRow]) -> set[JobId]:
    """Runs that a paused job has just got wait for its resume; answers which of the jobs are paused."""
    paused = {job.job_id for job in jobs if not job.active}
    if paused:
        await park_runs(connection, paused, life.owner.granted_of(paused))
    return paused
