"""Which schedules have the most jobs, over all tenants: they share the nodes that fire them."""

from typing import NamedTuple

from noonmark.store.connect import Pool
from noonmark.store.statement import statement

COUNTED = 200_000
"""Up to so many jobs are counted; beyond that the planner's statistics have to do."""
MAX_SCHEDULES = 2000


class Usage(NamedTuple):
    schedules: list[tuple[str, int]]
    """An interned text and its number of jobs."""
    estimated: bool


async def count_jobs_by_schedule(pool: Pool) -> Usage:
    jobs = int(await pool.fetchval(statement("size_up_jobs")) or 0)
    if jobs <= COUNTED:
        rows = await pool.fetch(statement("count_jobs_by_schedule"), MAX_SCHEDULES)
    else:
        rows = await pool.fetch(statement("estimate_jobs_by_schedule"), jobs)
    return Usage([(row[0], row[1]) for row in rows], jobs > COUNTED)
