"""A request as its route sees it, and its body, which is bounded."""

import asyncio
from collections.abc import Awaitable
from typing import Any

from noonmark.api.asgi import CALLER, JSON, Receive, Scope
from noonmark.api.problems import UnsupportedMedia
from noonmark.errors import TooLarge
from noonmark.model.caller import SYSTEM, Caller

MAX_BODY_BYTES = 16 * 1024 * 1024
_MSGPACK_NAMES = frozenset({b"application/msgpack", b"application/x-msgpack", b"application/vnd.msgpack"})


class Disconnected(Exception):
    """The caller hung up: there is nobody to answer."""


class Request:
    __slots__ = ("_body", "_receive", "caller", "headers", "method", "path", "query", "raw_path", "replayed")

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.raw_path: bytes = scope["raw_path"]
        self.query: bytes = scope["query_string"]
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        """By their names in small letters; of one that comes twice, the last."""
        self.caller: Caller = scope.get(CALLER, SYSTEM)
        self.replayed = False
        """The answer is that of an earlier request with the same key."""
        self._receive = receive
        self._body: bytes | bytearray | None = None

    @property
    def target(self) -> str:
        """The path as it was sent, with its query."""
        return (self.raw_path + b"?" + self.query if self.query else self.raw_path).decode("latin-1")

    def header(self, name: str) -> str | None:
        value = self.headers.get(name.lower().encode())
        return None if value is None else value.decode("latin-1")

    async def body(self) -> bytes | bytearray:
        if self._body is None:
            self._body = await _read(self.headers, self._receive)
        return self._body

    def is_packed(self) -> bool:
        """MessagePack or JSON; any other body is refused."""
        kind = self.headers.get(b"content-type", JSON)
        if kind == JSON:
            return False
        kind = kind.partition(b";")[0].strip().lower()
        if kind in _MSGPACK_NAMES:
            return True
        if kind == JSON:
            return False
        raise UnsupportedMedia(
            f"{kind.decode(errors='replace')!r} is not understood here",
            field="Content-Type",
            fix="send application/json or application/msgpack",
        )

    async def unless_gone(self, work: Awaitable[Any]) -> Any:
        """Waits in this task, so that an answer leaves without a detour; the watcher cancels it."""
        waiting = asyncio.current_task()
        assert waiting is not None
        gone = asyncio.create_task(_disconnect(self._receive))
        gone.add_done_callback(lambda watcher: None if watcher.cancelled() else waiting.cancel())
        try:
            return await work
        except asyncio.CancelledError:
            if gone.done() and not gone.cancelled():
                waiting.uncancel()
                raise Disconnected from None
            raise
        finally:
            gone.cancel()


async def _read(headers: dict[bytes, bytes], receive: Receive) -> bytes | bytearray:
    declared = headers.get(b"content-length", b"0")
    if not declared.isdigit() or int(declared) > MAX_BODY_BYTES:
        raise _too_large()
    event = await receive()
    if event["type"] == "http.request" and not event.get("more_body", False):
        return bytes(event.get("body", b""))
    body = bytearray()
    while event["type"] == "http.request":
        body += event.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            raise _too_large()
        if not event.get("more_body", False):
            return body
        event = await receive()
    raise Disconnected


def _too_large() -> TooLarge:
    return TooLarge("body", f"it is above the bound of {MAX_BODY_BYTES} bytes", "send fewer or smaller items")


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
