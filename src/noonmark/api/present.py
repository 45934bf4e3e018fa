"""Rows as the resources that clients see."""

from datetime import datetime
from functools import lru_cache

import msgspec

from noonmark.api.recurrences import recurrence_of
from noonmark.clock import SECOND_US, to_datetime
from noonmark.model.ids import RunKey, job_text, run_text
from noonmark.model.reason import SENTENCES, Outcome, Reason
from noonmark.schedule import (
    ScheduleError,
    ScheduleSpec,
    canonical,
    describe,
    once_at_us,
    write_schedule,
)
from noonmark.store.reads.dead import DeadRecord
from noonmark.store.reads.jobs import JobRecord
from noonmark.store.reads.runs import AttemptRecord, RunRecord
from noonmark.wire.commands import SubmittedRun
from noonmark.wire.resources import NO_INPUT, Attempt, DeadLetter, Job, JobSpec, Run

_spec_decoder = msgspec.json.Decoder(JobSpec)


def read_spec(record: JobRecord) -> JobSpec:
    return _spec_decoder.decode(record.spec)


def job(record: JobRecord, tenant: str, now_us: int) -> Job:
    spec = read_spec(record)
    next_us = _next_us(record, spec, now_us) if record.active else None
    understood, description = _understood(spec.schedule)
    return Job(
        id=job_text(record.job_id),
        name=spec.name,
        tenant=tenant,
        version=record.version,
        state="active" if record.active else "paused",
        task=spec.task,
        schedule=spec.schedule,
        input=spec.input,
        queue=spec.queue,
        priority=spec.priority,
        timeout_s=spec.timeout_s,
        start_deadline_s=spec.start_deadline_s,
        retry=spec.retry,
        delivery=spec.delivery,
        misfire=spec.misfire,
        jitter_s=spec.jitter_s,
        next_at=_time(next_us),
        created_at=to_datetime(record.created_us),
        updated_at=to_datetime(record.updated_us),
        canonical=understood,
        description=description,
        labels=spec.labels,
    )


@lru_cache(maxsize=16_384)
def _understood(schedule: ScheduleSpec) -> tuple[str, str]:
    """Its canonical text and its sentence. Jobs share few schedules, and a listing asks for a thousand."""
    try:
        plain = canonical(schedule)
    except ScheduleError:
        # Written by a newer node, or with a zone that the database of zones has lost: the job is still to be shown.
        return "", ""
    return write_schedule(plain), describe(plain)


def _next_us(record: JobRecord, spec: JobSpec, now_us: int) -> int | None:
    """The next nominal time; a job's own jitter comes on top. A fixed delay has none while its run goes on."""
    if record.schedule is not None:
        next_us = _next_of_second(record.schedule, max(now_us, record.planned_us) // SECOND_US)
        while next_us is not None and next_us in (record.skips or ()):
            next_us = _next_of_second(record.schedule, next_us // SECOND_US)
        over = next_us is not None and record.ends_us is not None and next_us > record.ends_us
        return None if over else next_us
    known_us = once_at_us(spec.schedule, record.created_us) if record.current_run_us is None else record.current_run_us
    return known_us if known_us is not None and known_us > now_us else None


@lru_cache(maxsize=4096)
def _next_of_second(text: str, now_s: int) -> int | None:
    """Occurrences are whole seconds, so jobs that share a schedule share the answer for a second."""
    return recurrence_of(text).next_after(now_s * SECOND_US)


def run(key: RunKey, record: RunRecord, job_name: str | None) -> Run:
    reason, why = explain(record.reason)
    state = record.state
    return Run(
        id=run_text(key),
        job=job_text(key[0]),
        job_name=job_name,
        version=record.version,
        state=state,
        reason=reason,
        why=why,
        priority=record.priority,
        attempt=record.attempt + 1 if state == "running" else record.attempt,
        nominal_at=to_datetime(record.nominal_us),
        due_at=to_datetime(record.due_us),
        finished_at=_time(record.finished_us),
        error=record.error,
    )


def submitted_run(made: SubmittedRun) -> Run:
    """As it stood when it was committed."""
    key = (made.job_id, made.nominal_us)
    record = RunRecord(
        made.nominal_us, made.due_us, made.version, made.priority, 0, made.reason, None, "waiting", None, None
    )
    return run(key, record, made.job_name)


def attempt(key: RunKey, record: AttemptRecord) -> Attempt:
    reason, why = explain(record.reason)
    return Attempt(
        run=run_text(key),
        attempt=record.attempt,
        outcome=Outcome(record.outcome).name.lower(),
        reason=reason,
        why=why,
        final=record.final,
        worker=record.worker_id,
        nominal_at=to_datetime(key[1]),
        due_at=to_datetime(record.due_us),
        granted_at=_time(record.granted_us),
        started_at=_time(record.started_us),
        finished_at=to_datetime(record.finished_us),
        error=record.error,
        result=None if record.result is None else msgspec.Raw(record.result),
    )


def dead_letter(record: DeadRecord) -> DeadLetter:
    reason, why = explain(record.reason)
    return DeadLetter(
        run=run_text((record.job_id, record.nominal_us)),
        job=job_text(record.job_id),
        version=record.version,
        died_at=to_datetime(record.died_us),
        nominal_at=to_datetime(record.nominal_us),
        attempts=record.attempt,
        reason=reason,
        why=why,
        error=record.error,
        input=NO_INPUT if record.input is None else msgspec.Raw(record.input),
    )


def explain(code: int) -> tuple[str, str]:
    """The name and the sentence; during an upgrade a newer node may have written a code that we do not know."""
    try:
        reason = Reason(code)
    except ValueError:
        return f"reason_{code}", "a newer node knows why"
    return reason.name.lower(), SENTENCES[reason]


def _time(instant_us: int | None) -> datetime | None:
    return None if instant_us is None else to_datetime(instant_us)
