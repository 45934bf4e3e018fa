"""PUT /v1/jobs: jobs as they are declared. Equal jobs are left alone, so a request may be sent again at any time."""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from noonmark.api import present
from noonmark.api.call import Call
from noonmark.api.dispatch.answer import Response
from noonmark.api.dispatch.signature import Header
from noonmark.api.middleware.etags import etag, expected_version
from noonmark.api.routes.job_answers import reread
from noonmark.api.routes.jobs import IfMatch
from noonmark.errors import InvalidInput
from noonmark.model.ids import job_text
from noonmark.store.reads.jobs import fetch_job_ids, fetch_jobs
from noonmark.wire.commands import ApplyJobs
from noonmark.wire.jobs import AppliedJob, AppliedList, AppliedName, ApplyBatch, JobDefinition
from noonmark.wire.resources import JobSpec

IfNoneMatch = Annotated[
    str | None, Header("If-None-Match"), msgspec.Meta(max_length=40, description="`*`: create the job, change none.")
]


async def put_job(
    ref: str,
    data: JobDefinition,
    call: Call,
    if_match: IfMatch = None,
    if_none_match: IfNoneMatch = None,
) -> Response[AppliedJob]:
    """Makes the job of this name, or changes it to exactly this definition.

    A field that is left out returns to its default. The answer is 201 if the job was created, else 200;
    `outcome` says whether anything changed. An equal definition makes no new version.
    """
    if data.name not in ("", ref):
        raise InvalidInput("name", f"{data.name!r} is not the name in the path", "leave it out, or make them equal")
    create_only = if_none_match is not None
    if if_none_match not in (None, "*"):
        raise InvalidInput("If-None-Match", f"{if_none_match!r} cannot be asked for here", "send *, or leave it out")
    expected = expected_version(if_match)
    spec = JobSpec(**{**msgspec.structs.asdict(data), "name": ref})
    await call.validator.check_jobs([spec], call.now_us, "", await _standing(call, [spec]))

    command = ApplyJobs(**call.asked(), specs=[spec], expected_version=expected, create_only=create_only)
    [applied] = await call.perform(command)
    assert applied.job_id is not None
    shown = await reread(call, applied.job_id)
    job = AppliedJob(**msgspec.structs.asdict(shown), outcome=applied.outcome)
    headers = {"ETag": etag(job)}
    if job.outcome == "created":
        headers["Location"] = f"/v1/jobs/{job.id}"
    return Response(job, status_code=201 if job.outcome == "created" else 200, headers=headers)


async def put_jobs(data: ApplyBatch, call: Call) -> AppliedList:
    """Up to 1,000 jobs, all checked before any is stored; each is created, changed or left unchanged.

    It may be sent again at any time: what is done already is unchanged then. With `dry_run` it only says what it would
    do. If an owner fails after another has done its part, the answer is 503 `partly_done`.
    """
    await call.validator.check_jobs(data.jobs, call.now_us, "jobs[{}].", await _standing(call, data.jobs))
    done = await call.perform(ApplyJobs(**call.asked(), specs=data.jobs, dry_run=data.dry_run))
    return AppliedList(
        [
            AppliedName(name=spec.name, id=None if one.job_id is None else job_text(one.job_id), outcome=one.outcome)
            for spec, one in zip(data.jobs, done, strict=True)
        ]
    )


async def _standing(call: Call, specs: Sequence[JobSpec]) -> dict[str, JobSpec]:
    """The definitions that jobs of these names have now."""
    names = [(call.shard_of_ref(spec.name), spec.name) for spec in specs if "\0" not in spec.name]
    known = await fetch_job_ids(call.node.pool, call.tenant_id, names)
    found = await fetch_jobs(call.node.pool, call.tenant_id, [one.job_id for one in known.values()])
    return {spec.name: spec for spec in map(present.read_spec, found.values())}
