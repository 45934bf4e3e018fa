"""OPTIONS: Litestar's own answer forgets the methods of routes that were added to a path after its first one."""

from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Receive, Scope, Send


class Methods(ASGIMiddleware):
    """Names all methods of a path in Allow."""

    scopes = (ScopeType.HTTP,)

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        if scope["method"] != "OPTIONS":  # type: ignore[typeddict-item]
            await next_app(scope, receive, send)
            return
        template = scope["path_template"]
        methods = {
            name for route in scope["litestar_app"].routes if route.path_format == template for name in route.methods
        }
        allow = ", ".join(sorted(methods)).encode()
        await send({"type": "http.response.start", "status": 204, "headers": [(b"allow", allow)]})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
