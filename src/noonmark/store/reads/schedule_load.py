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
    jobs = await size_up_jobs(pool)
    if jobs > COUNTED:
        return Usage(await estimate_jobs_by_schedule(pool, jobs), True)
    rows = await pool.fetch(statement("count_jobs_by_schedule"), MAX_SCHEDULES)
    return Usage([(row[0], row[1]) for row in rows], False)


async def size_up_jobs(pool: Pool) -> int:
    return int(await pool.fetchval(statement("size_up_jobs")) or 0)


async def estimate_jobs_by_schedule(pool: Pool, jobs: int) -> list[tuple[str, int]]:
    return [(row[0], row[1]) for row in await pool.fetch(statement("estimate_jobs_by_schedule"), jobs)]
