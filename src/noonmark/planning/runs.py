"""How runs are made."""

import msgspec

from noonmark.clock import from_datetime
from noonmark.model.job_row import JobRow
from noonmark.model.reason import Reason
from noonmark.model.run import RunRow
from noonmark.planning.plan import input_text
from noonmark.wire.resources import Submission


def make_run(
    job: JobRow, nominal_us: int, due_us: int, reason: Reason, input: str | None, priority: int | None = None
) -> RunRow:
    """A run before its first attempt. All runs that Python makes are made here."""
    return RunRow(
        job.job_id,
        nominal_us,
        due_us,
        job.tenant_id,
        job.version,
        job.policy_id,
        job.priority if priority is None else priority,
        0,
        0,
        reason,
        input,
    )


def scheduled_run(job: JobRow, nominal_us: int, reason: Reason = Reason.SCHEDULED) -> RunRow:
    return make_run(job, nominal_us, nominal_us + job.jitter_us, reason, job.input)


def submitted_run(job: JobRow, nominal_us: int, asked: Submission) -> RunRow:
    """A submitted run, for now or for later."""
    due_us = nominal_us if asked.at is None else max(nominal_us, from_datetime(asked.at))
    given = job.input if asked.input is msgspec.UNSET else input_text(asked.input)
    return make_run(job, nominal_us, due_us, Reason.TRIGGERED, given, asked.priority)


def asleep_beyond(row: RunRow, watermark_us: int) -> RunRow:
    """A run for later than its shard's watermark sleeps in its row until a tick passes its time."""
    return row._replace(sleeps=row.due_us > watermark_us)
