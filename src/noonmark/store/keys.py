"""API keys: their rows as they are stored, never their secrets."""

from collections.abc import Mapping
from typing import NamedTuple

from noonmark.model.caller import Role
from noonmark.model.ids import TenantId
from noonmark.store.connect import Connection, Pool
from noonmark.store.statement import statement


class KeyRecord(NamedTuple):
    key_id: int
    prefix: str
    name: str
    role: str
    tenant_id: TenantId | None
    tenant: str | None
    created_us: int
    created_by: str
    expires_us: int | None
    rotated_us: int | None
    revoked_us: int | None
    last_used_us: int | None
    digest: bytes
    old_digest: bytes | None
    old_until_us: int | None

    def good_at(self, now_us: int) -> bool:
        return self.revoked_us is None and (self.expires_us is None or now_us < self.expires_us)


async def insert_key(
    connection: Connection,
    *,
    prefix: str,
    digest: bytes,
    name: str,
    role: Role,
    tenant_id: int | None,
    created_by: str,
    created_us: int,
    expires_us: int | None,
) -> int | None:
    """None if the prefix is taken."""
    found: int | None = await connection.fetchval(
        statement("insert_key"), prefix, digest, name, role, tenant_id, created_by, created_us, expires_us
    )
    return found


async def find_key(pool: Pool | Connection, prefix: str) -> KeyRecord | None:
    row = await pool.fetchrow(statement("find_key"), prefix)
    return None if row is None else KeyRecord(*row)


async def lock_key(connection: Connection, key_id: int, tenant_id: int | None) -> KeyRecord | None:
    """For a change of it; with a tenant, only if the key is that tenant's."""
    row = await connection.fetchrow(statement("lock_key"), key_id, tenant_id)
    return None if row is None else KeyRecord(*row)


async def list_keys(pool: Pool, tenant_id: int | None, *, after: int, limit: int) -> list[KeyRecord]:
    """By id; with a tenant, its own."""
    return [KeyRecord(*row) for row in await pool.fetch(statement("list_keys"), tenant_id, after, limit)]


async def fetch_key(pool: Pool, key_id: int, tenant_id: int | None) -> KeyRecord | None:
    row = await pool.fetchrow(statement("fetch_key"), key_id, tenant_id)
    return None if row is None else KeyRecord(*row)


async def has_keys(pool: Pool) -> bool:
    """Whether a key was ever made."""
    return bool(await pool.fetchval(statement("has_keys")))


async def revoke_key(connection: Connection, key_id: int, at_us: int) -> None:
    await connection.execute(statement("revoke_key"), key_id, at_us)


async def rotate_key(connection: Connection, key_id: int, digest: bytes, at_us: int, old_until_us: int) -> None:
    await connection.execute(statement("rotate_key"), key_id, digest, at_us, old_until_us)


async def touch_keys(pool: Pool, used_us: Mapping[int, int]) -> None:
    await pool.execute(statement("touch_keys"), list(used_us), list(used_us.values()))
