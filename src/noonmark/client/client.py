"""The HTTP API as typed calls, grouped by noun. `ref` is a job's name or its id (`job_…`)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from noonmark.client.base import DEFAULT_SERVER
from noonmark.client.job_calls import JobCalls
from noonmark.client.pages import Page
from noonmark.client.run_calls import RunCalls
from noonmark.wire.audit import AuditEntry
from noonmark.wire.doctor import Examination, NodeFacts
from noonmark.wire.keys import Key, KeyWithSecret, NewKey, NewTenant, Rotate, Tenant, TenantPatch, WhoAmI
from noonmark.wire.notify import (
    Delivery,
    RotateSecret,
    Subscription,
    SubscriptionPatch,
    SubscriptionSpec,
    SubscriptionWithSecret,
    TestSent,
)
from noonmark.wire.resources import (
    NodeInfo,
    WorkerInfo,
)

__all__ = ["DEFAULT_SERVER", "Client"]


def _subscription(subscription_id: str, rest: str = "") -> str:
    return f"/v1/subscriptions/{quote(subscription_id, safe='')}{rest}"


class Client(JobCalls, RunCalls):
    """Talks to one node, or to a load balancer before several; any node answers for any job."""

    # subscriptions

    async def subscribe(self, spec: SubscriptionSpec) -> SubscriptionWithSecret:
        """Its secret is shown this once."""
        return await self._ask(SubscriptionWithSecret, "POST", "/v1/subscriptions", body=spec)

    async def subscriptions(self, *, limit: int | None = None, cursor: str | None = None) -> Page[Subscription]:
        return await self._page(Subscription, "subscriptions", "/v1/subscriptions", limit=limit, cursor=cursor)

    async def get_subscription(self, subscription_id: str) -> Subscription:
        return await self._ask(Subscription, "GET", _subscription(subscription_id))

    async def update_subscription(self, subscription_id: str, patch: SubscriptionPatch) -> Subscription:
        return await self._ask(Subscription, "PATCH", _subscription(subscription_id), body=patch)

    async def unsubscribe(self, subscription_id: str) -> None:
        await self._http.call("DELETE", _subscription(subscription_id))

    async def rotate_subscription_secret(
        self, subscription_id: str, grace_s: float = 86_400.0
    ) -> SubscriptionWithSecret:
        """The old secret signs beside the new one for `grace_s`."""
        path = _subscription(subscription_id, "/rotate-secret")
        return await self._ask(SubscriptionWithSecret, "POST", path, body=RotateSecret(grace_s=grace_s))

    async def test_subscription(self, subscription_id: str) -> TestSent:
        return await self._ask(TestSent, "POST", _subscription(subscription_id, "/test"))

    async def deliveries(
        self, subscription_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> Page[Delivery]:
        """Newest first."""
        path = _subscription(subscription_id, "/deliveries")
        return await self._page(Delivery, "deliveries", path, limit=limit, cursor=cursor)

    # the fleet

    async def declare_tasks(self, tasks: Sequence[str]) -> None:
        """Makes task names known, so that jobs may name them before a worker has."""
        await self._http.call("PUT", "/v1/tasks", body={"tasks": tasks})

    async def nodes(self) -> list[NodeInfo]:
        return (await self._page(NodeInfo, "nodes", "/v1/nodes")).items

    async def workers(self) -> list[WorkerInfo]:
        return (await self._page(WorkerInfo, "workers", "/v1/workers")).items

    async def shards(self) -> list[dict[str, Any]]:
        return (await self._page(dict, "shards", "/v1/shards")).items

    async def examine(self) -> Examination:
        """Facts about the database, the work and the node that answers."""
        return await self._ask(Examination, "GET", "/v1/doctor")

    async def examine_node(self) -> NodeFacts:
        return await self._ask(NodeFacts, "GET", "/v1/doctor/node")

    # keys, tenants, the audit

    async def whoami(self) -> WhoAmI:
        return await self._ask(WhoAmI, "GET", "/v1/whoami")

    async def create_key(self, key: NewKey) -> KeyWithSecret:
        """The only time that the key itself is shown."""
        return await self._ask(KeyWithSecret, "POST", "/v1/keys", body=key)

    async def keys(self, *, limit: int | None = None, cursor: str | None = None) -> Page[Key]:
        return await self._page(Key, "keys", "/v1/keys", limit=limit, cursor=cursor)

    async def rotate_key(self, key_id: str, grace_s: float = 3600.0) -> KeyWithSecret:
        """The old secret stays good for `grace_s`."""
        path = f"/v1/keys/{quote(key_id, safe='')}/rotate"
        return await self._ask(KeyWithSecret, "POST", path, body=Rotate(grace_s=grace_s))

    async def revoke_key(self, key_id: str) -> Key:
        return await self._ask(Key, "DELETE", f"/v1/keys/{quote(key_id, safe='')}")

    async def create_tenant(self, name: str, weight: int = 1) -> Tenant:
        return await self._ask(Tenant, "POST", "/v1/tenants", body=NewTenant(name=name, weight=weight))

    async def tenants(self, *, limit: int | None = None, cursor: str | None = None) -> Page[Tenant]:
        return await self._page(Tenant, "tenants", "/v1/tenants", limit=limit, cursor=cursor)

    async def update_tenant(self, name: str, weight: int) -> Tenant:
        path = f"/v1/tenants/{quote(name, safe='')}"
        return await self._ask(Tenant, "PATCH", path, body=TenantPatch(weight=weight))

    async def audit(
        self,
        *,
        subject: str | None = None,
        actor: str | None = None,
        action: str | None = None,
        from_at: datetime | None = None,
        to_at: datetime | None = None,
        installation: bool = False,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[AuditEntry]:
        """Newest first. `installation`: entries of no tenant."""
        return await self._page(
            AuditEntry, "entries", "/v1/audit", subject=subject, actor=actor, action=action,
            **{"from": from_at and from_at.isoformat(), "to": to_at and to_at.isoformat()},
            installation=installation or None, limit=limit, cursor=cursor,
        )  # fmt: skip
