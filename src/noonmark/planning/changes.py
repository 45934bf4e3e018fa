"""A job after it is created, changed, paused or resumed, and the runs that this makes at once.

Planned runs are those that were made ahead of their time. A change or a pause takes back the runs planned beyond
now, except those that workers have; a pause leaves the current run of a fixed delay, which waits on. `fixed_delay`
decides the current run of a fixed delay after a change or a resume, when those runs are gone.
"""

from typing import NamedTuple

from noonmark.model.ids import JobId
from noonmark.model.job_row import JobRow
from noonmark.model.run import RunRow
from noonmark.planning.bounds import OccurrenceBounds, bounds_from, runs_left_at
from noonmark.planning.fixed_delay import current_run, with_first_run
from noonmark.planning.occurrences import Moment, first_runs
from noonmark.planning.plan import Plan
from noonmark.schedule import Recurrence


class JobAndRuns(NamedTuple):
    job: JobRow
    rows: list[RunRow]


def create(
    plan: Plan,
    tenant_id: int,
    job_id: JobId,
    created_us: int,
    bounds: OccurrenceBounds,
    recurrence: Recurrence | None,
    at: Moment,
) -> JobAndRuns:
    job = plan.job_row(tenant_id, job_id, 1, created_us, bounds, active=True)
    job = with_first_run(job, plan.timing, at.now_us)
    return JobAndRuns(job, [*first_runs(plan, job, recurrence, at, anew=True), *current_run(job, at.watermark_us)])


def change(
    plan: Plan,
    current: JobRow,
    recurrence_before: Recurrence | None,
    recurrence: Recurrence | None,
    at: Moment,
    *,
    anew: bool,
) -> JobAndRuns:
    """`anew` says that the schedule is another: its occurrences are counted from the beginning."""
    left = plan.timing.max_runs if anew else runs_left_at(current, recurrence_before, at.now_us)
    bounds = bounds_from(plan.timing, recurrence, at.now_us, left)
    job = plan.job_row(
        current.tenant_id, current.job_id, current.version + 1, current.created_us, bounds, active=current.active
    )._replace(skips=current.skips)
    return JobAndRuns(job, first_runs(plan, job, recurrence, at, anew=anew) if job.active else [])


def pause(current: JobRow, recurrence: Recurrence | None, now_us: int) -> JobRow:
    return current._replace(active=False, runs_left=runs_left_at(current, recurrence, now_us))


def resume(plan: Plan, current: JobRow, recurrence: Recurrence | None, at: Moment) -> JobAndRuns:
    planned_us, ends_us, left = bounds_from(plan.timing, recurrence, at.now_us, current.runs_left)
    job = current._replace(active=True, planned_us=planned_us, ends_us=ends_us, runs_left=left)
    return JobAndRuns(job, first_runs(plan, job, recurrence, at, anew=False))
