"""/v1/runs: submit many, read one with its attempts, cancel one."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import cast

import msgspec
from litestar import get, post
from litestar.params import FromPath, JSONBody

from noonmark.api import present
from noonmark.api.bodies import AttemptList, RunBatch, RunIds
from noonmark.api.body import JsonBody
from noonmark.api.call import Call, Here
from noonmark.api.validate import ID_PREFIX
from noonmark.errors import InvalidInput, JobPaused, NotFound
from noonmark.model.ids import JobId, RunKey, parse_job, parse_run, run_text, shard_of
from noonmark.store.reads.jobs import KnownJob, fetch_job_ids, fetch_jobs
from noonmark.store.reads.runs import ALL_STATES, RunState, fetch_run, list_attempts
from noonmark.wire.resources import Run, Submission

_MAX_ATTEMPTS = 1000


@post("/batch", status_code=202, dto=JsonBody, return_dto=None)
async def submit_runs(data: JSONBody[RunBatch], call: Here) -> RunIds:
    """Up to 10,000 runs, of one job or of many; the ids come back in order.

    All are checked before any is stored, and each owner stores its part of the batch or none of it. If an owner fails
    after another has stored its part, the answer is 503 `partly_done` and its detail names the runs that exist.
    """
    await _check(call, data.runs, "runs[{}].")

    async def here(submissions: list[Submission]) -> list[str]:
        async with _pointing(call, data.runs, "runs[{}]."):
            return [run_text(key) for key in await call.node.submit(call.tenant_id, submissions)]

    shards = {ref: call.shard_of_ref(ref) for ref in {submission.job for submission in data.runs}}
    return RunIds(
        await call.at_owners(
            data.runs,
            [shards[submission.job] for submission in data.runs],
            here=here,
            body=RunBatch,
            read=lambda answer, _: msgspec.json.decode(answer, type=RunIds).runs,
            label=lambda position: f"runs[{position}]",
        )
    )


@get("/{run_id:str}")
async def read_run(run_id: FromPath[str], call: Here) -> Run:
    return await _read(call, parse_run(run_id))


@get("/{run_id:str}/attempts")
async def list_run_attempts(run_id: FromPath[str], call: Here) -> AttemptList:
    """The attempts that ended, first to last."""
    key = parse_run(run_id)
    rows = await list_attempts(call.node.pool, call.tenant_id, key, _MAX_ATTEMPTS)
    if not rows:
        await _read(call, key)
    return AttemptList([present.attempt(key, row) for row in rows])


@post("/{run_id:str}/cancel", status_code=202)
async def cancel_run(run_id: FromPath[str], call: Here) -> Run:
    """A waiting run ends at once; a running one is stopped by its worker, so its state may still be `running`."""
    key = parse_run(run_id)
    await _read(call, key)

    async def command() -> Run:
        await call.node.cancel_run(call.tenant_id, key)
        return await _read(call, key)

    return await call.at_owner(shard_of(key[0]), command, Run)


async def submit_one(call: Call, submission: Submission) -> Run:
    await _check(call, [submission], "")

    async def command() -> Run:
        async with _pointing(call, [submission], ""):
            key = (await call.node.submit(call.tenant_id, [submission]))[0]
        return await _read(call, key)

    return await call.at_owner(call.shard_of_ref(submission.job), command, Run)


@asynccontextmanager
async def _pointing(call: Call, submissions: Sequence[Submission], path: str) -> AsyncIterator[None]:
    """When the owner refuses a job, looks which submission it was, so that the answer names its place."""
    try:
        yield
    except (NotFound, JobPaused):
        await _check_jobs(call, submissions, path)
        raise


def states_of(names: Sequence[str] | None) -> Sequence[RunState]:
    for name in names or ():
        if name not in ALL_STATES:
            raise InvalidInput("state", f"{name[:40]!r} is not a state", f"use any of {', '.join(ALL_STATES)}")
    return cast(Sequence[RunState], names) or ALL_STATES


async def _read(call: Call, key: RunKey) -> Run:
    record = await fetch_run(call.node.pool, call.tenant_id, key)
    if record is None:
        raise NotFound(f"there is no run {run_text(key)}", field="run", fix="list them: GET /v1/jobs/{job}/runs")
    return present.run(key, record, record.job_name)


async def _check(call: Call, submissions: Sequence[Submission], path: str) -> None:
    """A node that owns all the jobs looks at them itself, before it stores anything; see `_pointing`."""
    await call.validator.check_submissions(submissions, call.now_us, path)
    if not all(call.node.owns(call.shard_of_ref(ref)) for ref in {submission.job for submission in submissions}):
        await _check_jobs(call, submissions, path)


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


handlers = [submit_runs, read_run, list_run_attempts, cancel_run]
