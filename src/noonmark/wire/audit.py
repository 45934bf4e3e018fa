"""The audit as clients see it (JSON)."""

from datetime import datetime
from typing import Literal

import msgspec


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One change: who, when, from where, what, before and after."""

    id: str
    at: datetime
    actor: str
    """The name of the key, or of the database's user for what was done in SQL."""
    key: str | None
    door: Literal["api", "cli", "sdk", "sql", "system"]
    address: str | None
    agent: str | None
    action: str
    subject: str
    before: msgspec.Raw
    """Any JSON; null where there was nothing before."""
    after: msgspec.Raw
    """Any JSON; null where there is nothing after."""


class AuditPage(msgspec.Struct, frozen=True):
    entries: list[AuditEntry]
    next_cursor: str | None
