"""Occurrences that are skipped, and those that a backfill looks for."""

from collections.abc import Sequence

from noonmark.model.job_row import JobRow
from noonmark.model.reason import Reason
from noonmark.store.columns import columns
from noonmark.store.connect import Connection
from noonmark.store.statement import statement


async def set_job_skips(connection: Connection, job: JobRow, skips: Sequence[int]) -> None:
    await connection.execute(statement("set_job_skips"), job.shard, job.job_id, list(skips))


async def fetch_waiting_run(connection: Connection, job: JobRow, nominal_us: int) -> int | None:
    """The attempts of a live run that have ended; None if there is no such run."""
    found = await connection.fetchval(statement("fetch_waiting_run"), job.shard, nominal_us, job.job_id)
    return None if found is None else int(found)


async def fetch_end_of_run(connection: Connection, job: JobRow, nominal_us: int) -> int | None:
    """Why it ended; None if it has not, or never was."""
    found = await connection.fetchval(statement("fetch_end_of_run"), job.shard, job.job_id, nominal_us)
    return None if found is None else int(found)


async def delete_skip_record(connection: Connection, job: JobRow, nominal_us: int) -> None:
    await connection.execute(statement("delete_skip_record"), job.shard, job.job_id, nominal_us, Reason.SKIPPED)


async def find_known_runs(connection: Connection, job: JobRow, nominals_us: Sequence[int]) -> set[int]:
    """Which of the occurrences have, or had, a run."""
    keys = columns([(job.shard, nominal_us, job.job_id) for nominal_us in nominals_us], 3)
    rows = await connection.fetch(statement("find_known_runs"), *keys)
    return {row[0] for row in rows}
