"""The ASGI application that a table of endpoints makes.

    path ──> endpoint ──> role ──> query, headers, path ──> call ──> body ──> handler ──> answer
                                                        any error on the way ──> problem

The first thing that is wrong, in this order, is the answer; nothing is done before all of it is right.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from typing import Any

import msgspec

from noonmark.api.access.roles import check
from noonmark.api.asgi import Receive, Scope, Send, send_answer
from noonmark.api.dispatch.answer import Answer, Stream, encode, unless_known, with_body
from noonmark.api.dispatch.endpoint import Endpoint
from noonmark.api.dispatch.fields import shape_of
from noonmark.api.dispatch.parameters import Arguments, QueryReader, converted, header_reader
from noonmark.api.dispatch.request import Disconnected, Request
from noonmark.api.dispatch.routes import Routes
from noonmark.api.dispatch.signature import REQUIRED, Parameter, read_signature
from noonmark.api.problems import send_problem
from noonmark.errors import InvalidInput, NotFound

Provide = Callable[[Request], Awaitable[Any]]
Providers = Mapping[Any, Provide]
"""By the type that a handler asks for."""


class Route:
    """An endpoint, ready to answer."""

    def __init__(self, endpoint: Endpoint, providers: Providers) -> None:
        signature = read_signature(endpoint)
        by_name = {parameter.name: parameter for parameter in signature.placed("path")}
        headers = signature.placed("header")
        self.endpoint = endpoint
        self._may_be_packed = endpoint.is_packed
        self._path = [by_name[part[1:-1]] for part in endpoint.path.split("/") if part.startswith("{")]
        self._query = QueryReader(
            signature.placed("query"), shape_of(signature.answer) if endpoint.method == "GET" else None
        )
        self._headers = header_reader(headers) if headers else None
        self._provided = [(name, providers[kind]) for name, kind in signature.provided.items()]
        self._takes_body = signature.body is not REQUIRED
        self._needs_body = signature.needs_body
        self._from_json = msgspec.json.Decoder(signature.body if self._takes_body else Any).decode
        self._from_msgpack = msgspec.msgpack.Decoder(signature.body if self._may_be_packed else Any).decode

    async def answer(self, request: Request, values: list[str]) -> Answer | Stream:
        endpoint = self.endpoint
        if endpoint.need.key:
            check(request.caller, endpoint.need)
        arguments: Arguments = {}
        for parameter, value in zip(self._path, values, strict=True):
            arguments[parameter.argument] = value if parameter.is_text else _in_path(parameter, value)
        cut = None
        if request.query:
            given, cut = self._query.read(request.query)
            arguments |= given
        if self._headers is not None:
            self._headers(request.headers, arguments)
        for name, provide in self._provided:
            arguments[name] = await provide(request)
        packed = self._may_be_packed and request.is_packed()
        if self._takes_body:
            await self._read_body(request, arguments, packed=packed)
        work = endpoint.handler(**arguments)
        result = await (request.unless_gone(work) if endpoint.waits else work)
        if isinstance(result, Stream):
            return result
        answer = encode(result, endpoint.status, packed=packed)
        if cut is not None and answer.status == 200:
            answer = with_body(answer, cut(answer.body))
        if endpoint.method == "GET" and (known := request.headers.get(b"if-none-match")) is not None:
            answer = unless_known(answer, known)
        if request.replayed:
            answer.headers.append((b"idempotent-replayed", b"true"))
        return answer

    async def _read_body(self, request: Request, arguments: Arguments, *, packed: bool) -> None:
        body = await request.body()
        if body:
            arguments["data"] = self._from_msgpack(body) if packed else self._from_json(body)
        elif self._needs_body:
            raise InvalidInput("body", "the request has no body", "send a JSON object")


class Router:
    def __init__(self, endpoints: Iterable[Endpoint], providers: Providers) -> None:
        self._routes = Routes((row.method, row.path, Route(row, providers)) for row in endpoints)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            found = self._routes.find(request.path)
            if request.method == "OPTIONS":
                answer: Answer | Stream = Answer(204, [(b"allow", found.place.allowed.encode())], b"")
            else:
                answer = await found.target(request.method).answer(request, found.values)
        except Disconnected:
            return
        except Exception as error:
            await send_problem(send, error)
            return
        if isinstance(answer, Stream):
            await _stream(request, send, answer)
        else:
            await send_answer(send, answer.status, answer.headers, b"" if request.method == "HEAD" else answer.body)


async def _stream(request: Request, send: Send, stream: Stream) -> None:
    async def pump() -> None:
        async with aclosing(stream.chunks) as chunks:
            async for chunk in chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})

    await send({"type": "http.response.start", "status": 200, "headers": stream.head()})
    if request.method != "HEAD":
        try:
            await request.unless_gone(pump())
        except Disconnected:
            return
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _in_path(parameter: Parameter, value: str) -> Any:
    """A text that is no number is not found; a number out of its bounds is refused as such."""
    if parameter.is_number and not (value.isascii() and value.removeprefix("-").isdigit()):
        raise NotFound("there is nothing at this address", fix="see the list of routes")
    return converted(parameter, value)
