"""/v1/jobs/{ref}/fires, /skip and /backfill: the times that a job's schedule names, to come and past."""

import asyncio
from datetime import UTC, datetime
from typing import Annotated

import msgspec

from noonmark.api import present
from noonmark.api.call import Call
from noonmark.api.dispatch.signature import Query
from noonmark.api.recurrences import recurrence_of
from noonmark.clock import from_datetime, to_datetime
from noonmark.errors import InvalidInput
from noonmark.model.ids import RunKey, job_text, run_text
from noonmark.schedule import once_at_us
from noonmark.schedule.preview import MAX_FIRES, Notice, fires_at
from noonmark.store.reads.jobs import JobRecord
from noonmark.wire.commands import BackfillJob, SkipFire, UnskipFire
from noonmark.wire.jobs import Backfill, BackfillAnswer, JobFire, JobFires, Skip, Skipped
from noonmark.wire.resources import JobSpec

Count = Annotated[int, msgspec.Meta(ge=1, le=MAX_FIRES, description="How many to return at most.")]
From = Annotated[datetime | None, Query("from"), msgspec.Meta(description="Fires after this time; left out: now.")]
Nominal = Annotated[datetime | None, msgspec.Meta(description="The skipped occurrence; left out: the first.")]

_EARLIEST, _LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
_FAR_US = 7_258_118_400_000_000


async def list_fires(ref: str, call: Call, count: Count = 10, from_at: From = None) -> JobFires:
    """The next fires of a job: within its bounds, with its own jitter, and with what it was told to skip.

    A paused job has none until it is resumed; of a fixed delay only the next can be known.
    """
    record = await call.job(ref)
    after_us = call.now_us if from_at is None else _instant("from", from_at)
    key = call.schedule_key(present.read_spec(record).name)
    fires, notices, more = await asyncio.to_thread(_fires, record, key, after_us, count)
    return JobFires(
        job=job_text(record.job_id),
        state="active" if record.active else "paused",
        fires=fires,
        more=more,
        notices=notices,
    )


async def skip_fire(ref: str, call: Call, data: Skip | None = None) -> Skipped:
    """Skips the next fire, or the one that is named: it never runs. To ask again changes nothing.

    If its run exists but has not started, the run is withdrawn; one that has started can only be cancelled.
    """
    job_id = (await call.job(ref)).job_id
    nominal_at = None if data is None else data.nominal_at
    nominal_us = None if nominal_at is None else _instant("nominal_at", nominal_at)
    return _shown(await call.perform(SkipFire(**call.asked(), job_id=job_id, nominal_us=nominal_us)), skipped=True)


async def unskip_fire(ref: str, call: Call, nominal_at: Nominal = None) -> Skipped:
    """Takes back a skip whose time is to come: of the named occurrence, or of the first."""
    job_id = (await call.job(ref)).job_id
    nominal_us = None if nominal_at is None else _instant("nominal_at", nominal_at)
    return _shown(await call.perform(UnskipFire(**call.asked(), job_id=job_id, nominal_us=nominal_us)), skipped=False)


async def backfill(ref: str, data: Backfill, call: Call) -> BackfillAnswer:
    """Makes runs for occurrences of a range in the past that have none and had none; they are due at once.

    Each gets the nominal time of its occurrence, so none can run twice, however often this is sent.
    """
    from_us, to_us = _instant("from", data.from_at), _instant("to", data.to)
    if to_us > call.now_us:
        raise InvalidInput("to", f"{data.to.isoformat()} is not in the past", "use a time up to now")
    if from_us > to_us:
        raise InvalidInput("from", "the range ends before it begins", "give a start that is before the end")
    job_id = (await call.job(ref)).job_id
    found = await call.perform(
        BackfillJob(**call.asked(), job_id=job_id, from_us=from_us, to_us=to_us, limit=data.limit, dry_run=data.dry_run)
    )
    made = [to_datetime(nominal_us) for nominal_us in found.made_us]
    return BackfillAnswer(
        count=len(made),
        known=found.known,
        first_at=made[0] if made else None,
        last_at=made[-1] if made else None,
        next_from=None if found.next_us is None else to_datetime(found.next_us),
    )


def _shown(key: RunKey, *, skipped: bool) -> Skipped:
    return Skipped(job=job_text(key[0]), run=run_text(key), nominal_at=to_datetime(key[1]), skipped=skipped)


def _fires(record: JobRecord, key: str, after_us: int, count: int) -> tuple[list[JobFire], list[Notice], bool]:
    spec = present.read_spec(record)
    if not record.active:
        return [], [Notice("paused", "the job is paused and fires nothing until it is resumed")], False
    times, notices = _times(record, spec, after_us, count + 1)
    jitter_us = record.jitter_ms * 1000
    shown = fires_at(spec.schedule, times[:count], created_us=record.created_us, key=key)
    skips = record.skips or ()
    fires = [
        JobFire(
            nominal_at=fire.at,
            due_at=to_datetime(nominal_us + jitter_us),
            local=fire.local,
            zone=fire.zone,
            skipped=nominal_us in skips,
            note=fire.note,
        )
        for nominal_us, fire in zip(times, shown, strict=False)
    ]
    return fires, notices, len(times) > count


def _times(record: JobRecord, spec: JobSpec, after_us: int, most: int) -> tuple[list[int], list[Notice]]:
    if record.schedule is not None:
        last_us = _FAR_US if record.ends_us is None else record.ends_us
        times = recurrence_of(record.schedule).between(max(after_us, record.planned_us), last_us, most)
        return times, [] if times else [Notice("ended", "the schedule names no time after this")]
    if record.current_run_us is not None:
        notice = Notice("fixed_delay", "each run comes so long after the end of the one before: only the next is known")
        return [record.current_run_us] if record.current_run_us > after_us else [], [notice]
    once_us = once_at_us(spec.schedule, record.created_us)
    if once_us is None or once_us <= after_us:
        return [], [Notice("ended", "the schedule names no time after this")]
    return [once_us], []


def _instant(field: str, at: datetime) -> int:
    if at.utcoffset() is None:
        raise InvalidInput(field, "the time has no zone", "add an offset, such as Z or +02:00")
    if not _EARLIEST <= at <= _LATEST:
        raise InvalidInput(field, f"{at.isoformat()} is out of bounds", "use a time from 1970 to 2100")
    return from_datetime(at)
