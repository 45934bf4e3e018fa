"""The types of ASGI, and the beginning and end of an application."""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]
Hook = Callable[[], Awaitable[None]]

CALLER = "noonmark.caller"
"""The key of a scope under which the guard puts the caller."""
JSON = b"application/json"
MSGPACK = b"application/msgpack"


async def send_answer(send: Send, status: int, headers: Headers, body: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def lifespan(receive: Receive, send: Send, start: Iterable[Hook], stop: Iterable[Hook]) -> None:
    """Starts when the server asks for it, and stops later; an error is sent to the server, which gives up."""
    for hooks, phase in ((start, "startup"), (stop, "shutdown")):
        await receive()
        try:
            for hook in hooks:
                await hook()
        except Exception as error:
            await send({"type": f"lifespan.{phase}.failed", "message": repr(error)})
            raise
        await send({"type": f"lifespan.{phase}.complete"})
