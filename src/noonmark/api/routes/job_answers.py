"""A job as an answer: read after the change, with its ETag."""

from noonmark.api import present
from noonmark.api.call import Call
from noonmark.api.dispatch.answer import Response
from noonmark.api.middleware.etags import etag
from noonmark.errors import NotFound
from noonmark.model.ids import JobId
from noonmark.store.reads.jobs import JobRecord, fetch_jobs
from noonmark.wire.resources import Job


async def reread(call: Call, job_id: JobId) -> Job:
    return present.job(await reread_record(call, job_id), call.tenant, call.now_us)


async def reread_record(call: Call, job_id: JobId) -> JobRecord:
    found = await fetch_jobs(call.node.pool, call.tenant_id, [job_id])
    if job_id not in found:
        raise NotFound("the job was deleted meanwhile", field="job")
    return found[job_id]


def tagged(job: Job, status: int = 200, headers: dict[str, str] | None = None) -> Response[Job]:
    return Response(job, status_code=status, headers={"ETag": etag(job), **(headers or {})})
