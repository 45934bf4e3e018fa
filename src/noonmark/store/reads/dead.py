"""Dead letters: the latest death first; of one job, the newest nominal time first.

One that goes shifts nothing between pages. One that dies again meanwhile is a new one, ahead of every page to come.
"""

from typing import Any, NamedTuple

from noonmark.clock import NEVER_US
from noonmark.model.ids import JobId, RunKey, shard_of
from noonmark.store.connect import Pool
from noonmark.store.statement import statement

DeadPlace = tuple[int, int, int]
"""(death in µs, job, nominal time in µs): where one stands in the list."""

START: DeadPlace = (NEVER_US, 0, 0)
_ROWS_READ = 10_000
_PAGE = 1_000


class DeadFilter(NamedTuple):
    """A field at its default leaves nothing out."""

    job_id: JobId | None = None
    """It must be known to be the caller's."""
    from_us: int = 0
    to_us: int = NEVER_US
    """Died from the one until before the other."""
    error: str | None = None
    """A part of the error's text, in any case of letters."""
    reasons: list[int] | None = None


class DeadRecord(NamedTuple):
    shard: int
    job_id: JobId
    nominal_us: int
    died_us: int
    version: int
    attempt: int
    reason: int
    error: str | None
    input: str | None

    @property
    def key(self) -> RunKey:
        return (self.job_id, self.nominal_us)

    @property
    def place(self) -> DeadPlace:
        return (self.died_us, self.job_id, self.nominal_us)


class DeadRecords(NamedTuple):
    dead: list[DeadRecord]
    next: DeadPlace | None
    """Where the next page begins; None at the end of the list."""
    reach_us: int | None
    """The death down to which the list was read, if that ended the page before it was full."""


async def list_dead(pool: Pool, tenant_id: int, wanted: DeadFilter, *, before: DeadPlace, limit: int) -> DeadRecords:
    walk = (_ROWS_READ, limit + 1, wanted.error, wanted.reasons)
    if wanted.job_id is None:
        start = min(before, (wanted.to_us, 0, 0))
        rows = await pool.fetch(statement("list_dead"), tenant_id, *start, wanted.from_us, *walk)
    else:
        job = (shard_of(wanted.job_id), wanted.job_id, NEVER_US if before == START else before[2])
        rows = await list_dead_of_job(pool, *job, wanted.from_us, wanted.to_us, *walk)
    reach: DeadPlace | None = (rows[0][0], rows[0][1], rows[0][2]) if rows[0][0] is not None else None
    found = [DeadRecord(*row[3:]) for row in rows if row[3] is not None]
    if len(found) > limit:
        return DeadRecords(found[:limit], found[limit - 1].place, None)
    return DeadRecords(found, reach, None if reach is None else reach[0])


async def list_dead_of_job(pool: Pool, *arguments: object) -> list[Any]:
    return list(await pool.fetch(statement("list_dead_of_job"), *arguments))


async def find_dead(pool: Pool, tenant_id: int, wanted: DeadFilter, most: int) -> tuple[list[RunKey], bool]:
    """The keys of up to `most` that match, and whether there are more."""
    keys: list[RunKey] = []
    place: DeadPlace | None = START
    while place is not None and len(keys) <= most:
        page = await list_dead(pool, tenant_id, wanted, before=place, limit=_PAGE)
        keys += [row.key for row in page.dead]
        place = page.next
    return keys[:most], len(keys) > most
