"""Puts the API together, from the outside in: who asks, how often, whether again; then a route or a worker's call."""

from litestar import Litestar, Router
from litestar.di import Provide
from litestar.enums import ScopeType
from litestar.types import AnyCallable, ASGIApp, ControllerRouterHandler, Receive, Scope, Send

from noonmark.api import problems
from noonmark.api.access.auth import Guard
from noonmark.api.access.keyring import KeyRing
from noonmark.api.access.roles import guard_route
from noonmark.api.call import TENANT_HEADER, AnyRequest, Call, tenant_of
from noonmark.api.forward import Forwarder
from noonmark.api.manners.body import MAX_BODY_BYTES
from noonmark.api.manners.fields import Asked
from noonmark.api.manners.idempotency import Idempotency
from noonmark.api.manners.methods import Methods
from noonmark.api.manners.turnstile import Turnstile
from noonmark.api.openapi import document as openapi
from noonmark.api.ports import NodePort
from noonmark.api.routes import (
    apply,
    audit,
    bulk,
    dead,
    doctor,
    fleet,
    follow,
    health,
    job_runs,
    jobs,
    keys,
    occurrences,
    runs,
    schedules,
    subscriptions,
    tenants,
    versions,
)
from noonmark.api.routes.crowd import Crowd
from noonmark.api.routes.followers import Followers
from noonmark.api.stories import explain_run
from noonmark.api.submissions import Submissions
from noonmark.api.validate import Validator
from noonmark.api.worker import PREFIX, WorkerProtocol
from noonmark.node.config import REQUESTS_PER_S

_JOBS = [handler for module in (jobs, apply, bulk, occurrences, versions, job_runs) for handler in module.handlers]


def routers() -> list[ControllerRouterHandler]:
    return [
        Router("/v1/jobs", route_handlers=_JOBS),
        Router("/v1/runs", route_handlers=[*runs.handlers, *follow.run_handlers, *explain_run.handlers]),
        Router("/v1/dead", route_handlers=dead.handlers),
        Router("/v1/schedules", route_handlers=schedules.handlers),
        *keys.handlers,
        *tenants.handlers,
        *audit.handlers,
        *subscriptions.handlers,
        *fleet.handlers,
        *doctor.handlers,
        *health.handlers,
        *openapi.handlers,
    ]


def routes(dependencies: dict[str, AnyCallable]) -> Litestar:
    return Litestar(
        route_handlers=routers(),
        dependencies={name: Provide(provide) for name, provide in dependencies.items()},
        exception_handlers={Exception: problems.respond},
        guards=[guard_route],
        middleware=[Methods(), Asked()],
        request_max_body_size=MAX_BODY_BYTES,
        openapi_config=None,
        logging_config=None,
    )


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

    async def provide_call(request: AnyRequest) -> Call:
        return Call(
            node, validator, forwarder, crowd, ring, request, *await tenant_of(node, request.headers.get(TENANT_HEADER))
        )

    async def provide_node() -> NodePort:
        return node

    followers = Followers(lambda: node.pool, lambda: node.clock)

    async def provide_followers() -> Followers:
        return followers

    nouns = routes({"call": provide_call, "node": provide_node, "followers": provide_followers})
    nouns.on_startup.append(ring.start)
    nouns.on_shutdown += [ring.stop, forwarder.close, followers.close]
    submissions = Submissions(nouns, node, validator)
    workers = WorkerProtocol(node)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == ScopeType.HTTP and scope["path"].startswith(PREFIX):
            await workers(scope, receive, send)
        else:
            await submissions(scope, receive, send)

    return Guard(Turnstile(Idempotency(app, node), requests_per_s), ring)
