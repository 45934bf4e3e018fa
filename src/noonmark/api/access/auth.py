"""The guard: finds the caller of a request by its key, before anything else is looked at."""

from msgspec.structs import replace

from noonmark.api.access.keyring import KeyRing
from noonmark.api.asgi import CALLER, ASGIApp, Receive, Scope, Send
from noonmark.api.problems import send_problem
from noonmark.model.caller import Caller, Door

_MAX_AGENT = 200
_DOORS: dict[str, Door] = {"noonmark-cli": "cli", "noonmark-sdk": "sdk"}


class Guard:
    """Lets a request with a good key through to `app`, with its caller in the scope."""

    def __init__(self, app: ASGIApp, keys: KeyRing, free: frozenset[str], workers: str) -> None:
        """`free` are the paths that need no key; for `workers` paths the peer's address is not kept."""
        self._app = app
        self._keys = keys
        self._free = free
        self._workers = workers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] in self._free:
            await self._app(scope, receive, send)
            return
        try:
            caller = await self._keys.caller(_shown(scope))
            if not scope["path"].startswith(self._workers):
                caller = _from_where(caller, scope)
        except Exception as error:
            await send_problem(send, error)
            return
        scope[CALLER] = caller
        await self._app(scope, receive, send)


def _shown(scope: Scope) -> bytes:
    given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
    scheme, _, token = given.partition(b" ")
    return token.strip() if scheme.lower() == b"bearer" else b""


def _from_where(caller: Caller, scope: Scope) -> Caller:
    """The peer's address and its User-Agent."""
    given = next((value for name, value in scope["headers"] if name == b"user-agent"), b"")
    agent = given.decode("latin-1").replace("\0", "")[:_MAX_AGENT]
    peer = scope["client"]
    address = None if peer is None else peer[0]
    door = _DOORS.get(agent.partition("/")[0], "api")
    return replace(caller, address=address, agent=agent or None, door=door)
