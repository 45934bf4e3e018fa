"""How many jobs fire in a second, from a count of the jobs of each schedule that is kept for a while."""

import asyncio
from collections.abc import Callable

from noonmark.api.recurrences import recurrence_of
from noonmark.clock import SECOND_US, monotonic_s
from noonmark.store.connect import Pool
from noonmark.store.reads.schedule_load import Usage, count_jobs_by_schedule

KEPT_S = 30.0


class ScheduleLoad:
    def __init__(self, pool: Callable[[], Pool], elapsed_s: Callable[[], float] = monotonic_s) -> None:
        self._pool = pool
        self._elapsed_s = elapsed_s
        self._usage = Usage([], False)
        self._counted_s: float | None = None
        self._counting = asyncio.Lock()

    async def jobs_in_second(self, at_us: int) -> tuple[int, bool]:
        """How many, and whether that is an estimate."""
        async with self._counting:
            if self._counted_s is None or self._elapsed_s() - self._counted_s > KEPT_S:
                self._usage = await count_jobs_by_schedule(self._pool())
                self._counted_s = self._elapsed_s()
        usage = self._usage
        return await asyncio.to_thread(_jobs_in_second, usage, at_us), usage.estimated


def _jobs_in_second(usage: Usage, at_us: int) -> int:
    """Jobs with jitter are spread over its width: the share of them that this second gets counts."""
    found = 0.0
    for text, jobs in usage.schedules:
        known = recurrence_of(text)
        if known.next_after(at_us - 1) == at_us:
            found += jobs / max(1.0, known.jitter_us / SECOND_US)
    return round(found)
