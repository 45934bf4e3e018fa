"""/v1/runs: submit many, list and filter, read one with its attempts, cancel one, try one again."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any

import msgspec

from noonmark.api import present
from noonmark.api.bodies import AttemptList, RunBatch, RunIds
from noonmark.api.call import Call
from noonmark.api.dispatch.signature import Query
from noonmark.api.middleware.pages import Cursor, Limit
from noonmark.api.routes import run_list
from noonmark.api.validate import ID_PREFIX
from noonmark.clock import NEVER_US
from noonmark.errors import Conflict, InvalidInput, JobPaused, NoonmarkError, NotFound
from noonmark.model.ids import JobId, RunKey, parse_job, parse_run, run_text
from noonmark.model.job import label_texts
from noonmark.store.reads.jobs import KnownJob, fetch_job_ids, fetch_jobs
from noonmark.store.reads.run_list import RunFilter
from noonmark.store.reads.runs import fetch_run, list_attempts
from noonmark.wire.commands import CancelRun, Command, RetryRun, SubmitRun, SubmitRuns
from noonmark.wire.resources import Attempt, Run, Submission
from noonmark.wire.runs import Included, RunPage, RunWithAttempts

MAX_ATTEMPTS = 1000
Include = Annotated[
    list[Included] | None,
    Query("include"),
    msgspec.Meta(description="`attempts`: those that ended, with their results."),
]


async def submit_runs(data: RunBatch, call: Call) -> RunIds:
    """Up to 10,000 runs, of one job or of many; the ids come back in order.

    All are checked before any is stored, and each owner stores its part of the batch or none of it. If an owner fails
    after another has stored its part, the answer is 503 `partly_done` and its detail names the runs that exist.
    """
    command = SubmitRuns(**call.asked(), submissions=data.runs)
    await _check(call, command, data.runs, "runs[{}].")
    async with _pointing(call, data.runs, "runs[{}]."):
        keys = await call.perform(command)
    return RunIds([run_text(key) for key in keys])


async def list_all_runs(
    call: Call,
    job: str | None = None,
    states: run_list.States = None,
    reasons: run_list.Reasons = None,
    labels: run_list.Labels = None,
    error: run_list.ErrorText = None,
    from_at: run_list.From = None,
    to_at: run_list.To = None,
    finished_from: run_list.FinishedFrom = None,
    finished_to: run_list.FinishedTo = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> RunPage:
    """The tenant's runs, newest nominal time first, then by job: those to come, those under way, those that ended.

    That place of a run never changes, so paging shows each run once whatever happens to it meanwhile. A page reads a
    bounded number of runs: with a filter that few of them pass it may come back short, or empty, with a `next_cursor`.
    """
    nominal_us = run_list.range_of(
        "from",
        run_list.instant_of("from", run_list.time_of("from", from_at), 0),
        run_list.instant_of("to", run_list.time_of("to", to_at), NEVER_US),
    )
    ended_us = run_list.range_of(
        "finished_from",
        run_list.instant_of("finished_from", finished_from, 0),
        run_list.instant_of("finished_to", finished_to, NEVER_US),
    )
    record = None if job is None else await call.job(job)
    wanted = RunFilter(
        job_id=None if record is None else record.job_id,
        states=run_list.states_of(states),
        from_us=nominal_us[0],
        to_us=nominal_us[1],
        ended_from_us=None if finished_from is None else ended_us[0],
        ended_to_us=None if finished_to is None else ended_us[1],
        error=run_list.text_of("error", error),
        reasons=run_list.reasons_of(reasons),
        labels=run_list.labels_of(labels),
    )
    if record is not None and not set(wanted.labels or ()) <= set(label_texts(present.read_spec(record).labels)):
        return RunPage([], None)
    return await run_list.read_page(call, wanted, cursor, limit)


async def read_run(run_id: str, call: Call, include: Include = None) -> RunWithAttempts:
    """One run, wherever it stands."""
    key = parse_run(run_id)
    run = await read(call, key)
    attempts: list[Attempt] | msgspec.UnsetType = msgspec.UNSET
    if include:
        rows = await list_attempts(call.node.pool, call.tenant_id, key, MAX_ATTEMPTS)
        attempts = [present.attempt(key, row) for row in rows]
    return RunWithAttempts(**msgspec.structs.asdict(run), attempts=attempts)


async def list_run_attempts(run_id: str, call: Call) -> AttemptList:
    """The attempts that ended, first to last."""
    key = parse_run(run_id)
    rows = await list_attempts(call.node.pool, call.tenant_id, key, MAX_ATTEMPTS)
    if not rows:
        await read(call, key)
    return AttemptList([present.attempt(key, row) for row in rows])


async def cancel_run(run_id: str, call: Call) -> Run:
    """A waiting run ends at once; a running one is stopped by its worker, so its state may still be `running`."""
    key = parse_run(run_id)
    await read(call, key)
    await call.perform(CancelRun(**call.asked(), run=key))
    return await read(call, key)


async def retry_run(run_id: str, call: Call) -> Run:
    """Tries a run again now: one that waits out its backoff is due at once, a dead one is taken back.

    Any other is refused: one that has ended otherwise cannot run again, but its job can be triggered.
    """
    key = parse_run(run_id)
    found = await read(call, key)
    command = RetryRun(**call.asked(), run=key)
    if found.state not in ("retrying", "waiting", "dead") and not await call.was_begun(command):
        raise _not_retryable(found)
    await call.perform(command)
    return await read(call, key)


def _not_retryable(run: Run) -> Conflict:
    fixes = {
        "running": "wait for its end, or cancel it: POST /v1/runs/{run}/cancel",
        "parked": "resume its job: POST /v1/jobs/{job}/resume",
    }
    state = {"running": "is running", "parked": "waits for its paused job"}.get(run.state, f"has ended: {run.state}")
    fix = fixes.get(run.state, "start a new one: POST /v1/jobs/{job}/trigger")
    return Conflict(f"the run {run.id} {state}", field="run_id", fix=fix)


async def submit_one(call: Call, submission: Submission) -> Run:
    if submission.dedup_key is None:
        command = SubmitRun(**call.asked(), submission=submission)
        await _check(call, command, [submission], "")
        async with _pointing(call, [submission], ""):
            return present.submitted_run(await call.perform(command))
    deduplicated = SubmitRuns(**call.asked(), submissions=[submission])
    await _check(call, deduplicated, [submission], "")
    async with _pointing(call, [submission], ""):
        [key] = await call.perform(deduplicated)
    return await read(call, key)


@asynccontextmanager
async def _pointing(call: Call, submissions: Sequence[Submission], path: str) -> AsyncIterator[None]:
    """When the owner refuses a job, looks which submission it was, so that the answer names its place."""
    try:
        yield
    except (NotFound, JobPaused):
        await _check_jobs(call, submissions, path)
        raise


async def read(call: Call, key: RunKey) -> Run:
    record = await fetch_run(call.node.pool, call.tenant_id, key)
    if record is None:
        raise no_run(key)
    return present.run(key, record, record.job_name)


def no_run(key: RunKey) -> NotFound:
    return NotFound(f"there is no run {run_text(key)}", field="run", fix="list them: GET /v1/runs")


async def _check(call: Call, command: Command[Any], submissions: Sequence[Submission], path: str) -> None:
    """One owner looks at all the jobs itself, before it stores anything (see `_pointing`); for several we look here."""
    try:
        await call.validator.check_submissions(submissions, call.now_us, path)
        shards = {call.shard_of_ref(ref) for ref in {submission.job for submission in submissions}}
        if len({call.node.owner_address(shard) for shard in shards}) > 1:
            await _check_jobs(call, submissions, path)
    except NoonmarkError:
        if not await call.was_begun(command):
            raise


async def _check_jobs(call: Call, submissions: Sequence[Submission], path: str) -> None:
    known = await _known_jobs(call, {submission.job for submission in submissions})
    for position, submission in enumerate(submissions):
        field = path.format(position) + "job"
        job = known.get(submission.job)
        if job is None:
            raise NotFound(f"there is no job {submission.job[:80]!r}", field=field, fix="create it: POST /v1/jobs")
        if not job.active:
            fix = "resume it: POST /v1/jobs/{job}/resume"
            raise JobPaused(f"the job {submission.job!r} is paused and starts nothing", field=field, fix=fix)


async def _known_jobs(call: Call, refs: set[str]) -> dict[str, KnownJob]:
    ids: dict[JobId, str] = {}
    names: list[str] = []
    for ref in refs:
        if not ref.startswith(ID_PREFIX):
            names.append(ref)
            continue
        try:
            ids[parse_job(ref)] = ref
        except InvalidInput:
            continue
    known: dict[str, KnownJob] = {}
    if ids:
        found = await fetch_jobs(call.node.pool, call.tenant_id, list(ids))
        known |= {ids[job_id]: KnownJob(job_id, record.active) for job_id, record in found.items()}
    if names := [name for name in names if "\0" not in name]:
        pairs = [(call.shard_of_ref(name), name) for name in names]
        known |= await fetch_job_ids(call.node.pool, call.tenant_id, pairs)
    return known
