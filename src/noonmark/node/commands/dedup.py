"""Submissions with a key of their own: each makes one run, however often it is sent.

The keys are rows, read and written in the transaction that makes the runs; the owner is the only writer of its jobs, so
two submissions with one key meet in the committer's order, also across a change of owner. All that arrive while a
commit is under way share the next one. A key is good for a day; afterwards it makes a new run.
"""

from typing import NamedTuple

from noonmark.errors import JobPaused, NoonmarkError, NotFound, NotOwner, OutcomeUnknown
from noonmark.model.audit import Entry, entry
from noonmark.model.ids import JobId, RunKey, shard_of
from noonmark.model.job_row import JobRow
from noonmark.model.request import KEPT_US, RequestRow
from noonmark.model.run import RunRow
from noonmark.node.commands.ends import audit_details
from noonmark.node.commands.once import by_shard, request_rows
from noonmark.node.commands.turn import admit, fire
from noonmark.node.life import DedupRequest, Life
from noonmark.planning.runs import asleep_beyond, submitted_run
from noonmark.store.audit import record
from noonmark.store.connect import Connection
from noonmark.store.dedup import DedupKey, find_dedup_keys, keep_dedup_keys
from noonmark.store.fence import fenced
from noonmark.store.jobs import load_job_rows
from noonmark.store.requests import keep_requests
from noonmark.wire.commands import SubmitRuns
from noonmark.wire.resources import Submission


class _Made(NamedTuple):
    """The rows of one commit, over all requests that share it."""

    rows: list[RunRow]
    known: dict[DedupKey, RunKey]
    new: dict[DedupKey, RunKey]
    audit: list[Entry]
    requests: list[RequestRow]


async def submit_once(life: Life, command: SubmitRuns, job_ids: list[JobId]) -> list[RunKey]:
    """The keys of the runs in the order of the submissions: new ones, or those that their keys lead to."""
    request = DedupRequest(command, job_ids)
    life.deduplicated.append(request)
    try:
        await life.committer.perform(lambda connection: _commit(life, connection))
    except NotOwner:
        if request in life.deduplicated:
            raise
        # Another's turn had taken it along, and it is that one's commit which failed.
        raise OutcomeUnknown("it is unknown whether this was done", fix="send it again, with its keys") from None
    if isinstance(request.answer, NoonmarkError):
        raise request.answer
    assert request.answer is not None, "its own turn leaves nothing to wait"
    return request.answer


async def _commit(life: Life, connection: Connection) -> None:
    requests = life.deduplicated[:]
    life.deduplicated.clear()
    if not requests:
        return
    now_us = life.clock.now_us()
    jobs = {one.job_id: one for one in await load_job_rows(connection, list({i for r in requests for i in r.job_ids}))}
    keys = [
        (job_id, submission.dedup_key)
        for request in requests
        for job_id, submission in zip(request.job_ids, request.command.submissions, strict=True)
        if submission.dedup_key is not None
    ]
    made = _Made([], await find_dedup_keys(connection, keys, now_us), {}, [], [])
    answers: list[tuple[DedupRequest, list[RunKey]]] = []
    for request in requests:
        try:
            answers.append((request, _decide(life, request, jobs, made, now_us)))
        except NoonmarkError as error:
            request.answer = error
    if made.rows or made.requests:
        async with fenced(connection, life.node_id):
            await fire(life, connection, made.rows)
            await keep_dedup_keys(connection, made.new, now_us + KEPT_US)
            await record(connection, made.audit)
            await keep_requests(connection, made.requests)
        await admit(life, connection, made.rows)
    for request, answer in answers:
        request.answer = answer


def _decide(life: Life, request: DedupRequest, jobs: dict[JobId, JobRow], made: _Made, now_us: int) -> list[RunKey]:
    """A refused request leaves nothing in `made`."""
    rows: list[RunRow] = []
    new: dict[DedupKey, RunKey] = {}
    answer: list[RunKey] = []
    command = request.command
    shards = [shard_of(job_id) for job_id in request.job_ids]
    life.check_command(command, set(shards))
    for submission, job_id in zip(command.submissions, request.job_ids, strict=True):
        job = jobs.get(job_id)
        if job is None:
            raise NotFound(f"there is no job {submission.job!r}", field="job", fix="create it first")
        key = None if submission.dedup_key is None else (job_id, submission.dedup_key)
        known = None if key is None else made.known.get(key) or new.get(key)
        if known is None:
            row = _row(life, submission, job, now_us)
            rows.append(row)
            known = row.key
            if key is not None:
                new[key] = known
        answer.append(known)
    made.rows.extend(rows)
    made.known.update(new)
    made.new.update(new)
    if rows:
        subject, after = audit_details([row.key for row in rows])
        made.audit.append(entry(command.caller, command.tenant_id, now_us, "run.submit", subject, after=after))
    made.requests.extend(request_rows(command, by_shard(shards, answer), now_us))
    return answer


def _row(life: Life, submission: Submission, job: JobRow, now_us: int) -> RunRow:
    if not job.active:
        raise JobPaused(f"the job {job.name!r} is paused", field="job", fix="resume it first")
    row = submitted_run(job, life.owner.next_nominal_us(now_us), submission)
    return asleep_beyond(row, life.owner.watermarks[job.shard])
