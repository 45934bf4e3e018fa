"""Puts the API together, from the outside in: guard, rate limiter, router."""

from noonmark.api.access.auth import Guard
from noonmark.api.access.keyring import KeyRing
from noonmark.api.asgi import ASGIApp, Receive, Scope, Send, lifespan
from noonmark.api.call import TENANT_HEADER, Call, tenant_of
from noonmark.api.dispatch.endpoint import WORKERS
from noonmark.api.dispatch.request import Request
from noonmark.api.dispatch.router import Router
from noonmark.api.middleware.rate_limiter import RateLimiter
from noonmark.api.openapi.document import serving
from noonmark.api.request_key import READS, request_key
from noonmark.api.routes.followers import Followers
from noonmark.api.schedule_load import ScheduleLoad
from noonmark.api.table import AMONG_NODES, TABLE
from noonmark.api.validate import Validator
from noonmark.node.config import REQUESTS_PER_S
from noonmark.node.node import Node


def create_app(
    node: Node, token: str | None, requests_per_s: float = REQUESTS_PER_S, *, loopback: bool = True
) -> ASGIApp:
    """The ASGI application; it needs its lifespan to be run.

    `token` is an installation admin's. `loopback` says that only this machine can reach it: then it asks for no key as
    long as there is neither a token nor a key.
    """
    validator = Validator(lambda: node.pool)
    load = ScheduleLoad(lambda: node.pool)
    ring = KeyRing(node, token, loopback=loopback)
    followers = Followers(lambda: node.pool, lambda: node.clock)

    async def provide_call(request: Request) -> Call:
        if request.method not in READS:
            node.sleep_watch.check()
        tenant, tenant_id = await tenant_of(node, request.caller, request.header(TENANT_HEADER))
        key = await request_key(request, tenant_id)
        return Call(node, validator, load, ring, request, tenant, tenant_id, key)

    async def provide_request(request: Request) -> Request:
        return request

    async def provide_node(_: Request) -> Node:
        return node

    async def provide_followers(_: Request) -> Followers:
        return followers

    endpoints = [*TABLE, AMONG_NODES, serving(TABLE)]
    providers = {Call: provide_call, Node: provide_node, Followers: provide_followers, Request: provide_request}
    router = Router(endpoints, providers)
    free = frozenset(endpoint.path for endpoint in endpoints if not endpoint.need.key)
    guard = Guard(RateLimiter(router, requests_per_s), ring, free, WORKERS)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await lifespan(receive, send, [ring.start], [ring.stop, followers.close])
        else:
            await guard(scope, receive, send)

    return app
