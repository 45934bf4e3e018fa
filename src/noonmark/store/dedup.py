"""Keys that make a submission happen once."""

from collections.abc import Sequence

from noonmark.model.ids import JobId, RunKey, shard_of
from noonmark.store.columns import columns
from noonmark.store.connect import Connection, Pool
from noonmark.store.statement import statement

DedupKey = tuple[JobId, str]

_MAX_FORGOTTEN = 5_000


async def find_dedup_keys(connection: Connection, keys: Sequence[DedupKey], now_us: int) -> dict[DedupKey, RunKey]:
    rows = [(shard_of(job_id), job_id, key) for job_id, key in keys]
    found = await connection.fetch(statement("find_dedup_keys"), *columns(rows, 3), now_us)
    return {(job_id, key): (job_id, nominal_us) for job_id, key, nominal_us in found}


async def keep_dedup_keys(connection: Connection, runs: dict[DedupKey, RunKey], expires_us: int) -> None:
    rows = [(shard_of(job_id), job_id, key, nominal_us) for (job_id, key), (_, nominal_us) in runs.items()]
    await connection.execute(statement("keep_dedup_keys"), *columns(rows, 4), expires_us)


async def forget_dedup_keys(pool: Pool, shards: Sequence[int], now_us: int) -> bool:
    """Whether there may be more that have expired."""
    status = await pool.execute(statement("forget_dedup_keys"), shards, now_us, _MAX_FORGOTTEN)
    return status == f"DELETE {_MAX_FORGOTTEN}"
