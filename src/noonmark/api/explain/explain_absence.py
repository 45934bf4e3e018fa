"""/v1/jobs/{job}/explain?at=…: why a job did, or did not, run at a time."""

import asyncio
from datetime import datetime
from typing import Annotated

import msgspec

from noonmark.api.call import Call
from noonmark.api.explain.absence_story import AbsenceFacts, judge, meant, span_us
from noonmark.api.explain.explain_run import gather, to_story_lines
from noonmark.api.explain.run_story import story_of_run
from noonmark.api.routes.run_list import instant_of
from noonmark.api.validate import ID_PREFIX
from noonmark.clock import SECOND_US, to_datetime
from noonmark.errors import NotFound
from noonmark.model.ids import JobId, RunKey, job_text, run_text, shard_of
from noonmark.model.reason import SENTENCES, Reason
from noonmark.schedule.preview.context import PreviewContext
from noonmark.store.reads import story as reads
from noonmark.store.reads.jobs import JobRecord
from noonmark.store.reads.run_list import START, RunFilter, list_runs
from noonmark.store.reads.runs import LIVE_STATES, RunRecord, fetch_run
from noonmark.wire.resources import JobSpec
from noonmark.wire.runs import Absence, StoryLine

At = Annotated[
    datetime | None,
    msgspec.Meta(description="The time in question, now if left out; without seconds, the whole minute is meant."),
]
_MAX_EVENTS = 1_000


async def explain_absence(ref: str, call: Call, at: At = None) -> Absence:
    """Why did my job not run at that time? Or, if it did: which run it was, and its story."""
    at_us = instant_of("at", at, call.now_us)
    try:
        record = await call.job(ref)
    except NotFound as error:
        return await _deleted(call, ref, at_us, error)
    found = await _run_at(call, record.job_id, at_us)
    if found is not None:
        return await _of_run(call, record.job_id, at_us, *found)
    facts = await _gather(call, record, at_us)
    if facts.occurrence_us is not None:
        # Its nominal time lies in the span, but a run that is not live may be known by its key alone.
        key = (record.job_id, facts.occurrence_us)
        run = await fetch_run(call.node.pool, call.tenant_id, key)
        if run is not None:
            return await _of_run(call, record.job_id, at_us, key, run)
    verdict = judge(facts)
    return Absence(
        job=job_text(record.job_id),
        at=to_datetime(at_us),
        code=verdict.code,
        sentence=verdict.sentence,
        previous_at=None if verdict.previous_us is None else to_datetime(verdict.previous_us),
        next_at=None if verdict.next_us is None else to_datetime(verdict.next_us),
        story=to_story_lines(verdict.story),
    )


async def _run_at(call: Call, job_id: JobId, at_us: int) -> tuple[RunKey, RunRecord] | None:
    wanted = RunFilter(job_id=job_id, from_us=at_us, to_us=at_us + span_us(at_us))
    page = await list_runs(call.node.pool, call.tenant_id, call.node.shard_count, wanted, before=START, limit=1000)
    return page.runs[-1] if page.runs else None


async def _of_run(call: Call, job_id: JobId, at_us: int, key: RunKey, record: RunRecord) -> Absence:
    story = story_of_run(await gather(call, key, record))
    state = record.state
    if state in LIVE_STATES:
        sentence = f"there is a run of that time, which is {state}: {story[-1].sentence}"
    elif state == "succeeded":
        sentence = "it did run, and succeeded"
    elif record.reason == Reason.SKIPPED:
        sentence = SENTENCES[Reason.SKIPPED]
    else:
        sentence = f"there was a run of that time, and it ended as {state}: {story[-1].sentence}"
    return Absence(
        job=job_text(job_id),
        at=to_datetime(at_us),
        code="ran" if state == "succeeded" else "skipped" if record.reason == Reason.SKIPPED else state,
        sentence=sentence,
        run=run_text(key),
        story=to_story_lines(story),
    )


async def _gather(call: Call, record: JobRecord, at_us: int) -> AbsenceFacts:
    pool, now_us, job_id = call.node.pool, call.now_us, record.job_id
    version, events, audit_facts = await asyncio.gather(
        reads.fetch_version_at(pool, job_id, at_us + span_us(at_us)),
        reads.list_job_events(pool, job_id, now_us, _MAX_EVENTS),
        reads.list_audit_facts(
            pool, call.tenant_id, [job_text(job_id)], record.created_us - SECOND_US, now_us, submitted_until_us=0
        ),
    )
    spec = msgspec.json.decode(record.spec if version is None else version.spec, type=JobSpec)
    context = await asyncio.to_thread(
        PreviewContext,
        spec.schedule,
        now_us=record.created_us,
        jitter_s=spec.jitter_s,
        key=call.schedule_key(spec.name),
        tz=None,
    )
    occurrence_us = await asyncio.to_thread(meant, context, at_us)
    gap = None if occurrence_us is None else await reads.find_gap(pool, shard_of(job_id), occurrence_us)
    return AbsenceFacts(
        at_us, spec, context, record.created_us, record.planned_us, events, audit_facts, gap, occurrence_us, now_us
    )


async def _deleted(call: Call, ref: str, at_us: int, error: NotFound) -> Absence:
    """The id of a deleted job still leads to the caller that deleted it; another tenant's job stays unknown."""
    audit_facts = (
        await reads.list_audit_facts(call.node.pool, call.tenant_id, [ref], 0, call.now_us, submitted_until_us=0)
        if _is_id(ref)
        else []
    )
    gone = next((fact for fact in audit_facts if fact.action == "job.delete"), None)
    if gone is None:
        raise error
    when = to_datetime(gone.at_us)
    return Absence(
        job=ref,
        at=to_datetime(at_us),
        code="deleted",
        sentence=f"there is no such job any more: {gone.actor} deleted it at {when.isoformat(timespec='seconds')}",
        story=[StoryLine(when, "deleted", f"{gone.actor} deleted the job")],
    )


def _is_id(ref: str) -> bool:
    return ref.startswith(ID_PREFIX)
