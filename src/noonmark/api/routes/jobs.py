"""/v1/jobs: create, read, list, change, delete, pause, resume, and trigger jobs; their runs and versions."""

from typing import Annotated

import msgspec

from noonmark.api import present
from noonmark.api.bodies import JobBatch, JobList, JobPage
from noonmark.api.call import Call
from noonmark.api.dispatch.answer import Response
from noonmark.api.dispatch.signature import Header
from noonmark.api.middleware.etags import expected_version
from noonmark.api.middleware.pages import AfterName, Cursor, Limit, cut, decode_cursor, encode_cursor
from noonmark.api.routes.job_answers import reread, tagged
from noonmark.api.routes.runs import submit_one
from noonmark.api.routes.selection import JobState, Labels, NamePrefix, Queue, Task, selection
from noonmark.api.validate import in_turns
from noonmark.errors import DuplicateName, NoonmarkError, NotFound
from noonmark.store.reads import jobs as reads
from noonmark.wire.commands import CreateJobs, DeleteJobs, PatchJob, PauseJobs, ResumeJobs
from noonmark.wire.jobs import Trigger
from noonmark.wire.resources import Job, JobPatch, JobSpec, Run, Submission

IfMatch = Annotated[
    str | None, Header("If-Match"), msgspec.Meta(max_length=40, description="The version that the change is meant for.")
]


async def create_job(data: JobSpec, call: Call) -> Response[Job]:
    """Makes a job; a name that is taken is refused."""
    [job] = await _create(call, [data], "")
    return tagged(job, 201, {"Location": f"/v1/jobs/{job.id}"})


async def create_jobs(data: JobBatch, call: Call) -> JobList:
    """Up to 10,000 jobs, all checked before any is stored.

    Each owner stores its part of the batch or none of it. If an owner fails after another has stored its part, the
    answer is 503 `partly_done` and its detail names the jobs that were created.
    """
    return JobList(await _create(call, data.jobs, "jobs[{}]."))


async def list_jobs(
    call: Call,
    limit: Limit = 100,
    cursor: Cursor = None,
    name_prefix: NamePrefix = "",
    in_state: JobState = None,
    labels: Labels = None,
    task: Task = None,
    queue: Queue = None,
    count: Annotated[bool, msgspec.Meta(description="Also count all that match.")] = False,
) -> JobPage:
    """By name: it is unique in the tenant and never changes, so no job is shown twice or left out between pages."""
    wanted = selection(name_prefix=name_prefix, labels=labels, state=in_state, task=task, queue=queue)
    place = (call.node.pool, call.tenant_id, call.node.shard_count, wanted)
    after = decode_cursor(cursor, AfterName).name
    rows, more = cut(await reads.list_jobs(*place, after=after, limit=limit + 1), limit)
    jobs = [present.job(row, call.tenant, call.now_us) async for _, row in in_turns(rows)]
    matching = await reads.count_jobs(*place) if count else None
    return JobPage(jobs, encode_cursor(AfterName(jobs[-1].name)) if more else None, matching)


async def read_job(ref: str, call: Call) -> Response[Job]:
    """One job, by its id or its name."""
    return tagged(present.job(await call.job(ref), call.tenant, call.now_us))


async def change_job(ref: str, data: JobPatch, call: Call, if_match: IfMatch = None) -> Response[Job]:
    """Changes the fields that are given, as a new version."""
    expected = expected_version(if_match)
    record = await call.job(ref)
    await call.validator.check_patch(present.read_spec(record), data, call.now_us)

    change = PatchJob(**call.asked(), job_id=record.job_id, patch=data, expected_version=expected)
    await call.perform(change)
    return tagged(await reread(call, record.job_id))


async def delete_job(ref: str, call: Call, if_match: IfMatch = None) -> None:
    """Deletes the job; its waiting runs are withdrawn and its running ones are asked to stop."""
    expected = expected_version(if_match)
    try:
        job_id = (await call.job(ref)).job_id
    except NotFound:
        if await call.was_done():
            return
        raise
    await done_to(call, DeleteJobs(**call.asked(), job_ids=[job_id], expected_version=expected))


async def pause_job(ref: str, call: Call) -> Response[Job]:
    """No run of the job starts until it is resumed; running ones go on."""
    job_id = (await call.job(ref)).job_id
    await done_to(call, PauseJobs(**call.asked(), job_ids=[job_id]))
    return tagged(await reread(call, job_id))


async def resume_job(ref: str, call: Call) -> Response[Job]:
    """The job fires again, and its parked runs go on; occurrences during the pause are not made up for."""
    job_id = (await call.job(ref)).job_id
    await done_to(call, ResumeJobs(**call.asked(), job_ids=[job_id]))
    return tagged(await reread(call, job_id))


async def trigger_job(ref: str, call: Call, data: Trigger | None = None) -> Response[Run]:
    """One run of the job, now or at a time; the body may be left out.

    With a `dedup_key`, the same key leads to the run that exists for the next 24 hours.
    """
    asked = data or Trigger()
    run = await submit_one(call, Submission(job=ref, **msgspec.structs.asdict(asked)))
    return Response(run, headers={"Location": f"/v1/runs/{run.id}"})


async def _create(call: Call, specs: list[JobSpec], path: str) -> list[Job]:
    command = CreateJobs(**call.asked(), specs=specs)
    try:
        await call.validator.check_jobs(specs, call.now_us, path)
        await _refuse_known_names(call, specs, path)
    except NoonmarkError:
        if not await call.was_begun(command):
            raise
    job_ids = await call.perform(command)
    records = await reads.fetch_jobs(call.node.pool, call.tenant_id, job_ids)
    wanted = [records[job_id] for job_id in job_ids if job_id in records]
    if len(wanted) < len(job_ids):
        raise NotFound("a job was created, and has been deleted since")
    return [present.job(record, call.tenant, call.now_us) async for _, record in in_turns(wanted)]


async def done_to(call: Call, command: PauseJobs | ResumeJobs | DeleteJobs) -> None:
    """One job: raises why it could not be done."""
    [refusal] = await call.perform(command)
    if refusal is not None:
        raise NotFound(refusal.detail, field="job", fix="list the jobs: GET /v1/jobs")


async def _refuse_known_names(call: Call, specs: list[JobSpec], path: str) -> None:
    """The store refuses a duplicate in any case; here it is found before another owner stores its part."""
    names = [(call.shard_of_ref(spec.name), spec.name) for spec in specs]
    known = await reads.fetch_job_ids(call.node.pool, call.tenant_id, names)
    for position, spec in enumerate(specs):
        if spec.name in known:
            raise DuplicateName(
                f"there is a job {spec.name!r} already",
                field=path.format(position) + "name",
                fix="choose another name, or change that job: PATCH /v1/jobs/{name}",
            )
