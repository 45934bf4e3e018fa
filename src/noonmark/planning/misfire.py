"""Which missed occurrences of a job are caught up.

An occurrence is *missed* when it was due more than the grace before now. Missed ones are ranked from the latest
backwards, each job counting its own by their due times: rank 0 is the latest missed one, 1 the one before. A job
catches up on those whose rank is below its `catch_up` (0 skips all, 1 runs once, n runs all up to n), as far back as
its window reaches. Ranks count up to now and not only up to the end of a tick, so a long gap may be caught up in
several ticks. A skipped occurrence keeps its rank and is not run; one after the job's end has no rank.

`tick_runs.sql` says the same for all jobs of a schedule at once; tests/store/test_misfire.py holds the two together.
"""

from noonmark.clock import SECOND_US
from noonmark.model.job_row import JobRow
from noonmark.schedule import Slice


def is_fired(job: JobRow, occurrence: Slice, now_us: int) -> bool:
    """Whether the job fires at an occurrence of its schedule; ranks are those of the schedule up to the job's end."""
    nominal_us = occurrence.nominal_us
    return (
        job.active
        and occurrence.offset_from_us < job.jitter_us <= occurrence.offset_to_us
        and nominal_us > job.planned_us
        and (job.ends_us is None or nominal_us <= job.ends_us)
        and nominal_us not in (job.skips or ())
        and (not occurrence.missed or is_caught_up(job, occurrence.rank, nominal_us + job.jitter_us, now_us))
    )


def is_caught_up(job: JobRow, rank: int, due_us: int, now_us: int) -> bool:
    in_window = job.catch_up_s is None or due_us >= now_us - round(job.catch_up_s * SECOND_US)
    return rank < job.catch_up and in_window
