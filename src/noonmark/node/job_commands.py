"""Changes to jobs: each is one turn of the committer, durable when it returns.

A change is refused with NotOwner before anything is done, or with a clear error that changes nothing. While it is under
way the job's waiting runs are out of memory, so none of them can start on the old terms; afterwards they are read back.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import cache

import msgspec

from noonmark.errors import DuplicateName, JobPaused, NoonmarkError, NotFound, VersionConflict
from noonmark.model.ids import JobId, shard_for, shard_of
from noonmark.model.reason import Outcome, Reason
from noonmark.model.run import RunRow
from noonmark.node.chain import changed_link, link_rows, resumed_link, with_first_link
from noonmark.node.life import Life
from noonmark.node.plan import Plan, first_runs, make_plans, patched
from noonmark.node.run_commands import admit, record_end
from noonmark.node.span import Span, left_at, span_from
from noonmark.schedule import Now, Recurrence, Timing
from noonmark.schedule import recurrence as read_recurrence
from noonmark.store import jobs as store
from noonmark.store.commit import insert_runs
from noonmark.store.connect import Connection
from noonmark.store.fence import fenced
from noonmark.store.jobs import JobHead
from noonmark.wire.resources import JobPatch, JobSpec

_MOST_READMITTED = 5_000


async def create_jobs(life: Life, tenant_id: int, specs: list[JobSpec], shard_count: int) -> list[JobId]:
    shards = [shard_for(tenant_id, spec.name, shard_count) for spec in specs]
    twice = [name for name, count in Counter(spec.name for spec in specs).items() if count > 1]
    if twice:
        raise DuplicateName(f"the name {twice[0]!r} appears twice in this request", field="name")
    created_us = life.clock.now_us()
    plans = await make_plans(life.pool, tenant_id, specs, created_us)
    spans = await _first_spans(plans, created_us)

    def prepare() -> None:
        for shard in shards:
            life.check(shard)

    async def action(connection: Connection) -> list[JobId]:
        now_us = life.clock.now_us()
        job_ids = await store.next_job_ids(connection, shards)
        heads: list[JobHead] = []
        rows: list[RunRow] = []
        for plan, span, job_id in zip(plans, spans, job_ids, strict=True):
            head = plan.head(tenant_id, job_id, 1, created_us, span, active=True)
            head = with_first_link(head, plan.timing, now_us)
            recurrence = _enter(life, plan, head.shard)
            rows += first_runs(life.owner, plan, head, recurrence, now_us, anew=True)
            rows += link_rows(head, life.owner.watermarks[head.shard])
            heads.append(head)
        async with fenced(connection, life.node_id):
            taken = await store.insert_jobs(connection, heads, [plan.text for plan in plans])
            if taken:
                raise DuplicateName(
                    f"a job named {taken[0]!r} exists already",
                    field="name",
                    fix="choose another name, or update that job",
                )
            await _fire(life, connection, rows)
        await admit(life, connection, rows)
        return job_ids

    return await life.committer.perform(action, prepare)


async def update_job(life: Life, tenant_id: int, job_id: JobId, patch: JobPatch, expected_version: int | None) -> None:
    head = await _head(life, tenant_id, job_id)
    before = await _spec(life, head)
    spec = patched(before, patch)
    [plan] = await make_plans(life.pool, tenant_id, [spec], head.created_us)

    async def action(connection: Connection, granted: list[int]) -> None:
        current = await _current(life, connection, tenant_id, job_id, expected_version)
        if current.version != head.version:
            raise VersionConflict(f"the job is at version {current.version} now", field="version", fix="try again")
        if not current.active and isinstance(spec.schedule, Now) and spec.schedule != before.schedule:
            raise JobPaused("a paused job cannot be told to run now", field="schedule", fix="resume it first")
        now_us = life.clock.now_us()
        watermark_us = life.owner.watermarks[current.shard]
        anew = spec.schedule != before.schedule
        left = plan.timing.max_runs if anew else left_at(current, _recurrence(life, current), now_us)
        recurrence = _enter(life, plan, current.shard)
        span = span_from(plan.timing, recurrence, now_us, left)
        changed = plan.head(tenant_id, job_id, current.version + 1, current.created_us, span, active=current.active)
        rows: list[RunRow] = []
        if current.active:
            rows = first_runs(life.owner, plan, changed, recurrence, now_us, anew=anew)
        async with fenced(connection, life.node_id):
            await store.delete_planned_runs(connection, changed, now_us, granted)
            changed, links = await changed_link(
                connection, changed, current.link_us, plan.timing, now_us, watermark_us, anew=anew
            )
            await store.update_job(connection, changed, plan.text, now_us)
            await _fire(life, connection, [*await store.without_ended(connection, rows), *links])
            if links and not current.active:
                await store.park_runs(connection, changed, granted)
        await _readmit(life, connection, changed)

    await _change(life, job_id, action)


async def pause_job(life: Life, tenant_id: int, job_id: JobId) -> None:
    async def action(connection: Connection, granted: list[int]) -> None:
        head = await _current(life, connection, tenant_id, job_id, None)
        now_us = life.clock.now_us()
        left = left_at(head, _recurrence(life, head), now_us)
        kept = granted if head.link_us is None else [*granted, head.link_us]
        async with fenced(connection, life.node_id):
            await store.delete_planned_runs(connection, head, now_us, kept)
            await store.park_runs(connection, head, granted)
            await store.set_job_active(connection, head._replace(active=False, runs_left=left), now_us)

    def park_retries() -> None:
        if life.owner.granted_of(job_id):
            life.owner.paused.add(job_id)

    await _head(life, tenant_id, job_id)
    await _change(life, job_id, action, park_retries)


async def resume_job(life: Life, tenant_id: int, job_id: JobId) -> None:
    head = await _head(life, tenant_id, job_id)
    [plan] = await make_plans(life.pool, tenant_id, [await _spec(life, head)], head.created_us)

    async def action(connection: Connection, granted: list[int]) -> None:
        current = await _current(life, connection, tenant_id, job_id, head.version)
        if current.active:
            return
        now_us = life.clock.now_us()
        watermark_us = life.owner.watermarks[current.shard]
        recurrence = _enter(life, plan, current.shard)
        planned_us, ends_us, left = span_from(plan.timing, recurrence, now_us, current.runs_left)
        resumed = current._replace(active=True, planned_us=planned_us, ends_us=ends_us, runs_left=left)
        rows = first_runs(life.owner, plan, resumed, recurrence, now_us, anew=False)
        life.owner.paused.discard(job_id)
        async with fenced(connection, life.node_id):
            resumed, links = await resumed_link(connection, resumed, plan.timing, now_us, watermark_us)
            await store.set_job_active(connection, resumed, now_us)
            await store.unpark_runs(connection, resumed, watermark_us)
            await _fire(life, connection, [*await store.without_ended(connection, rows), *links])
        await _readmit(life, connection, resumed)

    await _change(life, job_id, action)


async def delete_job(life: Life, tenant_id: int, job_id: JobId, expected_version: int | None) -> None:
    await _head(life, tenant_id, job_id)

    def stop_running() -> None:
        for nominal_us in life.owner.granted_of(job_id):
            life.owner.cancel((job_id, nominal_us), life.clock.now_us())

    async def action(connection: Connection, granted: list[int]) -> None:
        head = await _current(life, connection, tenant_id, job_id, expected_version)
        now_us = life.clock.now_us()
        async with fenced(connection, life.node_id):
            rows = await store.delete_waiting_runs(connection, head, granted)
            await record_end(connection, rows, Outcome.WITHDRAWN, Reason.JOB_DELETED, now_us)
            await store.delete_job(connection, head, now_us)
        life.owner.paused.discard(job_id)

    await _change(life, job_id, action, stop_running)


async def _change(
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
        life.heads.evict(job_id)
        life.owner.withdraw(job_id)
        granted.extend(life.owner.granted_of(job_id))
        also()

    async def guarded(connection: Connection) -> None:
        life.owner.withdraw(job_id)  # once more: the commit before this may have made the next link of a fixed delay
        try:
            await action(connection, granted)
        except NoonmarkError:
            life.owner.backlog.start_scan(shard_of(job_id))
            raise

    await life.committer.perform(guarded, prepare)


async def _head(life: Life, tenant_id: int, job_id: JobId) -> JobHead:
    life.check(shard_of(job_id))
    found = life.heads.get(job_id)
    if found is None:
        heads, _ = await life.heads.load(tenant_id, [job_id], [])
        found = heads[0] if heads else None
    if found is None or found.tenant_id != tenant_id:
        raise NotFound("there is no such job", field="job")
    return found


async def _current(
    life: Life, connection: Connection, tenant_id: int, job_id: JobId, expected_version: int | None
) -> JobHead:
    heads = await store.load_heads(connection, [job_id])
    if not heads or heads[0].tenant_id != tenant_id:
        raise NotFound("there is no such job", field="job")
    if expected_version is not None and heads[0].version != expected_version:
        raise VersionConflict(
            f"the job is at version {heads[0].version}, not {expected_version}",
            field="version",
            fix="read the job again and repeat the change",
        )
    return heads[0]


async def _spec(life: Life, head: JobHead) -> JobSpec:
    async with life.pool.acquire() as connection:
        text = await store.load_spec(connection, head)  # type: ignore[arg-type]
    return msgspec.json.decode(text, type=JobSpec)


async def _first_spans(plans: list[Plan], created_us: int) -> list[Span]:
    """Of new jobs. To count far ahead takes its time, so it is done on another thread and once for equal schedules."""

    @cache
    def one(timing: Timing) -> Span:
        counted = None if timing.text is None or timing.max_runs is None else read_recurrence(timing.text)
        return span_from(timing, counted, created_us, timing.max_runs)

    if any(plan.timing.max_runs is not None for plan in plans):
        return await asyncio.to_thread(lambda: [one(plan.timing) for plan in plans])
    return [one(plan.timing) for plan in plans]


def _enter(life: Life, plan: Plan, shard: int) -> Recurrence | None:
    """The schedule is in the timetable before the job is active."""
    if plan.schedule_id is None or plan.timing.text is None:
        return None
    life.timetable.add(shard, plan.schedule_id, plan.timing.text)
    return life.timetable.recurrence(plan.schedule_id)


def _recurrence(life: Life, head: JobHead) -> Recurrence | None:
    """Of a job as it stands; the timetable knows the schedules of active jobs."""
    return life.timetable.recurrence(head.schedule_id) if head.active and head.schedule_id is not None else None


async def _fire(life: Life, connection: Connection, rows: list[RunRow]) -> None:
    await insert_runs(connection, rows)
    life.fired += sum(not row.sleeps for row in rows)


async def _readmit(life: Life, connection: Connection, head: JobHead) -> None:
    """The job's waiting runs come back into memory."""
    watermark_us = life.owner.watermarks[head.shard]
    rows = await store.load_waiting_runs(connection, head, watermark_us, _MOST_READMITTED)
    await admit(life, connection, rows)
    if len(rows) == _MOST_READMITTED:
        life.owner.backlog.start_scan(head.shard)
