"""Makes up for occurrences of the past that have no run: made under their own nominal times, so never twice.

Only occurrences that the ticks have passed are looked at: a later one may still get its run from a tick.
"""

import asyncio

from noonmark.errors import InvalidInput, JobPaused, VersionConflict
from noonmark.model.audit import entry
from noonmark.model.ids import job_text, shard_of
from noonmark.model.reason import Reason
from noonmark.model.run import RunRow
from noonmark.node.commands.ends import audit_details
from noonmark.node.commands.intern import make_plans
from noonmark.node.commands.once import remember
from noonmark.node.commands.turn import admit, current_job, fire, known_job, stored_spec, take_turn
from noonmark.node.life import Life
from noonmark.planning.occurrences import past_range
from noonmark.planning.runs import asleep_beyond, make_run
from noonmark.schedule import recurrence as read_recurrence
from noonmark.store.audit import record
from noonmark.store.connect import Connection
from noonmark.store.fence import fenced
from noonmark.store.skips import find_known_runs
from noonmark.wire.commands import Backfilled, BackfillJob

_AT_ONCE = 1_000
"""Other work goes on between two turns."""


async def backfill_job(life: Life, command: BackfillJob) -> Backfilled:
    """The request's key is written last: if it is sent again before that, it makes the runs that are missing."""
    tenant_id, limit = command.tenant_id, command.limit
    job = await known_job(life, tenant_id, command.job_id)
    if not job.active:
        raise JobPaused(f"the job {job.name!r} is paused", field="job", fix="resume it first")
    [plan] = await make_plans(life.pool, tenant_id, [await stored_spec(life, job)], [job.created_us])
    if plan.timing.text is None:
        raise InvalidInput("job", "its schedule names no times that recur", "submit a run: POST /v1/jobs/{job}/trigger")
    watermark_us = life.owner.watermarks[job.shard]
    first_us, last_us = past_range(job, plan.timing, command.from_us, command.to_us, life.clock.now_us(), watermark_us)
    text = plan.timing.text
    times = await asyncio.to_thread(lambda: read_recurrence(text).between(first_us - 1, last_us, limit + 1))
    next_us = times[limit] if len(times) > limit else None
    made: list[int] = []
    known = 0
    for start in range(0, min(limit, len(times)), _AT_ONCE):
        part = times[start : min(limit, start + _AT_ONCE)]
        new = await _make(life, command, job.schedule_id, part)
        known += len(part) - len(new)
        made += new
    answer = Backfilled(made, known, next_us)
    if command.key is not None and not command.dry_run:
        await take_turn(life, command, [job.shard], lambda connection: _remember(life, connection, command, answer))
    return answer


async def _remember(life: Life, connection: Connection, command: BackfillJob, answer: Backfilled) -> None:
    async with fenced(connection, life.node_id):
        await remember(connection, command, {shard_of(command.job_id): answer}, life.clock.now_us())


async def _make(life: Life, command: BackfillJob, schedule_id: int | None, times: list[int]) -> list[int]:
    job_id = command.job_id

    async def action(connection: Connection) -> list[int]:
        job = await current_job(connection, command.tenant_id, job_id, None)
        if job.schedule_id != schedule_id or not job.active:
            raise VersionConflict("the job was changed meanwhile", field="job", fix="look at it and ask again")
        known = await find_known_runs(connection, job, times)
        new = [nominal_us for nominal_us in times if nominal_us not in known]
        if command.dry_run or not new:
            return new
        now_us = life.clock.now_us()
        watermark_us = life.owner.watermarks[job.shard]
        rows: list[RunRow] = [
            asleep_beyond(make_run(job, nominal_us, now_us, Reason.BACKFILLED, job.input), watermark_us)
            for nominal_us in new
        ]
        async with fenced(connection, life.node_id):
            await fire(life, connection, rows)
            _, after = audit_details([row.key for row in rows])
            subject = job_text(job_id)
            audit_entry = entry(command.caller, command.tenant_id, now_us, "job.backfill", subject, after=after)
            await record(connection, [audit_entry])
        await admit(life, connection, rows)
        return new

    return await take_turn(life, command, [shard_of(job_id)], action)
