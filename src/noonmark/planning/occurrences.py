"""Which occurrences of a job become runs."""

from typing import NamedTuple

from noonmark.model.job_row import JobRow
from noonmark.model.reason import Reason
from noonmark.model.run import RunRow
from noonmark.planning.misfire import is_fired
from noonmark.planning.plan import Plan
from noonmark.planning.runs import asleep_beyond, make_run, scheduled_run
from noonmark.schedule import Bounded, Recurrence, Timing, once_at_us, slices
from noonmark.schedule.windows import MAX_ON_TIME


class Moment(NamedTuple):
    """When something happens to a job, as its shard stands then."""

    now_us: int
    watermark_us: int
    now_nominal_us: int
    """The nominal time of a run that starts at once: one that no schedule names."""


def first_runs(plan: Plan, job: JobRow, recurrence: Recurrence | None, at: Moment, *, anew: bool) -> list[RunRow]:
    """The runs that no tick will make: a single one, or occurrences that the watermark has already passed.

    `anew` says that the job has just got this schedule: otherwise a single run is made only if its time is to come.
    """
    if recurrence is not None:
        return passed_runs(job, recurrence, at.watermark_us)
    once_us = once_at_us(plan.spec.schedule, at.now_us)
    if once_us is None or not (anew or once_us > at.now_us):
        return []
    nominal_us = at.now_nominal_us if plan.starts_now else once_us
    return [asleep_beyond(make_run(job, nominal_us, nominal_us, Reason.SCHEDULED, job.input), at.watermark_us)]


def passed_runs(job: JobRow, recurrence: Recurrence, watermark_us: int) -> list[RunRow]:
    """Of a job that has just become active: those that the ticks have passed, and so will not make any more."""
    last_us = watermark_us - job.jitter_us
    if job.ends_us is not None:
        last_us = min(last_us, job.ends_us)
    return [
        scheduled_run(job, nominal_us)
        for nominal_us in recurrence.between(job.planned_us, last_us, MAX_ON_TIME)
        if nominal_us not in (job.skips or ())
    ]


def owed_runs(job: JobRow, recurrence: Recurrence | None, at: Moment) -> list[RunRow]:
    """Of a job that is about to change: those whose time has passed, and which are due later only because of jitter.

    After the change no tick would make them, since they lie before it. Those due up to the watermark are made already.
    """
    if recurrence is None or not job.active or not job.jitter_us:
        return []
    last_us = at.now_us if job.ends_us is None else min(at.now_us, job.ends_us)
    return [
        asleep_beyond(scheduled_run(job, nominal_us), at.watermark_us)
        for nominal_us in recurrence.between(max(job.planned_us, at.watermark_us - job.jitter_us), last_us, MAX_ON_TIME)
        if nominal_us not in (job.skips or ())
    ]


def due_runs(
    job: JobRow, recurrence: Recurrence, after_us: int, until_us: int, now_us: int, grace_us: int
) -> list[RunRow]:
    """The runs that a tick over (after, until] makes of one job: due ones, and missed ones that are caught up."""
    bounded = Bounded(recurrence, end_us=job.ends_us)
    return [
        scheduled_run(job, piece.nominal_us, Reason.CAUGHT_UP if piece.missed else Reason.SCHEDULED)
        for piece in slices(bounded, after_us, until_us, now_us, grace_us, job.catch_up)
        if is_fired(job, piece, now_us)
    ]


def next_occurrences(job: JobRow, recurrence: Recurrence, after_us: int, most: int, far_us: int) -> list[int]:
    """Nominal times after a time, within the job's bounds."""
    last_us = far_us if job.ends_us is None else job.ends_us
    return recurrence.between(max(after_us, job.planned_us), last_us, most)


def past_range(
    job: JobRow, timing: Timing, from_us: int, to_us: int, now_us: int, watermark_us: int
) -> tuple[int, int]:
    """The part of [from, to] whose occurrences the ticks have passed: a later one may still get its run from them."""
    first_us = from_us if timing.start_us is None else max(from_us, timing.start_us)
    passed_us = min(to_us, now_us, watermark_us - job.jitter_us)
    return first_us, passed_us if timing.end_us is None else min(passed_us, timing.end_us)
