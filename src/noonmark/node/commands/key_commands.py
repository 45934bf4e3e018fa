"""Keys and tenants: made and changed in one transaction with the entry in the audit that tells of it."""

from typing import NamedTuple

import msgspec

from noonmark.clock import SECOND_US
from noonmark.errors import Conflict, DuplicateName, InvalidInput, NotFound
from noonmark.model.audit import INSTALLATION, entry
from noonmark.model.caller import Caller, Role
from noonmark.model.ids import key_text
from noonmark.model.key import digest_of, new_key, new_prefix
from noonmark.store import keys as store
from noonmark.store import tenants
from noonmark.store.audit import record
from noonmark.store.connect import Connection


class NewSecret(NamedTuple):
    key_id: int
    text: str
    """The key itself, which nothing remembers."""


async def create_key(
    connection: Connection,
    caller: Caller,
    now_us: int,
    *,
    name: str,
    role: Role,
    tenant_id: int | None,
    tenant: str | None,
    expires_us: int | None,
) -> NewSecret:
    if expires_us is not None and expires_us <= now_us:
        raise InvalidInput("expires_at", "the key would have expired already", "use a time to come, or leave it out")
    async with connection.transaction():
        while True:
            prefix = new_prefix()
            text = new_key(prefix)
            key_id = await store.insert_key(
                connection,
                prefix=prefix,
                digest=digest_of(text),
                name=name,
                role=role,
                tenant_id=tenant_id,
                created_by=caller.name,
                created_us=now_us,
                expires_us=expires_us,
            )
            if key_id is not None:
                break
        after = _audit_details(name=name, role=role, tenant=tenant, prefix=prefix, expires_us=expires_us)
        whose = tenant_id or INSTALLATION
        await record(connection, [entry(caller, whose, now_us, "key.create", key_text(key_id), after=after)])
    return NewSecret(key_id, text)


async def rotate_key(connection: Connection, caller: Caller, now_us: int, key_id: int, grace_s: float) -> NewSecret:
    async with connection.transaction():
        found = await _locked(connection, caller, key_id)
        if not found.good_at(now_us):
            raise Conflict("the key has expired or was revoked", field="key", fix="make a new one: POST /v1/keys")
        text = new_key(found.prefix)
        until_us = now_us + round(grace_s * SECOND_US)
        await store.rotate_key(connection, key_id, digest_of(text), now_us, until_us)
        after = _audit_details(grace_s=grace_s)
        whose = found.tenant_id or INSTALLATION
        await record(connection, [entry(caller, whose, now_us, "key.rotate", key_text(key_id), after=after)])
    return NewSecret(key_id, text)


async def revoke_key(connection: Connection, caller: Caller, now_us: int, key_id: int) -> None:
    """A second time changes nothing."""
    async with connection.transaction():
        found = await _locked(connection, caller, key_id)
        if found.revoked_us is not None:
            return
        await store.revoke_key(connection, key_id, now_us)
        before = _audit_details(name=found.name, role=found.role, tenant=found.tenant, prefix=found.prefix)
        whose = found.tenant_id or INSTALLATION
        await record(connection, [entry(caller, whose, now_us, "key.revoke", key_text(key_id), before=before)])


async def create_tenant(connection: Connection, caller: Caller, now_us: int, name: str, weight: int) -> None:
    async with connection.transaction():
        if await tenants.insert_tenant(connection, name, weight, now_us) is None:
            raise DuplicateName(f"there is a tenant {name!r} already", field="name", fix="choose another name")
        after = _audit_details(weight=weight)
        await record(connection, [entry(caller, INSTALLATION, now_us, "tenant.create", name, after=after)])


async def set_weight(connection: Connection, caller: Caller, now_us: int, name: str, weight: int) -> None:
    async with connection.transaction():
        found = await tenants.lock_tenant(connection, name)
        if found is None:
            raise no_tenant(name)
        if found.weight == weight:
            return
        await tenants.set_tenant_weight(connection, found.tenant_id, weight)
        before, after = _audit_details(weight=found.weight), _audit_details(weight=weight)
        done = entry(caller, INSTALLATION, now_us, "tenant.change", name, before=before, after=after)
        await record(connection, [done])


def no_key(key_id: int) -> NotFound:
    return NotFound(f"there is no key {key_text(key_id)}", field="key", fix="list them: GET /v1/keys")


def no_tenant(name: str) -> NotFound:
    """The same for a tenant that does not exist and for one that the caller may not know of."""
    return NotFound(f"there is no tenant {name[:80]!r}", field="tenant")


async def _locked(connection: Connection, caller: Caller, key_id: int) -> store.KeyRecord:
    found = await store.lock_key(connection, key_id, caller.tenant_id)
    if found is None:
        raise no_key(key_id)
    return found


def _audit_details(**facts: object) -> str:
    return msgspec.json.encode(facts).decode()
