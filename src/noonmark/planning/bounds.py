"""From when on a job's occurrences count, until when, and how many of them are left.

Every occurrence that passes while the job is active counts towards `max_runs`, by its nominal time: also one
whose run died, was cancelled, or was left out by the misfire policy. Those that pass while the job is paused do not
count. The count goes on when the job is changed, and begins anew when its schedule is. Since the times of a recurrence
are known, no fire is counted: the last allowed occurrence becomes the end. Of a fixed delay every run counts.
"""

from typing import NamedTuple

from noonmark.model.job_row import JobRow
from noonmark.schedule import Recurrence, Timing
from noonmark.schedule.bounds import count_between, last_us


class OccurrenceBounds(NamedTuple):
    planned_us: int
    ends_us: int | None
    runs_left: int | None


def bounds_from(timing: Timing, recurrence: Recurrence | None, from_us: int, runs_left: int | None) -> OccurrenceBounds:
    """The bounds of a schedule that is planned from a time on, with so many occurrences left."""
    planned_us = from_us if timing.start_us is None else max(from_us, timing.start_us - 1)
    if recurrence is None:
        return OccurrenceBounds(planned_us, timing.end_us, runs_left)
    return OccurrenceBounds(planned_us, last_us(recurrence, planned_us, timing.end_us, runs_left), runs_left)


def runs_left_at(job: JobRow, recurrence: Recurrence | None, now_us: int) -> int | None:
    """How many of the job's occurrences are left; `recurrence` is the one that it has had so far."""
    if job.runs_left is None or recurrence is None or not job.active:
        return job.runs_left
    return job.runs_left - count_between(recurrence, job.planned_us, now_us, job.runs_left)
