"""Changes to jobs: each is one turn of the committer, durable when it returns.

A change is refused with NotOwner before anything is done, or with a clear error that changes nothing. While it is under
way the job's waiting runs are out of memory, so none of them can start on the old terms; afterwards they are read back.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from functools import cache

import msgspec

from noonmark.errors import DuplicateName, JobPaused, VersionConflict
from noonmark.model.audit import entry
from noonmark.model.ids import JobId, job_text, shard_for
from noonmark.model.job_row import JobRow
from noonmark.model.reason import Outcome, Reason
from noonmark.model.run import RunRow
from noonmark.node.commands.asking import asked_by
from noonmark.node.commands.fixed_delay import changed_run, resumed_run
from noonmark.node.commands.intern import make_plans
from noonmark.node.commands.run_commands import admit, record_end
from noonmark.node.commands.turn import (
    current_job,
    enter,
    fire,
    known_job,
    moment,
    readmit,
    recurrence_of,
    stored_spec,
    stored_text,
    turn,
)
from noonmark.node.life import Life
from noonmark.planning.bounds import OccurrenceBounds, bounds_from
from noonmark.planning.changes import change, create, pause, resume
from noonmark.planning.plan import Plan
from noonmark.schedule import Now, Timing
from noonmark.schedule import recurrence as read_recurrence
from noonmark.store import jobs as store
from noonmark.store.audit import record
from noonmark.store.connect import Connection
from noonmark.store.fence import fenced
from noonmark.wire.resources import JobPatch, JobSpec

_ACTIVE, _PAUSED = '{"state":"active"}', '{"state":"paused"}'


async def create_jobs(life: Life, tenant_id: int, specs: list[JobSpec], shard_count: int) -> list[JobId]:
    caller = asked_by()
    shards = [shard_for(tenant_id, spec.name, shard_count) for spec in specs]
    twice = [name for name, count in Counter(spec.name for spec in specs).items() if count > 1]
    if twice:
        raise DuplicateName(f"the name {twice[0]!r} appears twice in this request", field="name")
    created_us = life.clock.now_us()
    plans = await make_plans(life.pool, tenant_id, specs, created_us)
    bounds = await _first_bounds(plans, created_us)

    def prepare() -> None:
        for shard in shards:
            life.check(shard)

    async def action(connection: Connection) -> list[JobId]:
        now_us = life.clock.now_us()
        job_ids = await store.next_job_ids(connection, shards)
        heads: list[JobRow] = []
        rows: list[RunRow] = []
        for plan, counted, job_id, shard in zip(plans, bounds, job_ids, shards, strict=True):
            recurrence = enter(life, plan, shard)
            at = moment(life, plan, shard, now_us)
            head, made = create(plan, tenant_id, job_id, created_us, counted, recurrence, at)
            heads.append(head)
            rows += made
        async with fenced(connection, life.node_id):
            taken = await store.insert_jobs(connection, heads, [plan.text for plan in plans])
            if taken:
                raise DuplicateName(
                    f"a job named {taken[0]!r} exists already",
                    field="name",
                    fix="choose another name, or update that job",
                )
            await fire(life, connection, rows)
            await record(
                connection,
                [
                    entry(caller, tenant_id, created_us, "job.create", job_text(job_id), after=plan.text)
                    for plan, job_id in zip(plans, job_ids, strict=True)
                ],
            )
        await admit(life, connection, rows)
        return job_ids

    return await life.committer.perform(action, prepare)


async def update_job(life: Life, tenant_id: int, job_id: JobId, patch: JobPatch, expected_version: int | None) -> None:
    await change_job(life, tenant_id, job_id, patch.applied_to, expected_version)


async def change_job(
    life: Life,
    tenant_id: int,
    job_id: JobId,
    changed_spec: Callable[[JobSpec], JobSpec],
    expected_version: int | None,
    action_name: str = "job.change",
) -> None:
    """Gives the job the definition that `changed_spec` makes of its current one, as a new version."""
    caller = asked_by()
    head = await known_job(life, tenant_id, job_id)
    text = await stored_text(life, head)
    before = msgspec.json.decode(text, type=JobSpec)
    spec = changed_spec(before)
    [plan] = await make_plans(life.pool, tenant_id, [spec], head.created_us)

    async def action(connection: Connection, granted: list[int]) -> None:
        current = await current_job(life, connection, tenant_id, job_id, expected_version)
        if current.version != head.version:
            raise VersionConflict(f"the job is at version {current.version} now", field="version", fix="try again")
        if not current.active and isinstance(spec.schedule, Now) and spec.schedule != before.schedule:
            raise JobPaused("a paused job cannot be told to run now", field="schedule", fix="resume it first")
        now_us = life.clock.now_us()
        anew = spec.schedule != before.schedule
        recurrence_before = recurrence_of(life, current)
        recurrence = enter(life, plan, current.shard)
        at = moment(life, plan, current.shard, now_us)
        changed, rows = change(plan, current, recurrence_before, recurrence, at, anew=anew)
        async with fenced(connection, life.node_id):
            await store.delete_planned_runs(connection, changed, now_us, granted)
            changed, current_run = await changed_run(
                connection, changed, current.current_run_us, plan.timing, now_us, at.watermark_us, anew=anew
            )
            await store.update_job(connection, changed, plan.text, now_us, current.labels)
            await fire(life, connection, [*await store.without_ended(connection, rows), *current_run])
            if current_run and not current.active:
                await store.park_runs(connection, changed, granted)
            done = entry(caller, tenant_id, now_us, action_name, job_text(job_id), before=text, after=plan.text)
            await record(connection, [done])
        await readmit(life, connection, changed)

    await turn(life, job_id, action)


async def pause_job(life: Life, tenant_id: int, job_id: JobId) -> None:
    caller = asked_by()

    async def action(connection: Connection, granted: list[int]) -> None:
        head = await current_job(life, connection, tenant_id, job_id, None)
        now_us = life.clock.now_us()
        paused = pause(head, recurrence_of(life, head), now_us)
        kept = granted if head.current_run_us is None else [*granted, head.current_run_us]
        async with fenced(connection, life.node_id):
            await store.delete_planned_runs(connection, head, now_us, kept)
            await store.park_runs(connection, head, granted)
            await store.set_job_active(connection, paused, now_us)
            if head.active:
                done = entry(caller, tenant_id, now_us, "job.pause", job_text(job_id), before=_ACTIVE, after=_PAUSED)
                await record(connection, [done])

    def park_retries() -> None:
        if life.owner.granted_of(job_id):
            life.owner.paused.add(job_id)

    await known_job(life, tenant_id, job_id)
    await turn(life, job_id, action, park_retries)


async def resume_job(life: Life, tenant_id: int, job_id: JobId) -> None:
    caller = asked_by()
    head = await known_job(life, tenant_id, job_id)
    [plan] = await make_plans(life.pool, tenant_id, [await stored_spec(life, head)], head.created_us)

    async def action(connection: Connection, granted: list[int]) -> None:
        current = await current_job(life, connection, tenant_id, job_id, head.version)
        if current.active:
            return
        now_us = life.clock.now_us()
        recurrence = enter(life, plan, current.shard)
        at = moment(life, plan, current.shard, now_us)
        resumed, rows = resume(plan, current, recurrence, at)
        life.owner.paused.discard(job_id)
        async with fenced(connection, life.node_id):
            resumed, current_run = await resumed_run(connection, resumed, plan.timing, now_us, at.watermark_us)
            await store.set_job_active(connection, resumed, now_us)
            await store.unpark_runs(connection, resumed, at.watermark_us)
            await fire(life, connection, [*await store.without_ended(connection, rows), *current_run])
            done = entry(caller, tenant_id, now_us, "job.resume", job_text(job_id), before=_PAUSED, after=_ACTIVE)
            await record(connection, [done])
        await readmit(life, connection, resumed)

    await turn(life, job_id, action)


async def delete_job(life: Life, tenant_id: int, job_id: JobId, expected_version: int | None) -> None:
    caller = asked_by()
    await known_job(life, tenant_id, job_id)

    def stop_running() -> None:
        for nominal_us in life.owner.granted_of(job_id):
            life.owner.cancel((job_id, nominal_us), life.clock.now_us())

    async def action(connection: Connection, granted: list[int]) -> None:
        head = await current_job(life, connection, tenant_id, job_id, expected_version)
        now_us = life.clock.now_us()
        async with fenced(connection, life.node_id):
            rows = await store.delete_waiting_runs(connection, head, granted)
            await record_end(connection, rows, Outcome.WITHDRAWN, Reason.JOB_DELETED, now_us)
            before = await store.load_spec(connection, head)
            await store.delete_job(connection, head, now_us)
            await record(connection, [entry(caller, tenant_id, now_us, "job.delete", job_text(job_id), before=before)])
        life.owner.paused.discard(job_id)

    await turn(life, job_id, action, stop_running)


async def _first_bounds(plans: list[Plan], created_us: int) -> list[OccurrenceBounds]:
    """Of new jobs. To count far ahead takes its time, so it is done on another thread and once for equal schedules."""

    @cache
    def one(timing: Timing) -> OccurrenceBounds:
        counted = None if timing.text is None or timing.max_runs is None else read_recurrence(timing.text)
        return bounds_from(timing, counted, created_us, timing.max_runs)

    if any(plan.timing.max_runs is not None for plan in plans):
        return await asyncio.to_thread(lambda: [one(plan.timing) for plan in plans])
    return [one(plan.timing) for plan in plans]
