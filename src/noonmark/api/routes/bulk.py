"""POST /v1/jobs/bulk: one action on all jobs that match a filter, counted first."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple, assert_never

import msgspec

from noonmark.api.access.roles import ADMIN, check
from noonmark.api.call import Call
from noonmark.api.middleware.pages import AfterName, decode_cursor, encode_cursor
from noonmark.api.problems import Relayed
from noonmark.api.routes.selection import selection
from noonmark.clock import monotonic_s
from noonmark.errors import Conflict, InvalidInput, NoonmarkError, NotFound, NotOwner
from noonmark.model.ids import JobId, job_text, parse_job, shard_of
from noonmark.node.commands.asking import asked_by
from noonmark.store.reads.jobs import JobFilter, count_jobs, fetch_jobs, list_jobs
from noonmark.wire.bulk import Action, BulkFailure, BulkJobs, BulkJobsAnswer

SAMPLE = 10
_PAGE = 100
_AT_ONCE = 16
_PATIENCE_S = 8.0
"""A request that works for longer answers with what it did, and a cursor."""


_Failures = dict[str, BulkFailure]
"""By the id of the job."""


class _Named(msgspec.Struct, frozen=True):
    name: str


class _Target(NamedTuple):
    job_id: JobId
    name: str
    active: bool


class _Part(msgspec.Struct, frozen=True, kw_only=True):
    """What another node gets: its own jobs, by id."""

    action: Action
    jobs: list[str]
    confirm: bool = True


async def bulk_jobs(data: BulkJobs, call: Call) -> BulkJobsAnswer:
    """Pauses, resumes or deletes all jobs that match, in the order of their names.

    Ask with `dry_run` first: it answers how many match. Then send that number as `expect`, or `confirm` to go ahead
    whatever their number. One request does up to 10,000 jobs, and works for some seconds; `next_cursor` tells that
    there is more. Each job is done on its own: those that could not be are in `failed`.
    """
    if data.action == "delete":
        check(asked_by(), ADMIN)
    if (data.filter is None) == (data.jobs is None):
        raise InvalidInput("filter", "exactly one of filter and jobs is needed", "say which jobs are meant")
    if not data.dry_run and data.expect is None and not data.confirm:
        raise InvalidInput("expect", "it is not said how many jobs are meant", "ask with dry_run, then send its count")
    if data.jobs is not None:
        return await _named(call, data, data.jobs)
    return await _matching(call, data, _filter_of(data))


def _filter_of(data: BulkJobs) -> JobFilter:
    wanted = data.filter
    assert wanted is not None
    found = selection(
        name_prefix=wanted.name_prefix or "",
        labels=wanted.labels,
        state=wanted.state,
        task=wanted.task,
        queue=wanted.queue,
        path="filter.",
        label_field="labels",
    )
    if found == JobFilter():
        raise InvalidInput("filter", "it names no condition, and would mean every job", "name at least one")
    return found


async def _matching(call: Call, data: BulkJobs, wanted: JobFilter) -> BulkJobsAnswer:
    pool, after = call.node.pool, decode_cursor(data.cursor, AfterName).name
    matched = await count_jobs(pool, call.tenant_id, call.node.shard_count, wanted, after=after)
    if data.expect is not None and not data.dry_run and data.cursor is None and matched != data.expect:
        raise Conflict(
            f"{matched} jobs match, not {data.expect}", field="expect", fix="look at them again: send it with dry_run"
        )
    sample: list[str] = []
    failed: list[BulkFailure] = []
    done = seen = 0
    until_s = monotonic_s() + _PATIENCE_S
    while seen < data.limit and (seen == 0 or monotonic_s() < until_s):
        size = min(_PAGE, data.limit - seen)
        rows = await list_jobs(pool, call.tenant_id, call.node.shard_count, wanted, after=after, limit=size)
        page = [_Target(row.job_id, _name(row.spec), row.active) for row in rows]
        sample += [target.name for target in page[: SAMPLE - len(sample)]]
        if not page or data.dry_run:
            break
        outcomes = await _act(call, data.action, page)
        failed += [failure for failure in outcomes if failure is not None]
        done += sum(failure is None for failure in outcomes)
        seen += len(page)
        after = page[-1].name
        if len(page) < size:
            break
    left = seen and seen < matched
    return BulkJobsAnswer(
        dry_run=data.dry_run,
        matched=matched,
        done=done,
        failed=failed,
        sample=sample,
        next_cursor=encode_cursor(AfterName(after)) if left else None,
    )


async def _named(call: Call, data: BulkJobs, refs: Sequence[str]) -> BulkJobsAnswer:
    job_ids = list(dict.fromkeys(parse_job(ref) for ref in refs))
    found = await fetch_jobs(call.node.pool, call.tenant_id, job_ids)
    targets = [_Target(job_id, _name(record.spec), record.active) for job_id, record in found.items()]
    if data.expect is not None and not data.dry_run and len(targets) != data.expect:
        raise Conflict(f"{len(targets)} of the jobs exist, not {data.expect}", field="expect", fix="send their number")
    outcomes = [] if data.dry_run else await _act(call, data.action, targets)
    gone = NotFound("there is no such job")
    missing = [] if data.dry_run else [_failure(job_id, gone) for job_id in job_ids if job_id not in found]
    return BulkJobsAnswer(
        dry_run=data.dry_run,
        matched=len(targets),
        done=sum(failure is None for failure in outcomes),
        failed=[failure for failure in outcomes if failure is not None] + missing,
        sample=[target.name for target in targets[:SAMPLE]],
        next_cursor=None,
    )


async def _act(call: Call, action: Action, targets: Sequence[_Target]) -> list[BulkFailure | None]:
    """What became of each; None if it is as was asked for."""
    todo = [target for target in targets if _lacks(action, target.active)]

    async def here(part: list[_Target]) -> list[_Failures]:
        some = asyncio.Semaphore(_AT_ONCE)
        failed = await asyncio.gather(*(_one(call, action, target.job_id, some) for target in part))
        return [{failure.job: failure for failure in failed if failure is not None}] * len(part)

    def read(answer: bytes, size: int) -> list[_Failures]:
        failed = msgspec.json.decode(answer, type=BulkJobsAnswer).failed
        return [{failure.job: failure for failure in failed}] * size

    try:
        found = await call.at_owners(
            todo,
            [shard_of(target.job_id) for target in todo],
            here=here,
            body=lambda part: _Part(action=action, jobs=[job_text(target.job_id) for target in part]),
            read=read,
            label=lambda position: todo[position].name,
        )
    except NoonmarkError as error:
        failures = await _undone(call, action, todo, error)
    else:
        failures = {ref: failure for one in found for ref, failure in one.items()}
    return [failures.get(job_text(target.job_id)) for target in targets]


async def _one(call: Call, action: Action, job_id: JobId, some: asyncio.Semaphore) -> BulkFailure | None:
    try:
        async with some:
            await _done(call, action, job_id)
    except NotOwner:
        raise  # the job's owner is asked anew
    except NoonmarkError as error:
        return _failure(job_id, error)
    return None


async def _done(call: Call, action: Action, job_id: JobId) -> None:
    match action:
        case "pause":
            await call.node.pause_job(call.tenant_id, job_id)
        case "resume":
            await call.node.resume_job(call.tenant_id, job_id)
        case "delete":
            await call.node.delete_job(call.tenant_id, job_id, None)
        case _:
            assert_never(action)


async def _undone(call: Call, action: Action, todo: Sequence[_Target], error: NoonmarkError) -> _Failures:
    """An owner did not answer: what is as was asked for is done, whoever did it."""
    found = await fetch_jobs(call.node.pool, call.tenant_id, [target.job_id for target in todo])
    left = [job_id for job_id, record in found.items() if _lacks(action, record.active)]
    return {job_text(job_id): _failure(job_id, error) for job_id in left}


def _lacks(action: Action, active: bool) -> bool:
    return action == "delete" or active != (action == "resume")


def _failure(job_id: JobId, error: NoonmarkError) -> BulkFailure:
    code = error.problem.code if isinstance(error, Relayed) else error.code
    return BulkFailure(job=job_text(job_id), code=code, detail=error.message)


def _name(spec: str) -> str:
    return msgspec.json.decode(spec, type=_Named).name
