"""The caller of a request: the holder of a key, with a role, in one tenant or in all of them."""

from enum import StrEnum
from typing import Literal

import msgspec

from noonmark.model.ids import TenantId

Door = Literal["api", "cli", "sdk", "sql", "system"]


class Role(StrEnum):
    """Viewer, operator and admin each may do all that the one before may; a worker is apart."""

    VIEWER = "viewer"
    """Reads."""
    OPERATOR = "operator"
    """Triggers, cancels, pauses, resumes, retries, redrives, discards, skips and backfills."""
    ADMIN = "admin"
    """Makes, changes and deletes jobs, keys, tenants and subscriptions; also works."""
    WORKER = "worker"
    """Speaks the worker protocol and declares tasks, nothing else."""

    def covers(self, needed: "Role") -> bool:
        if needed is Role.WORKER:
            return self in (Role.WORKER, Role.ADMIN)
        return self is not Role.WORKER and _RANKS[self] >= _RANKS[needed]


_RANKS = {Role.VIEWER: 1, Role.OPERATOR: 2, Role.ADMIN: 3}


class Caller(msgspec.Struct, frozen=True):
    name: str
    role: Role = Role.ADMIN
    tenant_id: TenantId | None = None
    """None may act in any tenant."""
    key_id: int | None = None
    address: str | None = None
    agent: str | None = None
    """The User-Agent, as far as it was told."""
    door: Door = "system"
    """How the request came in, as the caller tells it; nothing is decided by this."""

    tenant: str | None = None
    """The name of the tenant with `tenant_id`."""

    @property
    def installation(self) -> bool:
        """Belongs to no single tenant."""
        return self.tenant_id is None


SYSTEM = Caller("system")
"""The caller of changes that a node makes by itself."""
