"""Submitting a run inside the caller's own SQL transaction: commit makes it visible, rollback leaves nothing."""

from datetime import datetime
from typing import Any

import msgspec

_NUMBERED = "SELECT noonmark.submit(job => $1, input => $2::json, at => $3, tenant => $4, priority => $5)"
_FORMAT = (
    "SELECT noonmark.submit(job => %s, input => %s::json, at => %s::timestamptz, tenant => %s, priority => %s::integer)"
)


def _values(job: str, input: Any, at: datetime | None, tenant: str, priority: int | None) -> tuple[Any, ...]:
    if at is not None and at.tzinfo is None:
        raise ValueError("at: a time needs a time zone")
    text = None if input is None else msgspec.json.encode(input).decode()
    return (job, text, at, tenant, priority)


async def submit_in(
    conn: Any,
    job: str,
    input: Any = None,
    *,
    at: datetime | None = None,
    tenant: str = "default",
    priority: int | None = None,
) -> None:
    """Over an asyncpg connection, or a psycopg 3 async connection or cursor, whichever the transaction is open on."""
    values = _values(job, input, at, tenant, priority)
    if hasattr(conn, "fetchval"):
        await conn.fetchval(_NUMBERED, *values)
    else:
        await conn.execute(_FORMAT, values)


def submit_in_sync(
    conn: Any,
    job: str,
    input: Any = None,
    *,
    at: datetime | None = None,
    tenant: str = "default",
    priority: int | None = None,
) -> None:
    """The same over a blocking psycopg (2 or 3) connection or cursor."""
    values = _values(job, input, at, tenant, priority)
    if hasattr(conn, "cursor"):
        with conn.cursor() as cursor:
            cursor.execute(_FORMAT, values)
    else:
        conn.execute(_FORMAT, values)
