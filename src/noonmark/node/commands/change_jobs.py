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
from noonmark.model.run import RunRow
from noonmark.node.commands.chain import changed_link
from noonmark.node.commands.once import remember
from noonmark.node.commands.plan import Plan, first_runs, make_plans
from noonmark.node.commands.span import left_at, span_from
from noonmark.node.commands.turn import (
    check_version,
    enter,
    fire,
    known_job,
    no_job,
    readmit,
    recurrence_of,
    stored_texts,
    with_jobs_withdrawn,
)
from noonmark.node.life import Life
from noonmark.schedule import Now
from noonmark.store.audit import record
from noonmark.store.connect import Connection
from noonmark.store.fence import fenced
from noonmark.store.job_runs import delete_planned_runs, park_runs
from noonmark.store.jobs import JobRow, load_job_rows, update_jobs, without_ended
from noonmark.wire.commands import Command, PatchJob, ReplaceJob
from noonmark.wire.resources import JobSpec


class Change(NamedTuple):
    """A job as it stood when the change was prepared, and what it shall be."""

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
    now_us = life.clock.now_us()
    pairs: list[tuple[JobRow, JobRow]] = []
    rows: list[RunRow] = []
    await delete_planned_runs(connection, [job.job_id for job in current], now_us, granted)
    parked: list[JobId] = []
    links: list[RunRow] = []
    for change, job in zip(changes, current, strict=True):
        changed, own, next_links = await _changed(life, connection, change, job, now_us)
        pairs.append((job, changed))
        rows += own
        links += next_links
        if next_links and not job.active:
            parked.append(job.job_id)
    await update_jobs(connection, pairs, [change.plan.text for change in changes], now_us)
    await fire(life, connection, [*await without_ended(connection, rows), *links])
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
    """The job as it shall be, its first runs, and the next run of a fixed delay."""
    spec, plan = change.plan.spec, change.plan
    anew = spec.schedule != change.before.schedule
    if anew and not job.active and isinstance(spec.schedule, Now):
        raise JobPaused("a paused job cannot be told to run now", field="schedule", fix="resume it first")
    left = plan.timing.max_runs if anew else left_at(job, recurrence_of(life, job), now_us)
    recurrence = enter(life, plan, job.shard)
    span = span_from(plan.timing, recurrence, now_us, left)
    changed = plan.head(job.tenant_id, job.job_id, job.version + 1, job.created_us, span, active=job.active)
    changed = changed._replace(skips=job.skips)
    rows = first_runs(life.owner, plan, changed, recurrence, now_us, anew=anew) if job.active else []
    watermark_us = life.owner.watermarks[job.shard]
    changed, links = await changed_link(connection, changed, job.link_us, plan.timing, now_us, watermark_us, anew=anew)
    return changed, rows, links
