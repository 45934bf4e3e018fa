"""The least role for every route, in one table; a route that does not stand in it is refused to everybody."""

from typing import Any, NamedTuple

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from noonmark.errors import Forbidden
from noonmark.model.caller import Caller, Role
from noonmark.node.commands.asking import asked_by


class Need(NamedTuple):
    role: Role | None
    """None: any key will do."""
    installation: bool = False
    """A key that belongs to one tenant will not do."""


ANY = Need(None)
VIEWER = Need(Role.VIEWER)
OPERATOR = Need(Role.OPERATOR)
ADMIN = Need(Role.ADMIN)
WORKER = Need(Role.WORKER)
FLEET = Need(Role.VIEWER, installation=True)
"""Nodes, shards and workers serve all tenants alike: what they are and do is for who looks after all of them."""
INSTALLATION_ADMIN = Need(Role.ADMIN, installation=True)
WORKER_PROTOCOL = Need(Role.WORKER)
"""A worker whose key belongs to a tenant is handed that tenant's runs alone."""

FREE = frozenset({"/healthz", "/readyz", "/v1/openapi.json"})
"""Paths that are answered without a key; none of them tells of a tenant."""

NEEDS: dict[tuple[str, str], Need] = {
    # Jobs
    ("GET", "/v1/jobs"): VIEWER,
    ("POST", "/v1/jobs"): ADMIN,
    ("POST", "/v1/jobs/batch"): ADMIN,
    ("GET", "/v1/jobs/{ref}"): VIEWER,
    ("PUT", "/v1/jobs/{ref}"): ADMIN,
    ("PATCH", "/v1/jobs/{ref}"): ADMIN,
    ("DELETE", "/v1/jobs/{ref}"): ADMIN,
    ("PUT", "/v1/jobs/batch"): ADMIN,
    ("POST", "/v1/jobs/bulk"): OPERATOR,  # to delete takes an admin, which the route sees to
    ("POST", "/v1/jobs/{ref}/pause"): OPERATOR,
    ("POST", "/v1/jobs/{ref}/resume"): OPERATOR,
    ("GET", "/v1/jobs/{ref}/runs"): VIEWER,
    ("GET", "/v1/jobs/{ref}/fires"): VIEWER,
    ("POST", "/v1/jobs/{ref}/trigger"): OPERATOR,
    ("POST", "/v1/jobs/{ref}/skip"): OPERATOR,
    ("DELETE", "/v1/jobs/{ref}/skip"): OPERATOR,
    ("POST", "/v1/jobs/{ref}/backfill"): OPERATOR,
    ("GET", "/v1/jobs/{ref}/versions"): VIEWER,
    ("GET", "/v1/jobs/{ref}/versions/{version}"): VIEWER,
    ("GET", "/v1/jobs/{ref}/versions/{before}/diff/{after}"): VIEWER,
    ("POST", "/v1/jobs/{ref}/rollback"): ADMIN,
    # Runs and dead letters
    ("POST", "/v1/runs/batch"): OPERATOR,
    ("GET", "/v1/runs"): VIEWER,
    ("GET", "/v1/runs/{run_id}"): VIEWER,
    ("GET", "/v1/runs/{run_id}/explanation"): VIEWER,
    ("GET", "/v1/runs/{run_id}/follow"): VIEWER,
    ("POST", "/v1/runs/{run_id}/retry"): OPERATOR,
    ("GET", "/v1/jobs/{ref}/follow"): VIEWER,
    ("GET", "/v1/jobs/{ref}/explain"): VIEWER,
    ("POST", "/v1/jobs/{ref}/cancel"): OPERATOR,
    ("GET", "/v1/runs/{run_id}/attempts"): VIEWER,
    ("POST", "/v1/runs/{run_id}/cancel"): OPERATOR,
    ("GET", "/v1/dead"): VIEWER,
    ("POST", "/v1/dead/redrive"): OPERATOR,
    ("POST", "/v1/dead/discard"): OPERATOR,
    # Subscriptions
    ("GET", "/v1/subscriptions"): VIEWER,
    ("POST", "/v1/subscriptions"): ADMIN,
    ("GET", "/v1/subscriptions/{subscription_id}"): VIEWER,
    ("PATCH", "/v1/subscriptions/{subscription_id}"): ADMIN,
    ("DELETE", "/v1/subscriptions/{subscription_id}"): ADMIN,
    ("POST", "/v1/subscriptions/{subscription_id}/rotate-secret"): ADMIN,
    ("POST", "/v1/subscriptions/{subscription_id}/test"): ADMIN,
    ("GET", "/v1/subscriptions/{subscription_id}/deliveries"): VIEWER,
    # Schedules
    ("POST", "/v1/schedules/preview"): VIEWER,
    # The fleet
    ("GET", "/metrics"): FLEET,  # they name tenants
    ("GET", "/v1/nodes"): FLEET,
    ("GET", "/v1/workers"): FLEET,
    ("GET", "/v1/shards"): FLEET,
    ("GET", "/v1/doctor"): INSTALLATION_ADMIN,
    ("GET", "/v1/doctor/node"): INSTALLATION_ADMIN,
    ("PUT", "/v1/tasks"): WORKER,
    ("GET", "/v1/version"): ANY,
    # Keys, tenants and the audit
    ("GET", "/v1/whoami"): ANY,
    ("GET", "/v1/keys"): ADMIN,
    ("POST", "/v1/keys"): ADMIN,
    ("GET", "/v1/keys/{key_id}"): ADMIN,
    ("DELETE", "/v1/keys/{key_id}"): ADMIN,
    ("POST", "/v1/keys/{key_id}/rotate"): ADMIN,
    ("GET", "/v1/tenants"): VIEWER,
    ("POST", "/v1/tenants"): INSTALLATION_ADMIN,
    ("GET", "/v1/tenants/{name}"): VIEWER,
    ("PATCH", "/v1/tenants/{name}"): INSTALLATION_ADMIN,
    ("GET", "/v1/audit"): ADMIN,
}


def check(caller: Caller, need: Need | None) -> None:
    if need is None:
        raise Forbidden(
            "nobody may use this route: it has no role", fix="give it its least role in noonmark/api/roles.py"
        )
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


def guard_route(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """Litestar's guard, ahead of everything else that a route does."""
    if connection.scope["path"] in FREE:
        return
    method = str(connection.scope.get("method", "GET"))
    template = connection.scope["path_template"]
    check(asked_by(), NEEDS.get(("GET" if method == "HEAD" else method, template.rstrip("/") or "/")))
