"""/v1/audit: every change, by whom and from where, with what was before and after."""

from datetime import datetime
from typing import Annotated

import msgspec

from noonmark.api.call import Call
from noonmark.api.dispatch.signature import Query
from noonmark.api.middleware.pages import BeforeEntry, Cursor, Limit, cut, decode_cursor, encode_cursor
from noonmark.clock import NEVER_US, from_datetime, to_datetime
from noonmark.errors import Forbidden, InvalidInput
from noonmark.model.audit import INSTALLATION
from noonmark.model.ids import key_text
from noonmark.store.reads.audit import AuditFilter, AuditRecord, list_audit
from noonmark.wire.audit import AuditEntry, AuditPage

_Text = Annotated[str | None, msgspec.Meta(max_length=200)]
_From = Annotated[datetime | None, Query("from"), msgspec.Meta(description="The earliest time, with its offset.")]
_To = Annotated[datetime | None, Query("to"), msgspec.Meta(description="The latest time, with its offset.")]
_Action = Annotated[
    str | None, msgspec.Meta(max_length=200, description="An action, or how it begins: `job.` is all about jobs.")
]
_Installation = Annotated[
    bool, msgspec.Meta(description="What belongs to no tenant: tenants, and keys that reach all of them.")
]


async def list_entries(
    call: Call,
    subject: _Text = None,
    actor: _Text = None,
    action: _Action = None,
    from_at: _From = None,
    to_at: _To = None,
    installation: _Installation = False,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> AuditPage:
    """The changes of a tenant, or those of the installation itself, the latest first."""
    if installation and not call.caller.installation:
        raise Forbidden(
            "this needs a key for the whole installation", field="installation", fix="leave `installation` out"
        )
    before = decode_cursor(cursor, BeforeEntry)
    key = (before.at_us, before.audit_id)
    if to_at is not None:
        key = min(key, (_instant_us("to", to_at), 2**63 - 1))
    wanted = AuditFilter(
        from_us=0 if from_at is None else _instant_us("from", from_at),
        actor=_storable(actor),
        action=_storable(action),
        subject=_storable(subject),
    )
    tenant_id = INSTALLATION if installation else call.tenant_id
    rows, more = cut(await list_audit(call.node.pool, tenant_id, wanted, before=key, limit=limit + 1), limit)
    return AuditPage(
        [_entry(row) for row in rows],
        encode_cursor(BeforeEntry(rows[-1].at_us, rows[-1].audit_id)) if more else None,
    )


def _instant_us(field: str, instant: datetime) -> int:
    if instant.utcoffset() is None:
        raise InvalidInput(field, "the time has no zone", "add an offset, such as Z or +02:00")
    return min(NEVER_US, max(0, from_datetime(instant)))


def _storable(text: str | None) -> str | None:
    """Nothing that is stored holds a NUL, and PostgreSQL would refuse to look for it."""
    return None if text is None else text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def _entry(row: AuditRecord) -> AuditEntry:
    return AuditEntry(
        id=f"audit_{row.audit_id}",
        at=to_datetime(row.at_us),
        actor=row.actor,
        key=None if row.key_id is None else key_text(row.key_id),
        door=row.door,  # type: ignore[arg-type]
        address=row.address,
        agent=row.agent,
        action=row.action,
        subject=row.subject,
        before=_json(row.before),
        after=_json(row.after),
    )


def _json(text: str | None) -> msgspec.Raw:
    return msgspec.Raw(b"null" if text is None else text.encode())
