"""API keys, tenants and the caller itself, as clients see them (JSON)."""

from datetime import datetime
from typing import Annotated, Literal

import msgspec

MAX_GRACE_S = 30 * 86_400
RoleName = Literal["viewer", "operator", "admin", "worker"]
Weight = Annotated[int, msgspec.Meta(ge=1, le=100)]


class NewKey(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    """Says whose it is: it stands in the audit beside all that the key does."""
    role: RoleName
    tenant: str | None = None
    """Left out: the caller's own tenant, or every tenant if the caller's key reaches every tenant."""
    expires_at: datetime | None = None


class Key(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str
    prefix: str
    """The beginning of the key, `nmk_<prefix>_`; the rest is known to its holder alone."""
    role: RoleName
    tenant: str | None
    """None reaches every tenant."""
    state: Literal["active", "expired", "revoked"]
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    last_used_at: datetime | None
    """Within about a minute."""
    rotated_at: datetime | None
    old_until: datetime | None
    """Until then the secret from before the last rotation is good as well."""
    revoked_at: datetime | None


class KeyWithSecret(msgspec.Struct, frozen=True, kw_only=True):
    key: Key
    token: str
    """The key itself, to be sent as `Authorization: Bearer …`. It is shown this once."""


class KeyPage(msgspec.Struct, frozen=True):
    keys: list[Key]
    next_cursor: str | None


class Rotate(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    grace_s: Annotated[float, msgspec.Meta(ge=0, le=MAX_GRACE_S)] = 3600.0
    """How long the secret of now stays good beside the new one."""


class NewTenant(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    name: str
    weight: Weight = 1
    """Its share of the workers when several tenants have work for them."""


class TenantPatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    weight: Weight


class Tenant(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    weight: int
    created_at: datetime


class TenantPage(msgspec.Struct, frozen=True):
    tenants: list[Tenant]
    next_cursor: str | None


class WhoAmI(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    role: RoleName
    tenant: str | None
    """None reaches every tenant."""
    key: str | None
    """The id of the key; None for a node's own token, and for a node that asks for none."""
