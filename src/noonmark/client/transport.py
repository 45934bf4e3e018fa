"""One HTTP call: send, retry what is safe to retry, turn a problem into its exception.

What is safe: a GET, PUT or DELETE may be repeated after any failure. A POST or PATCH may be repeated only when the
answer proves that nothing was done: `not_owner`, or 429. A connection that broke proves nothing.
"""

import asyncio
import random
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from noonmark import errors
from noonmark.wire.resources import Problem

if TYPE_CHECKING:
    import aiohttp

RETRIES = 4
BACKOFF_S = 0.1
MAX_WAIT_S = 5.0
_REPEATABLE = frozenset({"GET", "PUT", "DELETE"})
_problem = msgspec.json.Decoder(Problem)


def _tree(kind: type[errors.NoonmarkError]) -> Iterator[type[errors.NoonmarkError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _tree(child)


def error_of(status: int, body: bytes, retry_after_s: float) -> errors.NoonmarkError:
    """The exception that a refusal stands for, by its stable code."""
    try:
        problem = _problem.decode(body)
    except msgspec.MsgspecError:
        text = body[:200].decode(errors="replace")
        kind = errors.Unavailable if status in (502, 503, 504) else errors.NoonmarkError
        return kind(f"the server answered {status}: {text}")
    found = next((kind for kind in _tree(errors.NoonmarkError) if kind.code == problem.code), errors.NoonmarkError)
    if issubclass(found, errors.InvalidInput):
        return found(problem.field or "request", problem.detail, problem.fix or "see the API's documentation")
    if issubclass(found, errors.TooBusy):
        return found(problem.detail, retry_after_s=retry_after_s)
    error = found(problem.detail, field=problem.field, fix=problem.fix)
    if isinstance(error, errors.Unavailable):
        error.retry_after_s = retry_after_s
    return error


def _may_repeat(method: str, error: errors.NoonmarkError) -> bool:
    if isinstance(error, (errors.TooBusy, errors.NotOwner)):
        return True
    return isinstance(error, errors.Unavailable) and method in _REPEATABLE


class Transport:
    """Connections to one server. They belong to the event loop that is running at the first call."""

    def __init__(self, server: str, token: str | None, tenant: str, timeout_s: float = 30.0) -> None:
        self.server = server.rstrip("/")
        self._headers = {"Noonmark-Tenant": tenant, "Content-Type": "application/json", "Accept": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._timeout_s = timeout_s
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def call(
        self,
        method: str,
        path: str,
        *,
        body: Any = msgspec.UNSET,
        query: Mapping[str, str | int | None] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        payload = None if body is msgspec.UNSET else msgspec.json.encode(body)
        params = {key: str(value) for key, value in (query or {}).items() if value is not None}
        retries = 0
        while True:
            try:
                return await self._once(method, path, payload, params, headers)
            except errors.NoonmarkError as error:
                if retries == RETRIES or not _may_repeat(method, error):
                    raise
                wait_s = BACKOFF_S * 2**retries * random.uniform(0.5, 1.0)
                if isinstance(error, errors.TooBusy):
                    wait_s = max(wait_s, min(error.retry_after_s, MAX_WAIT_S))
            retries += 1
            await asyncio.sleep(wait_s)

    async def _once(
        self,
        method: str,
        path: str,
        payload: bytes | None,
        params: Mapping[str, str],
        headers: Mapping[str, str] | None,
    ) -> bytes:
        import aiohttp

        try:
            async with self._connected().request(
                method, f"{self.server}{path}", data=payload, params=params, headers=headers
            ) as answer:
                content = await answer.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            why = str(error) or type(error).__name__
            raise errors.Unavailable(
                f"no answer from {self.server}: {why}", fix="is the node running, and is the address right?"
            ) from error
        if answer.status < 400:
            return content
        raise error_of(answer.status, content, _seconds(answer.headers.get("Retry-After")))

    def _connected(self) -> "aiohttp.ClientSession":
        import aiohttp

        loop = asyncio.get_running_loop()
        if self._session is None or self._session.closed or self._loop is not loop:
            if self._session is not None and not self._session.closed:
                self._session.detach()  # its loop is gone, and its sockets with it
            timeout = aiohttp.ClientTimeout(total=self._timeout_s, sock_connect=5.0)
            self._session = aiohttp.ClientSession(headers=self._headers, timeout=timeout)
            self._loop = loop
        return self._session

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()


def _seconds(header: str | None) -> float:
    try:
        return max(0.0, float(header)) if header is not None else 1.0
    except ValueError:
        return 1.0
