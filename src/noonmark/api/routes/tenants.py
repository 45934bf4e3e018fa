"""/v1/tenants: the tenants of this installation. A tenant's own key sees that tenant alone."""

import re

from noonmark.api.call import Call
from noonmark.api.middleware.pages import AfterName, Cursor, Limit, cut, decode_cursor, encode_cursor
from noonmark.clock import to_datetime
from noonmark.errors import InvalidInput
from noonmark.node.commands import key_commands
from noonmark.node.commands.key_commands import no_tenant
from noonmark.store.connect import Connection
from noonmark.store.tenants import TenantRecord, fetch_tenant, list_tenants
from noonmark.wire.keys import NewTenant, Tenant, TenantPage, TenantPatch

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


async def list_all_tenants(call: Call, limit: Limit = 100, cursor: Cursor = None) -> TenantPage:
    """By name: all of them, or the one that the caller's key belongs to."""
    after = decode_cursor(cursor, AfterName).name
    rows = await list_tenants(call.node.pool, call.caller.tenant_id, after=after, limit=limit + 1)
    page, more = cut(rows, limit)
    return TenantPage([_tenant(row) for row in page], encode_cursor(AfterName(page[-1].name)) if more else None)


async def create_tenant(data: NewTenant, call: Call) -> Tenant:
    """Makes a tenant: a name under which jobs, runs, keys and the audit are kept apart from all others."""
    if _NAME.fullmatch(data.name) is None:
        fix = "use 1 to 63 small letters, digits and . _ -, starting with a letter or digit"
        raise InvalidInput("name", f"{data.name[:80]!r} is not a name", fix)

    async def create(connection: Connection) -> None:
        await key_commands.create_tenant(connection, call.caller, call.now_us, data.name, data.weight)

    await call.change_registry(create, type(None))
    return _tenant(await _fetch(call, data.name))


async def read_tenant(name: str, call: Call) -> Tenant:
    """One tenant by its name."""
    return _tenant(await _fetch(call, name))


async def update_tenant(name: str, data: TenantPatch, call: Call) -> Tenant:
    """Changes the tenant's weight, its share of the workers; every node follows within ten seconds."""
    await _fetch(call, name)

    async def change(connection: Connection) -> None:
        await key_commands.set_weight(connection, call.caller, call.now_us, name, data.weight)

    await call.change_registry(change, type(None))
    return _tenant(await _fetch(call, name))


async def _fetch(call: Call, name: str) -> TenantRecord:
    foreign = call.caller.tenant not in (None, name)
    row = None if foreign or "\0" in name else await fetch_tenant(call.node.pool, name)
    if row is None:
        raise no_tenant(name)
    return row


def _tenant(row: TenantRecord) -> Tenant:
    return Tenant(name=row.name, weight=row.weight, created_at=to_datetime(row.created_us))
