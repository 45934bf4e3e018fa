"""The live runs of jobs that change, inside the transaction of the change; always those of several jobs at once."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from noonmark.model.ids import JobId, RunKey, shard_of
from noonmark.model.reason import Reason
from noonmark.model.run import RunRow
from noonmark.store.columns import columns
from noonmark.store.connect import Connection
from noonmark.store.statement import statement


def _places(job_ids: Iterable[JobId]) -> tuple[list[int], list[JobId]]:
    """The distinct shards, and the jobs: a statement reads each shard once."""
    listed = list(job_ids)
    return sorted({shard_of(job_id) for job_id in listed}), listed


async def delete_planned_runs(
    connection: Connection, job_ids: Collection[JobId], after_us: int, kept: Collection[RunKey]
) -> None:
    await connection.execute(
        statement("delete_planned_runs"), *_places(job_ids), after_us, Reason.SCHEDULED, *columns(kept, 2)
    )


async def delete_waiting_runs(
    connection: Connection, job_ids: Collection[JobId], kept: Collection[RunKey]
) -> list[RunRow]:
    rows = await connection.fetch(statement("delete_waiting_runs"), *_places(job_ids), *columns(kept, 2))
    return list(map(RunRow._make, rows))


async def park_runs(connection: Connection, job_ids: Collection[JobId], kept: Collection[RunKey]) -> None:
    await connection.execute(statement("park_runs"), *_places(job_ids), *columns(kept, 2))


async def unpark_runs(connection: Connection, job_ids: Collection[JobId], watermarks: Mapping[int, int]) -> None:
    shards, jobs = _places(job_ids)
    await connection.execute(statement("unpark_runs"), shards, [watermarks[shard] for shard in shards], jobs)


async def load_waiting_runs(
    connection: Connection, job_ids: Sequence[JobId], watermarks: Mapping[int, int], most: int
) -> list[RunRow]:
    shards, jobs = _places(job_ids)
    marks = [watermarks[shard] for shard in shards]
    return list(map(RunRow._make, await connection.fetch(statement("load_waiting_runs"), shards, marks, jobs, most)))
