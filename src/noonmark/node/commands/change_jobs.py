"""Jobs get new definitions, each as a new version; any number of them in one turn.

While a change is under way the jobs' waiting runs are out of memory, so none of them can start on the old terms;
afterwards they are read back.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from noonmark.errors import JobPaused, VersionConflict
from noonmark.model.audit import entry
from noonmark.model.caller import Caller
from noonmark.model.ids import JobId, RunKey, job_text
from noonmark.model.job_row import JobRow
from noonmark.model.run import RunRow
from noonmark.node.commands.fixed_delay import changed_run
from noonmark.node.commands.intern import make_plans
from noonmark.node.commands.once import remember
from noonmark.node.commands.turn import (
    check_version,
    enter,
    fire,
    instant_of_change,
    known_job,
    moment,
    no_job,
    readmit,
    recurrence_of,
    stored_texts,
    with_jobs_withdrawn,
)
from noonmark.node.life import Life
from noonmark.planning.changes import change as change_of
from noonmark.planning.occurrences import owed_runs
from noonmark.planning.plan import Plan
from noonmark.store.audit import record
from noonmark.store.connect import Connection
from noonmark.store.fence import fenced
from noonmark.store.job_runs import delete_planned_runs, park_runs
from noonmark.store.jobs import load_job_rows, update_jobs, without_ended
from noonmark.wire.commands import Command, PatchJob, ReplaceJob
from noonmark.wire.resources import JobSpec


class Change(NamedTuple):
    """A job as it stood when the change was prepared, and as it shall be."""

    job: JobRow
    text: str
    before: JobSpec
    plan: Plan


async def patch_job(life: Life, command: PatchJob) -> None:
    job, text, before = await _stored(life, command.tenant_id, command.job_id)
    await _change_one(life, command, job, text, before, command.patch.applied_to(before), command.expected_version)


async def replace_job(life: Life, command: ReplaceJob) -> None:
    job, text, before = await _stored(life, command.tenant_id, command.job_id)
    await _change_one(life, command, job, text, before, command.spec, command.expected_version)


async def _stored(life: Life, tenant_id: int, job_id: JobId) -> tuple[JobRow, str, JobSpec]:
    job = await known_job(life, tenant_id, job_id)
    text = (await stored_texts(life, [job]))[job_id]
    return job, text, msgspec.json.decode(text, type=JobSpec)


async def _change_one(
    life: Life,
    command: Command[None],
    job: JobRow,
    text: str,
    before: JobSpec,
    spec: JobSpec,
    expected_version: int | None,
) -> None:
    [plan] = await make_plans(life.pool, command.tenant_id, [spec], [job.created_us])
    changes = [Change(job, text, before, plan)]

    async def action(connection: Connection, granted: list[RunKey]) -> None:
        current = await current_jobs(connection, command.tenant_id, changes)
        check_version(current[0], expected_version)
        check_unchanged(changes, current)
        async with fenced(connection, life.node_id):
            await store_changes(life, connection, changes, current, granted, command.caller)
            await remember(connection, command, {job.shard: None}, life.clock.now_us())
        await readmit(life, connection, [job.job_id])

    await with_jobs_withdrawn(life, command, [job.job_id], action)


async def current_jobs(connection: Connection, tenant_id: int, changes: Sequence[Change]) -> list[JobRow]:
    """The jobs as they stand in the turn, in the order of the changes."""
    found = {job.job_id: job for job in await load_job_rows(connection, [change.job.job_id for change in changes])}
    for change in changes:
        current = found.get(change.job.job_id)
        if current is None or current.tenant_id != tenant_id:
            raise no_job()
    return [found[change.job.job_id] for change in changes]


def check_unchanged(changes: Sequence[Change], current: Sequence[JobRow]) -> None:
    for change, job in zip(changes, current, strict=True):
        if job.version != change.job.version:
            raise VersionConflict(f"the job is at version {job.version} now", field="version", fix="try again")


async def store_changes(
    life: Life,
    connection: Connection,
    changes: Sequence[Change],
    current: Sequence[JobRow],
    granted: Sequence[RunKey],
    caller: Caller,
) -> None:
    """Inside a transaction, with the waiting runs of the jobs out of memory."""
    now_us = instant_of_change(life, [job.job_id for job in current])
    pairs: list[tuple[JobRow, JobRow]] = []
    rows: list[RunRow] = []
    await delete_planned_runs(connection, [job.job_id for job in current], now_us, granted)
    parked: list[JobId] = []
    delayed: list[RunRow] = []
    for change, job in zip(changes, current, strict=True):
        changed, own, current_run = await _changed(life, connection, change, job, now_us)
        pairs.append((job, changed))
        rows += own
        delayed += current_run
        if current_run and not job.active:
            parked.append(job.job_id)
    await update_jobs(connection, pairs, [change.plan.text for change in changes], now_us)
    await fire(life, connection, [*await without_ended(connection, rows), *delayed])
    if parked:
        await park_runs(connection, parked, granted)
    await record(
        connection,
        [
            entry(
                caller, job.tenant_id, now_us, "job.change", job_text(job.job_id),
                before=change.text, after=change.plan.text,
            )
            for change, job in zip(changes, current, strict=True)
        ],
    )  # fmt: skip


async def _changed(
    life: Life, connection: Connection, change: Change, job: JobRow, now_us: int
) -> tuple[JobRow, list[RunRow], list[RunRow]]:
    """The job as it shall be, the runs that this makes, and the current run of a fixed delay."""
    plan = change.plan
    anew = plan.spec.schedule != change.before.schedule
    if anew and not job.active and plan.starts_now:
        raise JobPaused("a paused job cannot be told to run now", field="schedule", fix="resume it first")
    recurrence_before = recurrence_of(life, job)
    at = moment(life, plan, job.shard, now_us)
    owed = owed_runs(job, recurrence_before, at)
    changed, rows = change_of(plan, job, recurrence_before, enter(life, plan, job.shard), at, anew=anew)
    changed, current = await changed_run(
        connection, changed, job.current_run_us, plan.timing, now_us, at.watermark_us, anew=anew
    )
    return changed, [*owed, *rows], current
