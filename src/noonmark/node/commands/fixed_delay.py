"""The current run of a fixed delay when its job is resumed or changed: carries out the decisions of `planning`."""

from noonmark.model.job_row import JobRow
from noonmark.model.run import RunRow
from noonmark.planning.fixed_delay import a_millisecond_later, changed, current_run, resumed
from noonmark.schedule import Timing
from noonmark.store import jobs as store
from noonmark.store.connect import Connection


async def resumed_run(
    connection: Connection, job: JobRow, timing: Timing, now_us: int, watermark_us: int
) -> tuple[JobRow, list[RunRow]]:
    if timing.delay_us is None:
        return job, []
    is_there = job.current_run_us is not None and await store.has_run(connection, job, job.current_run_us)
    return await _not_ended(connection, *resumed(job, timing, now_us, watermark_us, is_there=is_there), watermark_us)


async def changed_run(
    connection: Connection,
    job: JobRow,
    before_us: int | None,
    timing: Timing,
    now_us: int,
    watermark_us: int,
    *,
    anew: bool,
) -> tuple[JobRow, list[RunRow]]:
    """After the job's planned runs were deleted; `before_us` was the current run until now."""
    if timing.delay_us is None:
        return job, []
    is_there = before_us is not None and await store.has_run(connection, job, before_us)
    before = current_run(job._replace(current_run_us=before_us), watermark_us)
    has_ended = not is_there and len(await store.without_ended(connection, before)) < len(before)
    decided = changed(job, before_us, timing, now_us, watermark_us, anew=anew, is_there=is_there, has_ended=has_ended)
    return await _not_ended(connection, *decided, watermark_us)


async def _not_ended(
    connection: Connection, job: JobRow, rows: list[RunRow], watermark_us: int
) -> tuple[JobRow, list[RunRow]]:
    """A run of the same time may have been cancelled ahead of it."""
    while rows and not await store.without_ended(connection, rows):
        job, rows = a_millisecond_later(job, watermark_us)
    return job, rows
