"""A turn of the committer that changes one job, and what such turns have in common."""

from collections.abc import Awaitable, Callable

import msgspec

from noonmark.errors import NoonmarkError, NotFound, VersionConflict
from noonmark.model.ids import JobId, shard_of
from noonmark.model.job_row import JobRow
from noonmark.model.run import RunRow
from noonmark.node.commands.run_commands import admit
from noonmark.node.life import Life
from noonmark.planning.occurrences import Moment
from noonmark.planning.plan import Plan
from noonmark.schedule import Recurrence
from noonmark.store import jobs as store
from noonmark.store.commit import insert_runs
from noonmark.store.connect import Connection
from noonmark.wire.resources import JobSpec

_MOST_READMITTED = 5_000


async def turn(
    life: Life,
    job_id: JobId,
    action: Callable[[Connection, list[int]], Awaitable[None]],
    also: Callable[[], None] = lambda: None,
) -> None:
    """A turn of the committer with the job's waiting runs out of memory; a refused change reads them back.

    `action` is told the nominal times of the runs that workers had when the turn began: it leaves those rows alone.
    """
    granted: list[int] = []

    def prepare() -> None:
        life.check(shard_of(job_id))
        life.job_cache.evict(job_id)
        life.owner.withdraw(job_id)
        granted.extend(life.owner.granted_of(job_id))
        also()

    async def guarded(connection: Connection) -> None:
        life.owner.withdraw(job_id)  # once more: the commit before this may have made the next run of a fixed delay
        try:
            await action(connection, granted)
        except NoonmarkError:
            life.owner.backlog.start_scan(shard_of(job_id))
            raise

    await life.committer.perform(guarded, prepare)


async def known_job(life: Life, tenant_id: int, job_id: JobId) -> JobRow:
    life.check(shard_of(job_id))
    found = life.job_cache.get(job_id)
    if found is None:
        heads, _ = await life.job_cache.load(tenant_id, [job_id], [])
        found = heads[0] if heads else None
    if found is None or found.tenant_id != tenant_id:
        raise NotFound("there is no such job", field="job")
    return found


async def current_job(
    life: Life, connection: Connection, tenant_id: int, job_id: JobId, expected_version: int | None
) -> JobRow:
    heads = await store.load_job_rows(connection, [job_id])
    if not heads or heads[0].tenant_id != tenant_id:
        raise NotFound("there is no such job", field="job")
    if expected_version is not None and heads[0].version != expected_version:
        raise VersionConflict(
            f"the job is at version {heads[0].version}, not {expected_version}",
            field="version",
            fix="read the job again and repeat the change",
        )
    return heads[0]


async def stored_text(life: Life, head: JobRow) -> str:
    async with life.pool.acquire() as connection:
        return await store.load_spec(connection, head)  # type: ignore[arg-type]


async def stored_spec(life: Life, head: JobRow) -> JobSpec:
    return msgspec.json.decode(await stored_text(life, head), type=JobSpec)


def enter(life: Life, plan: Plan, shard: int) -> Recurrence | None:
    """The schedule is in the timetable before the job is active."""
    if plan.schedule_id is None or plan.timing.text is None:
        return None
    life.timetable.add(shard, plan.schedule_id, plan.timing.text)
    return life.timetable.recurrence(plan.schedule_id)


def moment(life: Life, plan: Plan, shard: int, now_us: int) -> Moment:
    nominal_us = life.owner.next_nominal_us(now_us) if plan.starts_now else now_us
    return Moment(now_us, life.owner.watermarks[shard], nominal_us)


def recurrence_of(life: Life, head: JobRow) -> Recurrence | None:
    """Of a job as it stands; the timetable knows the schedules of active jobs."""
    return life.timetable.recurrence(head.schedule_id) if head.active and head.schedule_id is not None else None


async def fire(life: Life, connection: Connection, rows: list[RunRow]) -> None:
    await insert_runs(connection, rows)
    life.fired += sum(not row.sleeps for row in rows)


async def readmit(life: Life, connection: Connection, head: JobRow) -> None:
    """The job's waiting runs come back into memory."""
    watermark_us = life.owner.watermarks[head.shard]
    rows = await store.load_waiting_runs(connection, head, watermark_us, _MOST_READMITTED)
    await admit(life, connection, rows)
    if len(rows) == _MOST_READMITTED:
        life.owner.backlog.start_scan(head.shard)
