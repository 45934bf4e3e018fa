"""The first key, made at the database itself: without a key, a node answers no request."""

import getpass
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from noonmark.clock import SettableClock
from noonmark.model.caller import Caller, Role
from noonmark.model.ids import DEFAULT_SHARDS
from noonmark.model.key import digest_of, prefix_of
from noonmark.node.commands.key_commands import NewSecret, create_key, no_tenant
from noonmark.store.connect import Connection, connect, read_clock
from noonmark.store.keys import find_key
from noonmark.store.migrate import make_partitions, migrate
from noonmark.store.tenants import fetch_tenant


async def make_key(
    database_url: str,
    *,
    name: str,
    role: Role,
    tenant: str | None,
    lives_us: int | None,
    shards: int = DEFAULT_SHARDS,
) -> NewSecret:
    """Brings the schema up to date first."""
    async with _installed(database_url, shards) as (connection, now_us):
        tenant_id = None
        if tenant is not None:
            found = await fetch_tenant(connection, tenant)
            if found is None:
                raise no_tenant(tenant)
            tenant_id = found.tenant_id
        expires_us = None if lives_us is None else now_us + lives_us
        return await create_key(
            connection,
            _at_the_database(),
            now_us,
            name=name,
            role=role,
            tenant_id=tenant_id,
            tenant=tenant,
            expires_us=expires_us,
        )


async def keep_or_make_admin(database_url: str, key: str | None, *, name: str, shards: int) -> str:
    """The key itself if it is good for everything still, else a new one."""
    if key is not None and await _is_admin(database_url, key, shards):
        return key
    made = await make_key(database_url, name=name, role=Role.ADMIN, tenant=None, lives_us=None, shards=shards)
    return made.text


async def _is_admin(database_url: str, key: str, shards: int) -> bool:
    prefix = prefix_of(key)
    if prefix is None:
        return False
    async with _installed(database_url, shards) as (connection, now_us):
        found = await find_key(connection, prefix)
    return (
        found is not None
        and found.digest == digest_of(key)
        and found.good_at(now_us)
        and found.role == Role.ADMIN
        and found.tenant_id is None
    )


@asynccontextmanager
async def _installed(database_url: str, shards: int) -> AsyncIterator[tuple[Connection, int]]:
    connection = await connect(database_url)
    try:
        await migrate(connection, shards)
        now_us = await read_clock(connection)
        await make_partitions(connection, SettableClock(now_us))
        yield connection, now_us
    finally:
        await connection.close()


def _at_the_database() -> Caller:
    try:
        user = getpass.getuser()
    except (OSError, KeyError):
        user = "somebody"
    return Caller(f"{user} at the database", door="cli")
