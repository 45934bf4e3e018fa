"""The role that a request needs; each endpoint names its own in the table."""

from typing import NamedTuple

from noonmark.errors import Forbidden
from noonmark.model.caller import Caller, Role


class Need(NamedTuple):
    role: Role | None
    """None: any key will do."""
    installation: bool = False
    """A key that belongs to one tenant will not do."""
    key: bool = True
    """False: it is answered without a key."""


FREE = Need(None, key=False)
"""For endpoints that show nothing of a tenant."""
ANY = Need(None)
VIEWER = Need(Role.VIEWER)
OPERATOR = Need(Role.OPERATOR)
ADMIN = Need(Role.ADMIN)
WORKER = Need(Role.WORKER)
"""A worker whose key belongs to a tenant is handed that tenant's runs alone."""
FLEET = Need(Role.VIEWER, installation=True)
"""Nodes, shards and workers serve all tenants: only keys without a tenant may see them."""
INSTALLATION_ADMIN = Need(Role.ADMIN, installation=True)


def check(caller: Caller, need: Need) -> None:
    if need.role is not None and not caller.role.covers(need.role):
        raise Forbidden(
            f"this needs the role {need.role}, and the key {caller.name!r} has the role {caller.role}",
            field="Authorization",
            fix=f"use a key with the role {need.role}",
        )
    if need.installation and not caller.installation:
        raise Forbidden(
            f"this needs a key for the whole installation, and the key {caller.name!r} belongs to one tenant",
            field="Authorization",
            fix="use a key that belongs to no tenant",
        )
