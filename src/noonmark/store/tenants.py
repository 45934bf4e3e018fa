"""Tenants: their names and weights."""

from typing import NamedTuple

from noonmark.store.connect import Connection, Pool
from noonmark.store.statement import statement


class TenantRecord(NamedTuple):
    tenant_id: int
    name: str
    weight: int
    created_us: int


async def insert_tenant(connection: Connection, name: str, weight: int, at_us: int) -> int | None:
    """None if there is one of this name."""
    found: int | None = await connection.fetchval(statement("insert_tenant"), name, weight, at_us)
    return found


async def load_tenants(pool: Pool) -> list[tuple[int, str, int]]:
    """(id, name, weight) of all."""
    return [(row[0], row[1], row[2]) for row in await pool.fetch(statement("load_tenants"))]


async def list_tenants(pool: Pool, only: int | None, *, after: str, limit: int) -> list[TenantRecord]:
    return [TenantRecord(*row) for row in await pool.fetch(statement("list_tenants"), only, after, limit)]


async def fetch_tenant(pool: Pool | Connection, name: str) -> TenantRecord | None:
    row = await pool.fetchrow(statement("fetch_tenant"), name)
    return None if row is None else TenantRecord(*row)


async def lock_tenant(connection: Connection, name: str) -> TenantRecord | None:
    row = await connection.fetchrow(statement("lock_tenant"), name)
    return None if row is None else TenantRecord(*row)


async def set_tenant_weight(connection: Connection, tenant_id: int, weight: int) -> None:
    await connection.execute(statement("set_tenant_weight"), tenant_id, weight)
