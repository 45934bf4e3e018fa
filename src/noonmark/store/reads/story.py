"""The facts that the story of a run, or of its absence, is made from."""

from collections.abc import Collection
from typing import NamedTuple

from noonmark.model.ids import JobId, RunKey, shard_of
from noonmark.store.connect import Pool
from noonmark.store.reads.jobs import VersionRecord
from noonmark.store.statement import statement

_MAX_AUDIT_FACTS = 5_000


class AuditFact(NamedTuple):
    """One entry of the audit."""

    at_us: int
    actor: str
    door: str
    action: str
    subject: str
    details: str | None
    """JSON: the entry's `after`, or else its `before`."""


class JobEvent(NamedTuple):
    at_us: int
    event: str
    version: int


class OwnerlessGap(NamedTuple):
    from_us: int
    to_us: int


class Holder(NamedTuple):
    worker_id: int
    granted_us: int


class Serving(NamedTuple):
    workers: int
    places: int
    taken: int


async def list_audit_facts(
    pool: Pool, tenant_id: int, subjects: Collection[str], from_us: int, to_us: int, *, submitted_until_us: int
) -> list[AuditFact]:
    rows = await pool.fetch(
        statement("list_audit_facts"), tenant_id, list(subjects), from_us, to_us, submitted_until_us, _MAX_AUDIT_FACTS
    )
    return [AuditFact(*row) for row in rows]


async def list_job_events(pool: Pool, job_id: JobId, until_us: int, limit: int) -> list[JobEvent]:
    """The latest first."""
    rows = await pool.fetch(statement("list_job_events"), shard_of(job_id), job_id, until_us, limit)
    return [JobEvent(*row) for row in rows]


async def find_gap(pool: Pool, shard: int, at_us: int) -> OwnerlessGap | None:
    row = await pool.fetchrow(statement("find_gap"), shard, at_us)
    return None if row is None else OwnerlessGap(*row)


async def fetch_holder(pool: Pool, key: RunKey) -> Holder | None:
    row = await pool.fetchrow(statement("fetch_holder"), shard_of(key[0]), *key)
    return None if row is None else Holder(*row)


async def fetch_worker_names(pool: Pool, worker_ids: Collection[int]) -> dict[int, str]:
    """Those that are still known."""
    return {row[0]: row[1] for row in await pool.fetch(statement("fetch_worker_names"), list(worker_ids))}


async def count_serving(pool: Pool, queue: str, task: str) -> Serving:
    row = await pool.fetchrow(statement("count_serving"), queue, task)
    assert row is not None
    return Serving(*row)


async def fetch_version_at(pool: Pool, job_id: JobId, at_us: int) -> VersionRecord | None:
    row = await pool.fetchrow(statement("fetch_version_at"), shard_of(job_id), job_id, at_us)
    return None if row is None else VersionRecord(*row)


async def load_spec(pool: Pool, job_id: JobId, version: int) -> str | None:
    """The definition of a job, even of one that was deleted."""
    found: str | None = await pool.fetchval(statement("load_spec"), shard_of(job_id), job_id, version)
    return found
