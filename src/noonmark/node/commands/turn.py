"""Turns of the committer that carry out commands, and the steps that they share.

A command is dropped when its turn comes after its deadline, or for a shard that is no longer owned: nothing was done
then. A change of jobs first lets the ticks make all runs that are due up to it: otherwise a shard that lags, as after
an outage, would never make the occurrences that were due before the change.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any, TypeVar

import msgspec

from noonmark.errors import NoonmarkError, NotFound, NotOwner, VersionConflict
from noonmark.model.ids import JobId, RunKey, shard_of
from noonmark.model.job_row import JobRow
from noonmark.model.run import RunRow
from noonmark.node.life import Life
from noonmark.planning.occurrences import Moment
from noonmark.planning.plan import Plan
from noonmark.schedule import Recurrence
from noonmark.store import jobs as store
from noonmark.store.commit import insert_runs
from noonmark.store.connect import Connection
from noonmark.store.job_runs import load_waiting_runs
from noonmark.wire.commands import Command
from noonmark.wire.resources import JobSpec

T = TypeVar("T")
_MAX_READMITTED = 5_000
_TICK_SOON_S = 0.02


class _Behind(NotOwner):
    """A shard has not been ticked up to now."""


async def take_turn(
    life: Life,
    command: Command[Any],
    shards: Collection[int],
    action: Callable[[Connection], Awaitable[T]],
    prepare: Callable[[], None] = lambda: None,
) -> T:
    def begin() -> None:
        life.check_command(command, shards)
        prepare()

    return await life.committer.perform(action, begin)


async def with_jobs_withdrawn(
    life: Life,
    command: Command[Any],
    job_ids: Collection[JobId],
    action: Callable[[Connection, list[RunKey]], Awaitable[T]],
    also: Callable[[], None] = lambda: None,
    shards: Collection[int] = (),
) -> T:
    """A turn with the jobs' waiting runs out of memory; a refused change reads them back.

    `action` gets the runs that workers had when the turn began: it leaves their rows alone. `shards` are those
    that it writes to besides the jobs' own.
    """
    changing = set(job_ids)
    shards = {shard_of(job_id) for job_id in changing} | set(shards)
    granted: list[RunKey] = []

    def prepare() -> None:
        now_us = life.clock.now_us()
        if any(life.owner.watermarks[shard] < now_us for shard in shards):
            raise _Behind("the shard has not been ticked up to now")
        life.job_cache.evict(changing)
        life.owner.withdraw(changing)
        granted.extend(life.owner.granted_of(changing))
        also()

    async def guarded(connection: Connection) -> T:
        # Once more: the commit before this may have made the next run of a fixed delay. A run that came back from its
        # worker since the turn began stays: its row does not know of that yet.
        life.owner.withdraw(changing, granted)
        try:
            return await action(connection, granted)
        except NoonmarkError:
            for shard in shards:
                life.owner.backlog.start_scan(shard)
            raise

    while True:
        try:
            return await take_turn(life, command, shards, guarded, prepare)
        except _Behind:
            life.tick_wanted.set()
            await asyncio.sleep(_TICK_SOON_S)


def instant_of_change(life: Life, job_ids: Collection[JobId]) -> int:
    """Now, but never beyond what the ticks have made: the commit before this turn may have taken its time."""
    return min([life.clock.now_us(), *(life.owner.watermarks[shard_of(job_id)] for job_id in job_ids)])


def commit_token(life: Life) -> asyncio.Future[None]:
    """Done when all that was decided so far is durable; else it fails as that commit did.

    Whoever made decisions takes it at once, with nothing awaited in between: it goes with them into one transaction.
    """
    token = life.token()
    life.owner.outbox.answers.append((token, None))
    life.committer.wake()
    return token


async def known_job(life: Life, tenant_id: int, job_id: JobId) -> JobRow:
    life.check(shard_of(job_id))
    found = life.job_cache.get(job_id)
    if found is None:
        jobs, _ = await life.job_cache.load(tenant_id, [job_id], [])
        found = jobs[0] if jobs else None
    if found is None or found.tenant_id != tenant_id:
        raise no_job()
    return found


async def current_job(connection: Connection, tenant_id: int, job_id: JobId, expected_version: int | None) -> JobRow:
    """As it stands in its turn."""
    jobs = await store.load_job_rows(connection, [job_id])
    if not jobs or jobs[0].tenant_id != tenant_id:
        raise no_job()
    check_version(jobs[0], expected_version)
    return jobs[0]


def check_version(job: JobRow, expected_version: int | None) -> None:
    if expected_version is not None and job.version != expected_version:
        raise VersionConflict(
            f"the job is at version {job.version}, not {expected_version}",
            field="If-Match",
            fix="read the job again and repeat the change",
        )


def no_job() -> NotFound:
    return NotFound("there is no such job", field="job")


async def stored_texts(life: Life, jobs: Sequence[JobRow]) -> dict[JobId, str]:
    """The definitions of jobs, as they are stored."""
    async with life.pool.acquire() as connection:
        return await store.load_specs(connection, jobs)  # type: ignore[arg-type]


async def stored_spec(life: Life, job: JobRow) -> JobSpec:
    return msgspec.json.decode((await stored_texts(life, [job]))[job.job_id], type=JobSpec)


def enter(life: Life, plan: Plan, shard: int) -> Recurrence | None:
    """The schedule is in the timetable before the job is active."""
    if plan.schedule_id is None or plan.timing.text is None:
        return None
    life.timetable.add(shard, plan.schedule_id, plan.timing.text)
    return life.timetable.recurrence(plan.schedule_id)


def moment(life: Life, plan: Plan, shard: int, now_us: int) -> Moment:
    nominal_us = life.owner.next_nominal_us(now_us) if plan.starts_now else now_us
    return Moment(now_us, life.owner.watermarks[shard], nominal_us)


def recurrence_of(life: Life, job: JobRow) -> Recurrence | None:
    """Of a job as it stands; the timetable knows the schedules of active jobs."""
    return life.timetable.recurrence(job.schedule_id) if job.active and job.schedule_id is not None else None


async def fire(life: Life, connection: Connection, rows: list[RunRow]) -> None:
    if rows:
        await insert_runs(connection, rows)
        life.fired += sum(not row.sleeps for row in rows)


async def admit(life: Life, connection: Connection, rows: Sequence[RunRow]) -> None:
    """Rows that were just committed enter memory, except those whose time is beyond the watermark."""
    await life.know_policies(connection, {row.policy_id for row in rows})
    now_us = life.clock.now_us()
    forgotten = life.owner.outbox.forgotten()
    for row in rows:
        if row.due_us <= life.owner.watermarks[row.shard] and row.key not in forgotten:
            life.owner.admit(row, now_us)


async def readmit(life: Life, connection: Connection, job_ids: Sequence[JobId]) -> None:
    """The jobs' waiting runs come back into memory."""
    if not job_ids:
        return
    rows = await load_waiting_runs(connection, job_ids, life.owner.watermarks, _MAX_READMITTED)
    await admit(life, connection, rows)
    if len(rows) == _MAX_READMITTED:
        for shard in {shard_of(job_id) for job_id in job_ids}:
            life.owner.backlog.start_scan(shard)
