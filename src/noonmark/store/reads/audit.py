"""The audit, the latest entry first."""

from typing import NamedTuple

from noonmark.store.connect import Pool
from noonmark.store.statement import statement


class AuditRecord(NamedTuple):
    at_us: int
    audit_id: int
    actor: str
    key_id: int | None
    door: str
    address: str | None
    agent: str | None
    action: str
    subject: str
    before: str | None
    after: str | None


class AuditFilter(NamedTuple):
    from_us: int
    actor: str | None
    action: str | None
    """Its beginning: `job.` is everything about jobs."""
    subject: str | None


async def list_audit(
    pool: Pool, tenant_id: int, wanted: AuditFilter, *, before: tuple[int, int], limit: int
) -> list[AuditRecord]:
    arguments = (tenant_id, *before, wanted.from_us, wanted.actor, wanted.action, limit)
    if wanted.subject is not None:
        return await list_audit_of_subject(pool, *arguments, wanted.subject)
    return [AuditRecord(*row) for row in await pool.fetch(statement("list_audit"), *arguments)]


async def list_audit_of_subject(pool: Pool, *arguments: object) -> list[AuditRecord]:
    return [AuditRecord(*row) for row in await pool.fetch(statement("list_audit_of_subject"), *arguments)]
