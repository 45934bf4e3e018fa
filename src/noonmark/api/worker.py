"""POST /v1/worker/register|claim|heartbeat|report: the hot path, as plain ASGI with prebuilt coders.

A body is MessagePack or JSON as its Content-Type says, and the answer comes in the same format; problems are always
JSON. A worker that hangs up while it waits for work cancels its claim, so that nothing is granted to nobody.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import msgspec
from litestar.types import Receive, Scope, Send

from noonmark.api.manners.body import MAX_BODY_BYTES
from noonmark.api.ports import WorkerCalls
from noonmark.api.problems import MethodNotAllowed, UnsupportedMedia, send_problem
from noonmark.errors import InvalidInput, NotFound, TooLarge
from noonmark.wire.worker import Claim, Heartbeat, Register, Report

PREFIX = "/v1/worker/"
MAX_NAME = 1000
MAX_CONCURRENCY = 100_000
_JSON = b"application/json"
_MSGPACK = b"application/msgpack"
_MSGPACK_NAMES = frozenset({_MSGPACK, b"application/x-msgpack", b"application/vnd.msgpack"})
_encode_json = msgspec.json.Encoder().encode
_encode_msgpack = msgspec.msgpack.Encoder().encode


class _Disconnected(Exception):
    """Nobody is there to be answered."""


class _Endpoint(NamedTuple):
    from_json: Callable[[bytes | bytearray], Any]
    from_msgpack: Callable[[bytes | bytearray], Any]
    call: Callable[[Any], Awaitable[Any]]
    waits: bool
    check: Callable[[Any], Any] | None


class WorkerProtocol:
    """An ASGI application for the paths under PREFIX."""

    def __init__(self, calls: WorkerCalls) -> None:
        self._endpoints = {
            PREFIX + "register": _endpoint(Register, calls.register, check=_nameable),
            PREFIX + "claim": _endpoint(Claim, calls.claim, waits=True),
            PREFIX + "heartbeat": _endpoint(Heartbeat, calls.heartbeat),
            PREFIX + "report": _endpoint(Report, calls.report, check=_storable),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            endpoint = self._endpoint(scope)
            packed = _is_msgpack(scope)
            body = await _read_body(scope, receive)
            message = endpoint.from_msgpack(body) if packed else endpoint.from_json(body)
            if endpoint.check is not None:
                message = endpoint.check(message)
            if endpoint.waits:
                answer = await _unless_disconnected(endpoint.call(message), receive)
            else:
                answer = await endpoint.call(message)
            encoded = _encode_msgpack(answer) if packed else _encode_json(answer)
        except _Disconnected:
            return
        except Exception as error:
            await send_problem(send, error)
            return
        headers = [
            (b"content-type", _MSGPACK if packed else _JSON),
            (b"content-length", str(len(encoded)).encode()),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": encoded, "more_body": False})

    def _endpoint(self, scope: Scope) -> _Endpoint:
        endpoint = self._endpoints.get(scope["path"])
        if endpoint is None:
            raise NotFound("there is nothing at this address", fix="register, claim, heartbeat or report")
        if scope["method"] != "POST":  # type: ignore[typeddict-item]
            raise MethodNotAllowed("POST")
        return endpoint


def _endpoint(
    kind: type[Any],
    call: Callable[[Any], Awaitable[Any]],
    *,
    waits: bool = False,
    check: Callable[[Any], Any] | None = None,
) -> _Endpoint:
    return _Endpoint(msgspec.json.Decoder(kind).decode, msgspec.msgpack.Decoder(kind).decode, call, waits, check)


def _is_msgpack(scope: Scope) -> bool:
    kind = next((value for name, value in scope["headers"] if name == b"content-type"), _JSON)
    kind = kind.partition(b";")[0].strip().lower()
    if kind in _MSGPACK_NAMES:
        return True
    if kind == _JSON:
        return False
    raise UnsupportedMedia(
        f"{kind.decode(errors='replace')!r} is not understood here",
        field="Content-Type",
        fix="send application/json or application/msgpack",
    )


async def _read_body(scope: Scope, receive: Receive) -> bytes | bytearray:
    declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    if not declared.isdigit() or int(declared) > MAX_BODY_BYTES:
        raise _too_large()
    event: Any = await receive()
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
    raise _Disconnected


def _too_large() -> TooLarge:
    return TooLarge("body", f"it is above the bound of {MAX_BODY_BYTES} bytes", "send fewer items at once")


async def _unless_disconnected(call: Awaitable[Any], receive: Receive) -> Any:
    """Waits in this task, so that an answer leaves without a detour; the watcher cancels it."""
    waiting = asyncio.current_task()
    assert waiting is not None
    gone = asyncio.create_task(_disconnect(receive))
    gone.add_done_callback(lambda watcher: None if watcher.cancelled() else waiting.cancel())
    try:
        return await call
    except asyncio.CancelledError:
        if gone.done() and not gone.cancelled():
            waiting.uncancel()
            raise _Disconnected from None
        raise
    finally:
        gone.cancel()


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _nameable(register: Register) -> Register:
    """Names go to the store as they are, so none may hold what text there cannot."""
    if register.concurrency < 1 or register.concurrency > MAX_CONCURRENCY:
        raise InvalidInput("concurrency", f"{register.concurrency} is out of bounds", f"use 1 to {MAX_CONCURRENCY}")
    for field, names in (("name", [register.name]), ("queues", register.queues), ("tasks", register.tasks)):
        if any("\0" in name or len(name) > MAX_NAME for name in names):
            raise InvalidInput(field, "a name is too long or holds a NUL", f"use up to {MAX_NAME} characters")
    return register


def _storable(report: Report) -> Report:
    """Reports of many workers are written together, so none may hold what would fail the write."""
    for position, item in enumerate(report.items):
        if item.result is not None:
            try:
                msgspec.json.decode(item.result)
            except (msgspec.DecodeError, RecursionError):
                raise InvalidInput(
                    f"items[{position}].result", "it is not JSON", "send the result as JSON text"
                ) from None
        if item.error is not None and "\0" in item.error:
            report.items[position] = msgspec.structs.replace(item, error=item.error.replace("\0", "�"))
    return report
