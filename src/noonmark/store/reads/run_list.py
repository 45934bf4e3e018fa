"""Lists of runs: newest nominal time first, then the higher job id, which is the key of a run and never changes.

So a run that starts, ends or is redriven while its list is paged keeps its place, and is shown once or not at all. Live
and ended runs are read in one snapshot. A list never reads without bound: past a number of rows it stops, says how far
it is complete (its *reach*), and the next page goes on from there.
"""

from collections.abc import Collection
from typing import NamedTuple

from noonmark.clock import NEVER_US
from noonmark.model.ids import JobId, RunKey, shard_of
from noonmark.store.connect import Connection, Pool
from noonmark.store.reads.runs import ALL_STATES, ENDED_STATES, LIVE_STATES, RunRecord, RunState
from noonmark.store.statement import statement

Place = tuple[int, int]
"""(nominal time in µs, job): where a run stands in the list."""

START: Place = (NEVER_US, 0)
_ENDS_READ = 10_000
_LIVE_READ = 20_000
_MIN_OF_SHARD = 64


class RunFilter(NamedTuple):
    """A field at its default leaves nothing out."""

    job_id: JobId | None = None
    """It must be known to be the caller's."""
    states: Collection[RunState] = ALL_STATES
    from_us: int = 0
    to_us: int = NEVER_US
    """Nominal times from the one until before the other."""
    ended_from_us: int | None = None
    ended_to_us: int | None = None
    """With either of them a live run is out."""
    error: str | None = None
    """A part of the error's text, in any case of letters."""
    reasons: list[int] | None = None
    labels: list[str] | None = None


class ListedRun(NamedTuple):
    key: RunKey
    record: RunRecord

    @property
    def place(self) -> Place:
        return (self.key[1], self.key[0])


class RunsPage(NamedTuple):
    runs: list[ListedRun]
    next: Place | None
    """Where the next page begins; None at the end of the list."""
    reach_us: int | None
    """The nominal time down to which the list was read, if that ended the page before it was full."""


async def list_runs(
    pool: Pool, tenant_id: int, shard_count: int, wanted: RunFilter, *, before: Place, limit: int
) -> RunsPage:
    before = min(before, (wanted.to_us, 0))
    async with pool.acquire() as connection, connection.transaction(isolation="repeatable_read", readonly=True):
        live = await _live(connection, tenant_id, shard_count, wanted, before, limit + 1)  # type: ignore[arg-type]
        ended = await _ended(connection, tenant_id, wanted, before, limit + 1)  # type: ignore[arg-type]
    reach = max((part.reach for part in (live, ended) if part.reach is not None), default=None)
    runs = sorted(live.runs + ended.runs, key=lambda run: run.place, reverse=True)
    if reach is not None:
        runs = [run for run in runs if run.place >= reach]
    if len(runs) > limit:
        return RunsPage(runs[:limit], runs[limit - 1].place, None)
    return RunsPage(runs, reach, None if reach is None else reach[0])


class _Part(NamedTuple):
    runs: list[ListedRun]
    reach: Place | None


async def _live(
    connection: Connection, tenant_id: int, shard_count: int, wanted: RunFilter, before: Place, limit: int
) -> _Part:
    states = [state for state in LIVE_STATES if state in wanted.states]
    if not states or wanted.ended_from_us is not None or wanted.ended_to_us is not None:
        return _Part([], None)
    more = (wanted.error, wanted.reasons)
    if wanted.job_id is not None:
        job = (shard_of(wanted.job_id), wanted.job_id)
        before_us = _before_us(wanted.job_id, before)
        return await list_live_runs_of_job(connection, *job, before_us, wanted.from_us, limit, states, *more)
    if states == ["running"]:
        return await list_running_runs(connection, tenant_id, *before, wanted.from_us, limit, *more, wanted.labels)
    of_shard = max(_MIN_OF_SHARD, _LIVE_READ // shard_count)
    return await list_live_runs(
        connection, tenant_id, shard_count, *before, wanted.from_us, of_shard, limit, states, *more, wanted.labels
    )


async def list_live_runs_of_job(connection: Connection, *arguments: object) -> _Part:
    return await _read(connection, statement("list_live_runs_of_job"), *arguments)


async def list_running_runs(connection: Connection, *arguments: object) -> _Part:
    return await _read(connection, statement("list_running_runs"), *arguments)


async def list_live_runs(connection: Connection, *arguments: object) -> _Part:
    return await _read(connection, statement("list_live_runs"), *arguments)


async def _ended(connection: Connection, tenant_id: int, wanted: RunFilter, before: Place, limit: int) -> _Part:
    outcomes = [int(outcome) for outcome, state in ENDED_STATES.items() if state in wanted.states]
    if not outcomes:
        return _Part([], None)
    ended_us = (wanted.ended_from_us or 0, NEVER_US if wanted.ended_to_us is None else wanted.ended_to_us)
    more = (wanted.from_us, _ENDS_READ, limit, outcomes, *ended_us, wanted.error, wanted.reasons)
    if wanted.job_id is not None:
        job = (shard_of(wanted.job_id), wanted.job_id)
        return await list_ended_runs_of_job(connection, *job, _before_us(wanted.job_id, before), *more)
    return await list_ended_runs(connection, tenant_id, *before, *more, wanted.labels)


async def list_ended_runs_of_job(connection: Connection, *arguments: object) -> _Part:
    return await _read(connection, statement("list_ended_runs_of_job"), *arguments)


async def list_ended_runs(connection: Connection, *arguments: object) -> _Part:
    return await _read(connection, statement("list_ended_runs"), *arguments)


def _before_us(job_id: JobId, before: Place) -> int:
    """For the runs of one job: those at the very time count if the job comes before the place in the list."""
    return before[0] + 1 if job_id < before[1] else before[0]


async def _read(connection: Connection, text: str, *arguments: object) -> _Part:
    rows = await connection.fetch(text, *arguments)
    reach = (rows[0][0], rows[0][1]) if rows and rows[0][0] is not None else None
    found = [ListedRun((row[13], row[2]), RunRecord(*row[2:13])) for row in rows if row[2] is not None]
    return _Part(found, reach)
