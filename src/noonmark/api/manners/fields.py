"""How a GET is asked: `?fields=id,name` for a part of each resource, If-None-Match; no parameter that is unknown."""

from collections.abc import Callable
from urllib.parse import parse_qsl

import msgspec
from litestar.enums import ScopeType
from litestar.handlers import HTTPRouteHandler
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, HTTPResponseStartEvent, Message, Receive, Scope, Send

from noonmark.api.openapi.answers import Shape, query_kinds, shape_of
from noonmark.errors import InvalidInput

PARAMETER = "fields"
MAX_FIELDS = 1000
"""Characters of the parameter."""

_Parts = dict[str, msgspec.Raw]
_object = msgspec.json.Decoder(_Parts)
_objects = msgspec.json.Decoder(list[_Parts])


class Asked(ASGIMiddleware):
    """After routing, so that the route's own signature says what may be asked for."""

    scopes = (ScopeType.HTTP,)

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        handler = scope["route_handler"]
        if isinstance(handler, HTTPRouteHandler):
            wanted = _check_query(scope["query_string"], handler) if scope["query_string"] else None
            known_tag = _header(scope, b"if-none-match") if scope["method"] == "GET" else b""  # type: ignore[typeddict-item]
            if wanted or known_tag:
                send = _Rewriter(send, wanted, known_tag)
        await next_app(scope, receive, send)


def _check_query(query: bytes, handler: HTTPRouteHandler) -> Callable[[bytes], bytes] | None:
    """How to cut the answer down, if the query asks for that."""
    known = query_kinds(handler)
    if known is None:
        return None
    seen: set[str] = set()
    shape = shape_of(handler) if "GET" in handler.http_methods else None
    asked: str | None = None
    for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        kind = known.get(name)
        if kind is None and (name != PARAMETER or shape is None):
            may = sorted({*known, PARAMETER} if shape else known)
            fix = f"this address takes {', '.join(may)}" if may else "this address takes no parameters"
            raise InvalidInput(name[:80], "there is no such parameter here", fix)
        if name in seen and (kind is None or not kind.repeats):
            raise InvalidInput(name, "it is given twice", "give it once")
        if kind is not None and not kind.is_text and value.lower() == "null":
            # The framework would read this word as "not given".
            raise InvalidInput(name, f"{value!r} is no value of it", "give another value, or leave it out")
        seen.add(name)
        if kind is None:
            asked = value
    return None if asked is None or shape is None else _cut_to(shape, asked)


def _cut_to(shape: Shape, asked: str) -> Callable[[bytes], bytes]:
    if len(asked) > MAX_FIELDS:
        raise InvalidInput(PARAMETER, "it is too long", f"use at most {MAX_FIELDS} characters")
    names = [name.strip() for name in asked.split(",") if name.strip()]
    if not names:
        raise InvalidInput(PARAMETER, "it names no field", "name some, or leave the parameter out")
    for name in names:
        if name not in shape.fields:
            fix = f"use any of {', '.join(shape.fields)}"
            raise InvalidInput(PARAMETER, f"there is no field {name[:80]!r}", fix)

    def cut(whole: bytes) -> bytes:
        parts = _object.decode(whole)
        if shape.items is None:
            return msgspec.json.encode(_only(parts, names))
        listed = [_only(item, names) for item in _objects.decode(parts[shape.items])]
        return msgspec.json.encode({**parts, shape.items: listed})

    return cut


def _only(parts: _Parts, names: list[str]) -> _Parts:
    return {name: parts[name] for name in names if name in parts}


class _Rewriter:
    """Passes on an answer of 200, cut down; or 304 without a body, if the caller has it already."""

    def __init__(self, send: Send, cut: Callable[[bytes], bytes] | None, known_tag: bytes) -> None:
        self._send = send
        self._cut = cut
        self._known_tag = known_tag
        self._start: HTTPResponseStartEvent | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200 and self._concerns(message):
            self._start = message
        elif message["type"] == "http.response.body" and self._start is not None:
            self._body += message["body"]
            if not message["more_body"]:
                await self._finish(self._start)
        else:
            await self._send(message)

    def _concerns(self, start: HTTPResponseStartEvent) -> bool:
        named = dict(start["headers"])
        return named.get(b"content-type", b"").startswith(b"application/json")

    async def _finish(self, start: HTTPResponseStartEvent) -> None:
        named = dict(start["headers"])
        tag = named.get(b"etag")
        if tag is not None and self._known_tag and _matches(self._known_tag, tag):
            start["status"], start["headers"], self._body = 304, [(b"etag", tag)], b""
        elif self._cut is not None:
            self._body = self._cut(self._body)
            named[b"content-length"] = str(len(self._body)).encode()
            start["headers"] = list(named.items())
        await self._send(start)
        await self._send({"type": "http.response.body", "body": self._body, "more_body": False})


def _matches(known: bytes, tag: bytes) -> bool:
    """RFC 9110: weak comparison, and `*` is anything that is there."""
    listed = [part.strip().removeprefix(b"W/") for part in known.split(b",")]
    return b"*" in listed or tag.removeprefix(b"W/") in listed


def _header(scope: Scope, wanted: bytes) -> bytes:
    return next((value for name, value in scope["headers"] if name == wanted), b"")
