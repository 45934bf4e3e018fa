"""Idempotency-Key: a POST that is sent again is not carried out again, and gets the first answer.

    no key, no POST, worker protocol, forwarded ──> straight on
    key ──> claimed          ──> carried out ──> below 500: the answer is kept for a day, then sent
        │                                    └─> 5xx, 401, 403, 429, or it broke off: the key is free again
        ├─> the same request, done           ──> its answer, with `Idempotent-Replayed: true`
        ├─> the same request, under way      ──> 409 idempotency_in_progress
        └─> another request                  ──> 422 idempotency_mismatch

Invariants: one node at a time carries out the request of a key, and an answer is kept before it is sent. A node that
dies or loses its database in between leaves a claim that lapses; whoever asks again has the request carried out. That
is the one case in which it can happen twice: a request that must not, names what it makes (a job's name, a run's
deduplication key).

A request is the same if caller, tenant, path, query and body are. What must not be stored (`Cache-Control: no-store`,
as with the secret of a new key) or is too large is not kept: asking again then tells that it was done, nothing more.
"""

import asyncio
import hashlib
import re
import uuid
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import structlog

from noonmark.api.asgi import ASGIApp, Message, Receive, Scope, Send
from noonmark.api.dispatch.endpoint import WORKERS
from noonmark.api.dispatch.request import MAX_BODY_BYTES
from noonmark.api.forward import FORWARDED_HEADER
from noonmark.api.ports import NodePort
from noonmark.api.problems import send_problem
from noonmark.errors import AnswerNotKept, InvalidInput, KeyReused, NotFound, StillRunning, TooLarge
from noonmark.node.commands.asking import asked_by
from noonmark.store.idempotency import (
    HELD_S,
    Earlier,
    RequestClaim,
    claim_request,
    hold_request,
    keep_answer,
    release_request,
)

_log = structlog.get_logger("noonmark.api")

KEY_HEADER = "Idempotency-Key"
REPLAYED_HEADER = "Idempotent-Replayed"
MAX_KEY = 255
MAX_KEPT_BYTES = 256 * 1024
"""Of an answer, compressed."""
NOT_KEPT = frozenset({401, 403, 429})
_KEPT_HEADERS = frozenset({b"content-type", b"location", b"etag", b"retry-after"})
_KEY = re.compile(rf"[!-~]{{1,{MAX_KEY}}}")
_FORWARDED = FORWARDED_HEADER.lower().encode()
_DEFAULT_TENANT = "default"


class _Gone(Exception):
    """The caller hung up before the body was complete."""


class _Answer(msgspec.Struct):
    status: int = 500
    headers: list[tuple[bytes, bytes]] = []
    body: bytes = b""


class Idempotency:
    """An ASGI layer around the routes, inside of whoever finds out who is asking."""

    def __init__(self, app: ASGIApp, node: NodePort) -> None:
        self._app = app
        self._node = node

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        key = _key_of(scope)
        if key is None:
            await self._app(scope, receive, send)
            return
        try:
            answer = await self._once(scope, receive, key)
        except _Gone:
            return
        except Exception as error:
            await send_problem(send, error)
            return
        await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
        await send({"type": "http.response.body", "body": answer.body, "more_body": False})

    async def _once(self, scope: Scope, receive: Receive, key: bytes) -> _Answer:
        text = key.decode("latin-1")
        if _KEY.fullmatch(text) is None:
            fix = f"send 1 to {MAX_KEY} printable ASCII characters without spaces, such as a UUID"
            raise InvalidInput(KEY_HEADER, f"{text[:40]!r} is no key", fix)
        body = await _read(receive)
        tenant_id = await self._tenant_id(scope)
        claim = RequestClaim(tenant_id, text, uuid.uuid4())
        fingerprint = _fingerprint(scope, tenant_id, body)
        earlier = await claim_request(self._node.pool, claim, fingerprint)
        if earlier is not None:
            return _replay(earlier, fingerprint)
        async with self._held(claim):
            return await self._carry_out(scope, body, claim)

    async def _carry_out(self, scope: Scope, body: bytes, claim: RequestClaim) -> _Answer:
        answer = _Answer()
        try:
            answer = await _collect(self._app, scope, body)
            return answer
        finally:
            # Shielded: a caller who hangs up must not leave a claim behind that nobody serves.
            await asyncio.shield(self._settle(claim, answer))

    async def _settle(self, claim: RequestClaim, answer: _Answer) -> None:
        """What was done is answered, even if that cannot be written down; then the claim lapses by itself."""
        try:
            if answer.status < 500 and answer.status not in NOT_KEPT:
                await self._keep(claim, answer)
            else:
                await release_request(self._node.pool, claim)
        except Exception as error:
            _log.warning("the answer to a request could not be kept", key=claim.key, error=repr(error))

    async def _keep(self, claim: RequestClaim, answer: _Answer) -> None:
        packed = None
        if not any(name == b"cache-control" and b"no-store" in value for name, value in answer.headers):
            packed = await asyncio.to_thread(zlib.compress, answer.body, 1)
        if packed is not None and len(packed) > MAX_KEPT_BYTES:
            packed = None
        headers = {name.decode(): value.decode() for name, value in answer.headers if name in _KEPT_HEADERS}
        await keep_answer(self._node.pool, claim, answer.status, msgspec.json.encode(headers).decode(), packed)

    @asynccontextmanager
    async def _held(self, claim: RequestClaim) -> AsyncIterator[None]:
        holding = asyncio.create_task(self._hold(claim))
        try:
            yield
        finally:
            holding.cancel()

    async def _hold(self, claim: RequestClaim) -> None:
        while True:
            await asyncio.sleep(HELD_S / 3)
            try:
                await hold_request(self._node.pool, claim)
            except Exception as error:
                _log.warning("a claim on a request could not be renewed", error=repr(error))

    async def _tenant_id(self, scope: Scope) -> int:
        """Who may not name this tenant, or names none that exists, is told so by the routes: 0 is no tenant."""
        own = asked_by().tenant_id
        if own is not None:
            return own
        try:
            return await self._node.tenant_id(_header(scope, b"noonmark-tenant").decode("latin-1") or _DEFAULT_TENANT)
        except NotFound:
            return 0


def _key_of(scope: Scope) -> bytes | None:
    if scope["method"] != "POST" or scope["path"].startswith(WORKERS):
        return None
    found = None
    for name, value in scope["headers"]:
        if name == b"idempotency-key":
            found = value
        elif name == _FORWARDED:
            return None
    return found


def _header(scope: Scope, wanted: bytes) -> bytes:
    return next((value for name, value in scope["headers"] if name == wanted), b"")


def _fingerprint(scope: Scope, tenant_id: int, body: bytes) -> bytes:
    caller = asked_by()
    parts = (
        scope["method"],
        scope["path"],
        scope["query_string"].decode("latin-1"),
        tenant_id,
        caller.key_id,
        caller.name,
    )
    return hashlib.sha256(msgspec.json.encode(parts) + b"\n" + body).digest()


def _replay(earlier: Earlier, fingerprint: bytes) -> _Answer:
    if earlier.fingerprint != fingerprint:
        fix = "use a new key for a new request; one key belongs to one path and body"
        raise KeyReused(KEY_HEADER, "this key came with another request within the last day", fix)
    if earlier.status is None:
        raise StillRunning("the first request with this key is under way", field=KEY_HEADER, fix="ask again soon")
    if earlier.body is None:
        raise AnswerNotKept(
            f"the first request with this key was carried out and answered {earlier.status}; its answer was not kept",
            field=KEY_HEADER,
            fix="read what it made with a GET",
        )
    body = zlib.decompress(earlier.body)
    headers = {**msgspec.json.decode(earlier.headers or "{}", type=dict[str, str]), REPLAYED_HEADER.lower(): "true"}
    if earlier.status != 204:
        headers["content-length"] = str(len(body))
    return _Answer(earlier.status, [(name.encode(), value.encode()) for name, value in headers.items()], body)


async def _read(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise _Gone
        body += message["body"]
        if len(body) > MAX_BODY_BYTES:
            raise TooLarge("body", "the body is above the bound", "send fewer or smaller items")
        if not message["more_body"]:
            return bytes(body)


async def _collect(app: ASGIApp, scope: Scope, body: bytes) -> _Answer:
    """The app's whole answer. It is not told of a caller who hangs up: what was begun is carried out, and kept."""
    answer = _Answer()
    asked = False

    async def receive() -> Message:
        nonlocal asked
        if asked:
            await asyncio.Event().wait()
        asked = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            answer.status, answer.headers = message["status"], list(message["headers"])
        elif message["type"] == "http.response.body":
            answer.body += message["body"]

    await app(scope, receive, send)
    return answer
