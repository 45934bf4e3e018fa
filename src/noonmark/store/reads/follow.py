"""The statements of followers: the state of some runs, and the runs of some jobs."""

from collections.abc import Collection

from noonmark.model.ids import JobId, RunKey, shard_of
from noonmark.store.connect import Pool
from noonmark.store.reads.run_list import ListedRun
from noonmark.store.reads.runs import RunRecord
from noonmark.store.statement import statement

MAX_OF_A_JOB = 100


async def follow_runs(pool: Pool, keys: Collection[RunKey]) -> dict[RunKey, RunRecord]:
    """Those of them that are live; read by key, of any tenant."""
    shards = [shard_of(job_id) for job_id, _ in keys]
    jobs, nominals = [key[0] for key in keys], [key[1] for key in keys]
    rows = await pool.fetch(statement("follow_runs"), shards, jobs, nominals)
    return {(row[11], row[0]): RunRecord(*row[:11]) for row in rows}


async def follow_jobs(pool: Pool, job_ids: Collection[JobId], since_us: int) -> list[ListedRun]:
    """Their newest live runs, and the newest that ended since then."""
    shards = [shard_of(job_id) for job_id in job_ids]
    rows = await pool.fetch(statement("follow_jobs"), shards, list(job_ids), since_us, MAX_OF_A_JOB)
    return [ListedRun((row[11], row[0]), RunRecord(*row[:11])) for row in rows]
