"""Puts the API together, from the outside in: who asks, how often, whether again; then the endpoint."""

from noonmark.api.access.auth import Guard
from noonmark.api.access.keyring import KeyRing
from noonmark.api.asgi import ASGIApp, Receive, Scope, Send, lifespan
from noonmark.api.call import TENANT_HEADER, Call, tenant_of
from noonmark.api.crowd import Crowd
from noonmark.api.dispatch.endpoint import WORKERS
from noonmark.api.dispatch.request import Request
from noonmark.api.dispatch.router import Router
from noonmark.api.forward import Forwarder
from noonmark.api.middleware.idempotency import Idempotency
from noonmark.api.middleware.rate_limiter import RateLimiter
from noonmark.api.openapi.document import serving
from noonmark.api.ports import NodePort
from noonmark.api.routes.followers import Followers
from noonmark.api.table import TABLE
from noonmark.api.validate import Validator
from noonmark.node.config import REQUESTS_PER_S


def create_app(
    node: NodePort, token: str | None, requests_per_s: float = REQUESTS_PER_S, *, loopback: bool = True
) -> ASGIApp:
    """Run it with its lifespan, which closes the connections to other nodes.

    `token` is an installation admin's. `loopback` says that only this machine can reach it: then it asks for no key as
    long as there is neither a token nor a key.
    """
    validator = Validator(lambda: node.pool)
    forwarder = Forwarder()
    crowd = Crowd(lambda: node.pool)
    ring = KeyRing(node, token, loopback=loopback)
    followers = Followers(lambda: node.pool, lambda: node.clock)

    async def provide_call(request: Request) -> Call:
        tenant = await tenant_of(node, request.header(TENANT_HEADER))
        return Call(node, validator, forwarder, crowd, ring, request, *tenant)

    async def provide_node(_: Request) -> NodePort:
        return node

    async def provide_followers(_: Request) -> Followers:
        return followers

    endpoints = [*TABLE, serving(TABLE)]
    router = Router(endpoints, {Call: provide_call, NodePort: provide_node, Followers: provide_followers})
    free = frozenset(endpoint.path for endpoint in endpoints if not endpoint.need.key)
    guard = Guard(RateLimiter(Idempotency(router, node), requests_per_s), ring, free, WORKERS)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await lifespan(receive, send, [ring.start], [ring.stop, forwarder.close, followers.close])
        else:
            await guard(scope, receive, send)

    return app
