"""Makes submitted runs in memory; the next commit makes them durable. If their jobs are in memory, nothing is read."""

from collections.abc import Sequence
from typing import Any

from noonmark.errors import JobPaused, NotFound
from noonmark.model.audit import entry
from noonmark.model.ids import JobId, RunKey, job_text, parse_job, shard_for, shard_of
from noonmark.model.job import is_name
from noonmark.model.job_row import JobRow
from noonmark.model.run import RunRow
from noonmark.node.commands.dedup import submit_once
from noonmark.node.commands.ends import audit_details
from noonmark.node.commands.once import by_shard, request_rows
from noonmark.node.commands.turn import commit_token
from noonmark.node.life import Life
from noonmark.planning.runs import submitted_run
from noonmark.wire.commands import Command, SubmitRun, SubmitRuns, SubmittedRun
from noonmark.wire.resources import Submission


async def submit_runs(life: Life, command: SubmitRuns) -> list[RunKey]:
    jobs = await resolve(life, command.tenant_id, command.submissions)
    if any(submission.dedup_key is not None for submission in command.submissions):
        return await submit_once(life, command, [job.job_id for job in jobs])
    rows = _make(life, command, command.submissions, jobs)
    keys: list[RunKey] = [row.key for row in rows]
    if command.key is not None:
        answers = by_shard([row.shard for row in rows], keys)
        life.owner.outbox.requests += request_rows(command, answers, life.clock.now_us())
    await commit_token(life)
    return keys


async def submit_run(life: Life, command: SubmitRun) -> SubmittedRun:
    [job] = await resolve(life, command.tenant_id, [command.submission])
    [row] = _make(life, command, [command.submission], [job])
    made = SubmittedRun(row.job_id, row.nominal_us, row.due_us, row.version, row.priority, int(row.reason), job.name)
    life.owner.outbox.requests += request_rows(command, {row.shard: made}, life.clock.now_us())
    await commit_token(life)
    return made


def _make(life: Life, command: Command[Any], submissions: Sequence[Submission], jobs: Sequence[JobRow]) -> list[RunRow]:
    """In memory; nothing may be awaited between this and the request's own row."""
    now_us = life.clock.now_us()
    distinct = {job.job_id: job for job in jobs}.values()
    life.check_command(command, {job.shard for job in distinct})
    for job in distinct:
        if not job.active:
            raise JobPaused(f"the job {job.name!r} is paused", field="job", fix="resume it first")
    rows: list[RunRow] = []
    for submission, job in zip(submissions, jobs, strict=True):
        row = submitted_run(job, life.owner.next_nominal_us(now_us), submission)
        life.owner.create(row, now_us)
        rows.append(row)
    subject, after = audit_details([(row.job_id, row.nominal_us) for row in rows])
    audit_entry = entry(command.caller, command.tenant_id, now_us, "run.submit", subject, after=after)
    life.owner.outbox.audit.append(audit_entry)
    return rows


async def resolve(life: Life, tenant_id: int, submissions: Sequence[Submission]) -> list[JobRow]:
    """The jobs that are meant, by id or name; read together where they are not in memory."""

    def known(ref: str) -> JobRow | None:
        return life.job_cache.get(parse_job(ref)) if ref.startswith("job_") else life.job_cache.find(tenant_id, ref)

    found: dict[str, JobRow] = {}
    refs = dict.fromkeys(submission.job for submission in submissions)
    missing = [ref for ref in refs if known(ref) is None]
    if missing:
        job_ids: list[JobId] = [parse_job(ref) for ref in missing if ref.startswith("job_")]
        names = [
            (shard_for(tenant_id, ref, life.shard_count), ref)
            for ref in missing
            if not ref.startswith("job_") and is_name(ref)
        ]
        for shard in {shard_of(job_id) for job_id in job_ids} | {shard for shard, _ in names}:
            life.check(shard)
        jobs, read_at = await life.job_cache.load(tenant_id, job_ids, names)
        if life.job_cache.changes != read_at:
            return await resolve(life, tenant_id, submissions)
        for job in jobs:
            found[job.name] = job
            found[job_text(job.job_id)] = job
    for ref in refs:
        meant = known(ref) or found.get(ref)
        if meant is None or meant.tenant_id != tenant_id:
            raise NotFound(f"there is no job {ref!r}", field="job", fix="create it first")
        found[ref] = meant
    return [found[submission.job] for submission in submissions]
