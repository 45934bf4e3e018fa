"""Makes up for occurrences of the past that have no run: made under their own nominal times, so never twice.

Only what the ticks have passed is looked at: a later occurrence may still get its run from them.
"""

import asyncio

from noonmark.errors import InvalidInput, JobPaused, VersionConflict
from noonmark.model.audit import entry
from noonmark.model.ids import JobId, job_text, shard_of
from noonmark.model.reason import Reason
from noonmark.model.run import Backfilled, RunRow
from noonmark.node.commands.asking import asked_by
from noonmark.node.commands.intern import make_plans
from noonmark.node.commands.run_commands import admit, audit_details
from noonmark.node.commands.turn import current_job, fire, known_job, stored_spec
from noonmark.node.life import Life
from noonmark.planning.occurrences import past_range
from noonmark.planning.runs import asleep_beyond, make_run
from noonmark.schedule import recurrence as read_recurrence
from noonmark.store.audit import record
from noonmark.store.connect import Connection
from noonmark.store.fence import fenced
from noonmark.store.skips import find_known_runs

_AT_ONCE = 1_000
"""Other work goes on between two turns."""


async def backfill(
    life: Life, tenant_id: int, job_id: JobId, from_us: int, to_us: int, limit: int, *, dry_run: bool
) -> Backfilled:
    """Looks at the first `limit` occurrences of [from, to]."""
    head = await known_job(life, tenant_id, job_id)
    if not head.active:
        raise JobPaused(f"the job {head.name!r} is paused", field="job", fix="resume it first")
    [plan] = await make_plans(life.pool, tenant_id, [await stored_spec(life, head)], head.created_us)
    if plan.timing.text is None:
        raise InvalidInput("job", "its schedule names no times that recur", "submit a run: POST /v1/jobs/{job}/trigger")
    watermark_us = life.owner.watermarks[head.shard]
    first_us, last_us = past_range(head, plan.timing, from_us, to_us, life.clock.now_us(), watermark_us)
    text = plan.timing.text
    times = await asyncio.to_thread(lambda: read_recurrence(text).between(first_us - 1, last_us, limit + 1))
    next_us = times[limit] if len(times) > limit else None
    made: list[int] = []
    known = 0
    for start in range(0, min(limit, len(times)), _AT_ONCE):
        part = times[start : min(limit, start + _AT_ONCE)]
        new = await _make(life, tenant_id, job_id, head.schedule_id, part, dry_run=dry_run)
        known += len(part) - len(new)
        made += new
    return Backfilled(made, known, next_us)


async def _make(
    life: Life, tenant_id: int, job_id: JobId, schedule_id: int | None, times: list[int], *, dry_run: bool
) -> list[int]:
    caller = asked_by()

    def prepare() -> None:
        life.check(shard_of(job_id))

    async def action(connection: Connection) -> list[int]:
        head = await current_job(life, connection, tenant_id, job_id, None)
        if head.schedule_id != schedule_id or not head.active:
            raise VersionConflict("the job was changed meanwhile", field="job", fix="look at it and ask again")
        known = await find_known_runs(connection, head, times)
        new = [nominal_us for nominal_us in times if nominal_us not in known]
        if dry_run or not new:
            return new
        now_us = life.clock.now_us()
        watermark_us = life.owner.watermarks[head.shard]
        rows: list[RunRow] = [
            asleep_beyond(make_run(head, nominal_us, now_us, Reason.BACKFILLED, head.input), watermark_us)
            for nominal_us in new
        ]
        async with fenced(connection, life.node_id):
            await fire(life, connection, rows)
            _, after = audit_details([row.key for row in rows])
            await record(connection, [entry(caller, tenant_id, now_us, "job.backfill", job_text(job_id), after=after)])
        await admit(life, connection, rows)
        return new

    return await life.committer.perform(action, prepare)
