"""Jobs, their ids and their versions."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from noonmark.model.ids import JobId, shard_of
from noonmark.store.connect import Pool
from noonmark.store.statement import statement

_ABOVE_NAMES = "\x7f"
"""Sorts after every character that a name may hold."""


class JobRecord(NamedTuple):
    job_id: JobId
    version: int
    active: bool
    created_us: int
    updated_us: int
    spec: str
    schedule: str | None
    """The interned text; None for a job that does not recur."""
    planned_us: int
    """Occurrences after this count."""
    ends_us: int | None
    """Occurrences after this do not."""
    link_us: int | None
    """The current link of a fixed delay."""


class KnownJob(NamedTuple):
    job_id: JobId
    active: bool


class VersionRecord(NamedTuple):
    version: int
    created_us: int
    spec: str


async def fetch_jobs(pool: Pool, tenant_id: int, job_ids: Sequence[int]) -> dict[JobId, JobRecord]:
    shards = [shard_of(job_id) for job_id in job_ids]
    rows = await pool.fetch(statement("fetch_jobs"), tenant_id, shards, job_ids)
    return {row["job_id"]: JobRecord(*row) for row in rows}


async def fetch_job_ids(pool: Pool, tenant_id: int, names: Iterable[tuple[int, str]]) -> dict[str, KnownJob]:
    """By (shard, name)."""
    pairs = list(names)
    rows = await pool.fetch(
        statement("fetch_job_ids"), tenant_id, [shard for shard, _ in pairs], [name for _, name in pairs]
    )
    return {row["name"]: KnownJob(row["job_id"], row["active"]) for row in rows}


async def list_jobs(
    pool: Pool, tenant_id: int, shard_count: int, *, after: str, prefix: str, limit: int
) -> list[JobRecord]:
    """By name. A name never changes and is unique, so a page goes on exactly where the last one ended."""
    upper = prefix + _ABOVE_NAMES
    rows = await pool.fetch(statement("list_jobs"), tenant_id, shard_count, after, prefix, upper, limit)
    return [JobRecord(*row) for row in rows]


async def list_job_versions(pool: Pool, job_id: JobId, *, below: int, limit: int) -> list[VersionRecord]:
    rows = await pool.fetch(statement("list_job_versions"), shard_of(job_id), job_id, below, limit)
    return [VersionRecord(*row) for row in rows]
