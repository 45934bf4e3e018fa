"""Puts the API together: the worker protocol ahead of Litestar, both behind the token."""

from litestar import Litestar, Router
from litestar.di import Provide
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Receive, Scope, Send

from noonmark.api import dead, fleet, health, jobs, problems, runs, schedules
from noonmark.api.auth import Guard
from noonmark.api.body import MAX_BODY_BYTES
from noonmark.api.call import AnyRequest, Call, tenant_name
from noonmark.api.crowd import Crowd
from noonmark.api.forward import Forwarder
from noonmark.api.ports import NodePort
from noonmark.api.validate import Validator
from noonmark.api.worker import PREFIX, WorkerProtocol


def create_app(node: NodePort, token: str | None) -> ASGIApp:
    """Run it with its lifespan, which closes the connections to other nodes."""
    validator = Validator(lambda: node.pool)
    forwarder = Forwarder()
    crowd = Crowd(lambda: node.pool)

    async def provide_call(request: AnyRequest) -> Call:
        return Call(node, validator, forwarder, crowd, request, await node.tenant_id(tenant_name(request)))

    async def provide_node() -> NodePort:
        return node

    routes = Litestar(
        route_handlers=[
            Router("/v1/jobs", route_handlers=jobs.handlers),
            Router("/v1/runs", route_handlers=runs.handlers),
            Router("/v1/dead", route_handlers=dead.handlers),
            Router("/v1/schedules", route_handlers=schedules.handlers),
            *fleet.handlers,
            *health.handlers,
        ],
        dependencies={"call": Provide(provide_call), "node": Provide(provide_node)},
        exception_handlers={Exception: problems.respond},
        on_shutdown=[forwarder.close],
        request_max_body_size=MAX_BODY_BYTES,
        openapi_config=None,
        logging_config=None,
    )
    workers = WorkerProtocol(node)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == ScopeType.HTTP and scope["path"].startswith(PREFIX):
            await workers(scope, receive, send)
        else:
            await routes(scope, receive, send)

    return Guard(app, token) if token else app
