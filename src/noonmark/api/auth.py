"""The bearer token: one for all until issue 4 brings keys; health and metrics need none."""

import hmac

from litestar.enums import ScopeType
from litestar.types import ASGIApp, Receive, Scope, Send

from noonmark.api.problems import send_problem
from noonmark.errors import Unauthorized

_FREE = frozenset({"/healthz", "/readyz", "/metrics"})


class Guard:
    """Lets a request through to `app` if it shows the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = b"Bearer " + token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP or scope["path"] in _FREE or self._shown(scope):
            await self._app(scope, receive, send)
        else:
            message = "this node asks for a token, and the request has none or a wrong one"
            await send_problem(send, Unauthorized(message, field="Authorization", fix="send Authorization: Bearer …"))

    def _shown(self, scope: Scope) -> bool:
        given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        scheme, _, token = given.partition(b" ")
        return hmac.compare_digest(scheme.capitalize() + b" " + token.strip(), self._expected)
