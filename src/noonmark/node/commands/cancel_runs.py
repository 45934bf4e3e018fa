"""Cancels runs: a waiting run ends now; for a running one, the worker is asked to stop, also under the next owner.

Runs in memory are cancelled there when the turn begins, and their ends go to the outbox. Runs in rows alone (they
sleep, are parked or were spilled) end in the turn's own transaction, which leaves the others' rows alone.
"""

import asyncio

import msgspec

from noonmark.errors import Conflict, NotFound, NotOwner, OutcomeUnknown
from noonmark.model.audit import Entry, entry
from noonmark.model.ids import job_text, run_text, shard_of
from noonmark.model.reason import Outcome, Reason
from noonmark.node.commands.ends import record_end
from noonmark.node.commands.once import remember, request_rows
from noonmark.node.commands.turn import admit, commit_token, no_job, take_turn
from noonmark.node.life import Life
from noonmark.shard.live_run import State
from noonmark.shard.outbox import FixedDelayEnd
from noonmark.store.audit import record
from noonmark.store.commit import follow_fixed_delays
from noonmark.store.connect import Connection
from noonmark.store.fence import fenced
from noonmark.store.job_runs import delete_waiting_runs
from noonmark.store.jobs import delete_waiting_run
from noonmark.wire.commands import CancelRun, CancelRuns, StoppedCounts


async def cancel_run(life: Life, command: CancelRun) -> None:
    key = command.run
    shard = shard_of(key[0])
    in_memory: asyncio.Future[None] | None = None

    def audit_entry(now_us: int) -> Entry:
        return entry(command.caller, command.tenant_id, now_us, "run.cancel", run_text(key))

    def cancel_in_memory() -> None:
        nonlocal in_memory
        live = life.owner.live.get(key)
        if live is not None:
            if live.tenant_id != command.tenant_id:
                raise NotFound(f"there is no run {run_text(key)}", field="run_id")
            now_us = life.clock.now_us()
            life.owner.cancel(key, now_us)
            life.owner.outbox.audit.append(audit_entry(now_us))
            life.owner.outbox.requests += request_rows(command, {shard: None}, now_us)
            in_memory = commit_token(life)

    async def action(connection: Connection) -> None:
        if in_memory is None:
            cancel_in_memory()  # the commit before this may have made it, as the next run of a fixed delay
        if in_memory is not None:
            return
        now_us = life.clock.now_us()
        async with fenced(connection, life.node_id):
            row = await delete_waiting_run(connection, command.tenant_id, *key)
            if row is None:
                raise Conflict(f"the run {run_text(key)} has ended or never was", field="run_id")
            await record_end(connection, [row], Outcome.CANCELLED, Reason.CANCELLED, now_us)
            ends = [FixedDelayEnd(row.shard, row.job_id, row.nominal_us, now_us)]
            followers = await follow_fixed_delays(connection, ends)
            await record(connection, [audit_entry(now_us)])
            await remember(connection, command, {shard: None}, now_us)
        await admit(life, connection, followers)

    await take_turn(life, command, [shard], action, cancel_in_memory)
    if in_memory is not None:
        await in_memory


async def cancel_runs(life: Life, command: CancelRuns) -> StoppedCounts:
    job_id = command.job_id
    shard = shard_of(job_id)
    life.check(shard)
    jobs, _ = await life.job_cache.load(command.tenant_id, [job_id], [])
    if not jobs or jobs[0].tenant_id != command.tenant_id:
        raise no_job()
    states: dict[int, State | None] = {}

    def audit_entry(now_us: int, counts: StoppedCounts) -> Entry:
        after = msgspec.json.encode(counts).decode()
        return entry(command.caller, command.tenant_id, now_us, "job.cancel", job_text(job_id), after=after)

    def in_memory() -> StoppedCounts:
        stopping = sum(state is State.GRANTED for state in states.values())
        return StoppedCounts(len(states) - stopping, stopping)

    def cancel_in_memory() -> None:
        now_us = life.clock.now_us()
        for key in [key for key in life.owner.live if key[0] == job_id]:
            states[key[1]] = life.owner.cancel(key, now_us)
        if states:
            life.owner.outbox.audit.append(audit_entry(now_us, in_memory()))

    async def action(connection: Connection) -> tuple[StoppedCounts, asyncio.Future[None]]:
        now_us = life.clock.now_us()
        kept = [key for key in life.owner.live if key[0] == job_id] + [(job_id, nominal_us) for nominal_us in states]
        async with fenced(connection, life.node_id):
            rows = await delete_waiting_runs(connection, [job_id], kept)
            await record_end(connection, rows, Outcome.CANCELLED, Reason.CANCELLED, now_us)
            ends = [FixedDelayEnd(row.shard, row.job_id, row.nominal_us, now_us) for row in rows]
            followers = await follow_fixed_delays(connection, ends) if ends else []
            if rows:
                await record(connection, [audit_entry(now_us, StoppedCounts(len(rows), 0))])
        await admit(life, connection, followers)
        found = in_memory()
        counts = StoppedCounts(found.cancelled + len(rows), found.stopping)
        # With the runs that were cancelled in memory, which are committed after this.
        life.owner.outbox.requests += request_rows(command, {shard: counts}, now_us)
        return counts, commit_token(life)

    counts, token = await take_turn(life, command, [shard], action, cancel_in_memory)
    try:
        await token
    except NotOwner as error:
        if counts.cancelled == in_memory().cancelled:
            raise
        raise OutcomeUnknown("some runs were cancelled and others were not", fix="send it again") from error
    return counts
