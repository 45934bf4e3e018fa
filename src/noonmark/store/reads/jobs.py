"""Jobs, their ids and their versions."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from noonmark.model.ids import JobId, shard_of
from noonmark.store.connect import Pool
from noonmark.store.statement import statement

_ABOVE_NAMES = "\x7f"
"""Sorts after every character that a name may hold."""
_BELOW_NAMES = "\x01"


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
    current_run_us: int | None
    """Of a fixed delay: the nominal time of its current run."""
    skips: list[int] | None
    """Occurrences that do not fire."""
    jitter_ms: int


class JobFilter(NamedTuple):
    """Which jobs are meant; all conditions hold together."""

    name_prefix: str = ""
    labels: tuple[str, ...] = ()
    """Each as `key` or `key:value`."""
    active: bool | None = None
    task: str | None = None
    queue: str | None = None


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
    pool: Pool, tenant_id: int, shard_count: int, wanted: JobFilter, *, after: str, limit: int
) -> list[JobRecord]:
    """By name. A name never changes and is unique, so a page goes on exactly where the last one ended.

    With a label, only the jobs that have it are looked at; other conditions are asked of every job in their order.
    """
    names = (tenant_id, shard_count, after, wanted.name_prefix, wanted.name_prefix + _ABOVE_NAMES, limit)
    policies = await _policies(pool, wanted)
    if wanted.labels:
        rows = await list_labelled_jobs(pool, *names, wanted.active, policies, _rarest(wanted), wanted.labels)
    elif wanted.active is None and policies is None:
        rows = await pool.fetch(statement("list_jobs"), *names)
    else:
        rows = await list_matching_jobs(pool, *names, wanted.active, policies)
    return [JobRecord(*row) for row in rows]


async def list_labelled_jobs(pool: Pool, *arguments: object) -> list[Any]:
    return list(await pool.fetch(statement("list_labelled_jobs"), *arguments))


async def list_matching_jobs(pool: Pool, *arguments: object) -> list[Any]:
    return list(await pool.fetch(statement("list_matching_jobs"), *arguments))


async def count_jobs(pool: Pool, tenant_id: int, shard_count: int, wanted: JobFilter, *, after: str = "") -> int:
    first = max(wanted.name_prefix, after + _BELOW_NAMES if after else "")
    rest = (
        tenant_id, shard_count, first, wanted.name_prefix + _ABOVE_NAMES, wanted.active, await _policies(pool, wanted),
    )  # fmt: skip
    if wanted.labels:
        return await count_labelled_jobs(pool, *rest, _rarest(wanted), wanted.labels)
    return int(await pool.fetchval(statement("count_jobs"), *rest))


async def count_labelled_jobs(pool: Pool, *arguments: object) -> int:
    return int(await pool.fetchval(statement("count_labelled_jobs"), *arguments))


def _rarest(wanted: JobFilter) -> str:
    """The label to walk along: the longest, as one with a value is rarer than its key."""
    return max(wanted.labels, key=len)


async def _policies(pool: Pool, wanted: JobFilter) -> list[int] | None:
    """Task and queue stand in the interned policies, of which there are few; None if neither is asked for."""
    if wanted.task is None and wanted.queue is None:
        return None
    return await find_policies(pool, wanted.task, wanted.queue)


async def find_policies(pool: Pool, task: str | None, queue: str | None) -> list[int]:
    return [row[0] for row in await pool.fetch(statement("find_policies"), task, queue)]


async def fetch_job_versions(pool: Pool, job_id: JobId, versions: Sequence[int]) -> dict[int, VersionRecord]:
    rows = await pool.fetch(statement("fetch_job_versions"), shard_of(job_id), job_id, versions)
    return {row[0]: VersionRecord(*row) for row in rows}


async def list_job_versions(pool: Pool, job_id: JobId, *, below: int, limit: int) -> list[VersionRecord]:
    rows = await pool.fetch(statement("list_job_versions"), shard_of(job_id), job_id, below, limit)
    return [VersionRecord(*row) for row in rows]
