"""/v1/keys and /v1/whoami: API keys. A tenant's admin sees and makes keys of that tenant alone."""

from datetime import datetime

from noonmark.api.call import Call
from noonmark.api.dispatch.answer import Response
from noonmark.api.middleware.pages import AfterId, Cursor, Limit, cut, decode_cursor, encode_cursor
from noonmark.clock import from_datetime, to_datetime
from noonmark.errors import InvalidInput, NotFound
from noonmark.model.caller import Role
from noonmark.model.ids import key_text, parse_key
from noonmark.node.commands import key_commands
from noonmark.node.commands.key_commands import NewSecret, no_key, no_tenant
from noonmark.store.connect import Connection
from noonmark.store.keys import KeyRecord, fetch_key, list_keys
from noonmark.wire.keys import Key, KeyPage, KeyWithSecret, NewKey, RoleName, Rotate, WhoAmI

_ONCE = {"Cache-Control": "no-store"}
"""The answer holds a secret: neither a cache nor the store of idempotent answers may keep it."""


async def who_am_i(call: Call) -> WhoAmI:
    """The name, the role and the tenant of the key that the request shows."""
    caller = call.caller
    key = None if caller.key_id is None else key_text(caller.key_id)
    return WhoAmI(name=caller.name, role=caller.role.value, tenant=caller.tenant, key=key)


async def list_all_keys(call: Call, tenant: str | None = None, limit: Limit = 100, cursor: Cursor = None) -> KeyPage:
    """Keys by id, revoked ones too; of one tenant, or of all that the caller's key reaches."""
    only = call.caller.tenant_id if tenant is None else await _tenant_id(call, tenant)
    after = decode_cursor(cursor, AfterId).id
    rows, more = cut(await list_keys(call.node.pool, only, after=after, limit=limit + 1), limit)
    keys = [_key(row, call.now_us) for row in rows]
    return KeyPage(keys, encode_cursor(AfterId(rows[-1].key_id)) if more else None)


async def create_key(data: NewKey, call: Call) -> Response[KeyWithSecret]:
    """Makes a key and shows it once: only a digest of it is stored."""
    if "\0" in data.name or not data.name.strip():
        raise InvalidInput("name", f"{data.name[:40]!r} is not a name", "say in a few words whose key it is")
    tenant_id = call.caller.tenant_id if data.tenant is None else await _tenant_id(call, data.tenant)
    tenant = call.caller.tenant if data.tenant is None else data.tenant

    async def create(connection: Connection) -> NewSecret:
        return await key_commands.create_key(
            connection,
            call.caller,
            call.now_us,
            name=data.name,
            role=Role(data.role),
            tenant_id=tenant_id,
            tenant=tenant,
            expires_us=None if data.expires_at is None else _instant_us(data.expires_at),
        )

    made = await call.change_registry(create, NewSecret, secret=True)
    call.keys.close_door()
    return await _shown_once(call, made, 201)


async def read_key(key_id: str, call: Call) -> Key:
    """A key's name, role and times; never the key itself."""
    return _key(await _fetch(call, _parse(key_id)), call.now_us)


async def rotate_key(key_id: str, data: Rotate, call: Call) -> Response[KeyWithSecret]:
    """Gives the key a new secret, shown once; the old one stays good for `grace_s`, here and on every other node."""
    wanted = _parse(key_id)

    async def rotate(connection: Connection) -> NewSecret:
        return await key_commands.rotate_key(connection, call.caller, call.now_us, wanted, data.grace_s)

    made = await call.change_registry(rotate, NewSecret, secret=True)
    return await _shown_once(call, made, 200)


async def revoke_key(key_id: str, call: Call) -> Key:
    """Ends the key for good: at once on this node, within 10 seconds on every other."""
    wanted = _parse(key_id)

    async def revoke(connection: Connection) -> None:
        await key_commands.revoke_key(connection, call.caller, call.now_us, wanted)

    await call.change_registry(revoke, type(None))
    row = await _fetch(call, wanted)
    call.keys.forget(row.prefix)
    return _key(row, call.now_us)


async def _shown_once(call: Call, made: NewSecret, status: int) -> Response[KeyWithSecret]:
    row = await _fetch(call, made.key_id)
    call.keys.forget(row.prefix)
    shown = KeyWithSecret(key=_key(row, call.now_us), token=made.text)
    return Response(shown, status_code=status, headers=_ONCE)


async def _tenant_id(call: Call, name: str) -> int:
    own = call.caller.tenant
    if own is None:
        try:
            return await call.node.tenant_id(name)
        except NotFound:
            raise no_tenant(name) from None
    if name != own or call.caller.tenant_id is None:
        raise no_tenant(name)
    return call.caller.tenant_id


async def _fetch(call: Call, key_id: int) -> KeyRecord:
    row = await fetch_key(call.node.pool, key_id, call.caller.tenant_id)
    if row is None:
        raise no_key(key_id)
    return row


def _parse(text: str) -> int:
    try:
        return parse_key(text)
    except InvalidInput:
        raise NotFound(f"there is no key {text[:80]!r}", field="key", fix="list them: GET /v1/keys") from None


def _instant_us(instant: datetime) -> int:
    if instant.utcoffset() is None:
        raise InvalidInput("expires_at", "the time has no zone", "add an offset, such as Z or +02:00")
    return from_datetime(instant)


def _key(row: KeyRecord, now_us: int) -> Key:
    role: RoleName = Role(row.role).value
    return Key(
        id=key_text(row.key_id),
        name=row.name,
        prefix=row.prefix,
        role=role,
        tenant=row.tenant,
        state="revoked" if row.revoked_us is not None else "active" if row.good_at(now_us) else "expired",
        created_at=to_datetime(row.created_us),
        created_by=row.created_by,
        expires_at=_time(row.expires_us),
        last_used_at=_time(row.last_used_us),
        rotated_at=_time(row.rotated_us),
        old_until=_time(row.old_until_us),
        revoked_at=_time(row.revoked_us),
    )


def _time(instant_us: int | None) -> datetime | None:
    return None if instant_us is None else to_datetime(instant_us)
