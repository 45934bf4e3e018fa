"""Fixed delays: each run of the schedule comes so long after the one before it ended.

States of such a job, by its `current_run_us`
    None      there is no run, and none follows: the schedule has come to its end (`end`, `max_runs`)
    a time    the nominal time of the current run, which waits, is parked or is with a worker; if there is no such run,
              it ended while the job was paused, and the schedule stands still

- The first run comes one delay after the job was created, or at `start` if that is to come.
- The transaction that ends the current run, however it ends, makes the next one and sets `current_run_us` to it, if it
  was the ended run's time: so no other run of the job is followed by a second one, and a crash repeats and loses none.
- A paused job's schedule stands still. A run that was waiting then waits on; if there is none any more when the job is
  resumed, the next one comes one delay later.
- A change of the job gives a run that is to come its new terms; a new delay counts from the change. A run that is due
  or running is left alone, and the new delay follows it.

A new run's time may be that of a run which was cancelled ahead of it: the caller, which knows the ended ones, then asks
for one `a_millisecond_later`.
"""

from noonmark.clock import SECOND_US
from noonmark.model.job_row import JobRow
from noonmark.model.run import RunRow
from noonmark.planning.runs import asleep_beyond, scheduled_run
from noonmark.schedule import Timing

_MILLISECOND_US = SECOND_US // 1000


def with_first_run(job: JobRow, timing: Timing, now_us: int) -> JobRow:
    """The job with a new run as its current one, if its bounds allow one."""
    if timing.delay_us is None:
        return job
    at_us = now_us + timing.delay_us
    if timing.start_us is not None and timing.start_us > now_us:
        at_us = timing.start_us
    return _with_current_run(job, at_us)


def with_next_run(job: JobRow, ended_nominal_us: int, ended_us: int) -> JobRow | None:
    """The job after a run of it has ended; None if nothing follows that run. `follow_fixed_delays.sql` says the same.

    A run that ended before its time is taken to have ended at its time.
    """
    if job.delay_ms is None or not job.active or job.current_run_us != ended_nominal_us:
        return None
    at_us = max(ended_us, ended_nominal_us) + job.delay_ms * _MILLISECOND_US
    return _with_current_run(job, max(at_us, job.planned_us + 1))


def current_run(job: JobRow, watermark_us: int) -> list[RunRow]:
    """The run that is the job's current one, as it is made; none if there is none."""
    if job.current_run_us is None:
        return []
    return [asleep_beyond(scheduled_run(job, job.current_run_us), watermark_us)]


def resumed(
    job: JobRow, timing: Timing, now_us: int, watermark_us: int, *, is_there: bool
) -> tuple[JobRow, list[RunRow]]:
    """It goes on: with the run that was waiting, if that `is_there`, or with a new one."""
    if timing.delay_us is None or is_there:
        return job, []
    return _renewed(job, timing, now_us, watermark_us)


def changed(
    job: JobRow,
    before_us: int | None,
    timing: Timing,
    now_us: int,
    watermark_us: int,
    *,
    anew: bool,
    is_there: bool,
    has_ended: bool,
) -> tuple[JobRow, list[RunRow]]:
    """After a change of the job, whose planned runs are deleted.

    `before_us` was the current run until now; `is_there` if it is left all the same, since it is due or running.
    """
    if timing.delay_us is None:
        return job, []
    if before_us is not None:
        kept = job._replace(current_run_us=before_us)
        if is_there:
            return kept, []
        if not anew:
            return kept, current_run(kept, watermark_us) if before_us > now_us and not has_ended else []
    if not job.active:
        return job, []
    return _renewed(job, timing, now_us, watermark_us)


def a_millisecond_later(job: JobRow, watermark_us: int) -> tuple[JobRow, list[RunRow]]:
    assert job.current_run_us is not None
    moved = job._replace(current_run_us=job.current_run_us + _MILLISECOND_US)
    return moved, current_run(moved, watermark_us)


def _renewed(job: JobRow, timing: Timing, now_us: int, watermark_us: int) -> tuple[JobRow, list[RunRow]]:
    moved = with_first_run(job, timing, now_us)
    return moved, current_run(moved, watermark_us)


def _with_current_run(job: JobRow, at_us: int) -> JobRow:
    at_us = -(-at_us // _MILLISECOND_US) * _MILLISECOND_US
    if job.runs_left == 0 or (job.ends_us is not None and at_us > job.ends_us):
        return job._replace(current_run_us=None)
    return job._replace(current_run_us=at_us, runs_left=None if job.runs_left is None else job.runs_left - 1)
