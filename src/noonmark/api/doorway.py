"""The door of a node: requests wait while the node starts, and may end before it stops.

States
    open      a request that comes before the node's life has begun waits for that, for up to START_S
    closing   requests under way go on; event streams end; workers and nodes are served as before; others are refused
    shut      requests still under way are cut: each gets a problem, never a plain text

A refusal says `not_owner`: nothing was done, and the request may go to another node.
"""

import asyncio
from contextlib import suppress

from noonmark.api.asgi import ASGIApp, Message, Receive, Scope, Send
from noonmark.api.dispatch.endpoint import NODES, WORKERS
from noonmark.api.problems import send_problem
from noonmark.errors import NotOwner, OutcomeUnknown

START_S = 5.0
STOP_S = 10.0
_CUT_S = 1.0
_ASKED_AT_ONCE = frozenset({"/healthz", "/readyz"})
"""Callers of these paths want to know whether the node is there yet, so they never wait."""
_STREAM = b"text/event-stream"


class _Begun:
    """A request under way."""

    __slots__ = ("_send", "_task", "cut", "started", "streams")

    def __init__(self, send: Send) -> None:
        self._send = send
        self._task = asyncio.current_task()
        self.started = self.streams = self.cut = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            self.streams = any(
                name.lower() == b"content-type" and value.startswith(_STREAM) for name, value in message["headers"]
            )
        await self._send(message)

    def end(self) -> None:
        if self._task is not None and not self.cut:
            self.cut = True
            self._task.cancel()

    async def finish(self) -> None:
        """Sends the caller a problem, as far as its answer has not begun."""
        assert self._task is not None
        self._task.uncancel()
        if not self.started:
            why = "the node stopped before it could say whether this was done"
            fix = "send it again with the same Idempotency-Key, or look first"
            await send_problem(self._send, OutcomeUnknown(why, fix=fix))
        elif self.streams:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})


class Doorway:
    def __init__(self, app: ASGIApp, living: asyncio.Event) -> None:
        """`living` is set while the node has a life."""
        self._app = app
        self._living = living
        self._going: set[_Begun] = set()
        self._closing = False
        self._quiet = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in _ASKED_AT_ONCE:
            await self._app(scope, receive, send)
            return
        if scope["path"].startswith((WORKERS, NODES)):
            await self._wait_for_life()
            await self._app(scope, receive, send)
            return
        if self._closing:
            await send_problem(send, NotOwner("the node is stopping", fix="send it again, to another node"))
            return
        begun = _Begun(send)
        self._going.add(begun)
        try:
            await self._wait_for_life()
            await self._app(scope, receive, begun.send)
        except asyncio.CancelledError:
            if not begun.cut:
                raise
            await begun.finish()
        except Exception as error:
            if begun.started:
                raise
            await send_problem(send, error)
        finally:
            self._going.discard(begun)
            if not self._going:
                self._quiet.set()

    async def _wait_for_life(self) -> None:
        if not self._living.is_set() and not self._closing:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._living.wait(), START_S)

    async def close(self, within_s: float = STOP_S) -> None:
        """Returns when all requests under way have ended, or when the time is up."""
        self._closing = True
        for begun in self._going:
            if begun.streams:
                begun.end()
        await self._wait(within_s)

    async def shut(self) -> None:
        self._closing = True
        for begun in self._going:
            begun.end()
        await self._wait(_CUT_S)

    async def _wait(self, within_s: float) -> None:
        if self._going:
            self._quiet.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._quiet.wait(), within_s)
