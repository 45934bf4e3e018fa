"""POST /v1/jobs/bulk: one action on all jobs that match a filter, counted first."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from noonmark.api.access.roles import ADMIN, check
from noonmark.api.call import Call
from noonmark.api.middleware.pages import AfterName, decode_cursor, encode_cursor
from noonmark.api.routes.selection import selection
from noonmark.clock import monotonic_s
from noonmark.errors import Conflict, InvalidInput, NoonmarkError, NotFound, OutcomeUnknown, PartlyDone, Unavailable
from noonmark.model.ids import JobId, job_text, parse_job
from noonmark.store.reads.jobs import JobFilter, count_jobs, fetch_jobs, list_jobs
from noonmark.wire.bulk import Action, BulkFailure, BulkJobs, BulkJobsAnswer
from noonmark.wire.commands import DeleteJobs, PauseJobs, ResumeJobs

SAMPLE = 10
_PAGE = 1000
_PATIENCE_S = 8.0
"""A request that works for longer answers with its results so far, and a cursor."""


_Failures = dict[JobId, BulkFailure]
_GONE = (NotFound.code, "there is no such job")
_COMMANDS: dict[Action, type[PauseJobs] | type[ResumeJobs] | type[DeleteJobs]] = {
    "pause": PauseJobs,
    "resume": ResumeJobs,
    "delete": DeleteJobs,
}


class _Named(msgspec.Struct, frozen=True):
    name: str


class _Target(NamedTuple):
    job_id: JobId
    name: str
    active: bool


async def bulk_jobs(data: BulkJobs, call: Call) -> BulkJobsAnswer:
    """Pauses, resumes or deletes all jobs that match, in the order of their names.

    Ask with `dry_run` first: it answers how many match. Then send that number as `expect`, or `confirm` to go ahead
    with any number. One request does up to 10,000 jobs, and works for some seconds; `next_cursor` says that
    there is more. Each job is done on its own: those that could not be are in `failed`.
    """
    if data.action == "delete":
        check(call.caller, ADMIN)
    if (data.filter is None) == (data.jobs is None):
        raise InvalidInput("filter", "exactly one of filter and jobs is needed", "say which jobs are meant")
    if not data.dry_run and data.expect is None and not data.confirm:
        raise InvalidInput("expect", "it is not said how many jobs are meant", "ask with dry_run, then send its count")
    if data.dry_run:
        return await _bulk(call, data)
    known = await call.recall_answer(BulkJobsAnswer)
    return known if known is not None else await call.keep_answer(await _bulk(call, data))


async def _bulk(call: Call, data: BulkJobs) -> BulkJobsAnswer:
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
    missing = [] if data.dry_run else [_failure(job_id, *_GONE) for job_id in job_ids if job_id not in found]
    return BulkJobsAnswer(
        dry_run=data.dry_run,
        matched=len(targets),
        done=sum(failure is None for failure in outcomes),
        failed=[failure for failure in outcomes if failure is not None] + missing,
        sample=[target.name for target in targets[:SAMPLE]],
        next_cursor=None,
    )


async def _act(call: Call, action: Action, targets: Sequence[_Target]) -> list[BulkFailure | None]:
    """The error of each job; None for one that is done."""
    todo = [target for target in targets if _lacks(action, target.active)]
    if not todo:
        return [None] * len(targets)
    # It needs no key: sent again, it finds these jobs done.
    asked = {**call.asked(), "key": None, "job_ids": [target.job_id for target in todo]}
    try:
        refusals = await call.perform(_COMMANDS[action](**asked))
    except (Unavailable, OutcomeUnknown, PartlyDone) as error:
        failures = await _undone(call, action, todo, error)
    else:
        failures = {
            target.job_id: _failure(target.job_id, refusal.code, refusal.detail)
            for target, refusal in zip(todo, refusals, strict=True)
            if refusal is not None and action != "delete"
        }
    return [failures.get(target.job_id) for target in targets]


async def _undone(call: Call, action: Action, todo: Sequence[_Target], error: NoonmarkError) -> _Failures:
    """An owner did not answer: a job that is in the wanted state now counts as done."""
    found = await fetch_jobs(call.node.pool, call.tenant_id, [target.job_id for target in todo])
    left = [job_id for job_id, record in found.items() if _lacks(action, record.active)]
    return {job_id: _failure(job_id, error.code, error.message) for job_id in left}


def _lacks(action: Action, active: bool) -> bool:
    return action == "delete" or active != (action == "resume")


def _failure(job_id: JobId, code: str, detail: str) -> BulkFailure:
    return BulkFailure(job=job_text(job_id), code=code, detail=detail)


def _name(spec: str) -> str:
    return msgspec.json.decode(spec, type=_Named).name
