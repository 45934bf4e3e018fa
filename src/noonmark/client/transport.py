"""HTTP to one server over aiohttp: sends and repeats requests, and turns a problem into its exception."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from noonmark import errors
from noonmark.client.agent import SDK
from noonmark.client.local_key import find_key
from noonmark.client.repeat import Repetition, no_answer
from noonmark.clock import monotonic_s
from noonmark.version import __version__
from noonmark.wire.problems import error_of

if TYPE_CHECKING:
    import aiohttp

Query = Mapping[str, "str | int | bool | list[str] | None"]
CONNECT_S = 5.0


def request_headers(server: str, token: str | None, tenant: str | None, agent: str) -> dict[str, str]:
    """Without a token: the key that `noonmark up` left here for this server. Without a tenant: the key's own."""
    headers = {"User-Agent": f"{agent}/{__version__}", "Content-Type": "application/json", "Accept": "application/json"}
    key = token or find_key(server)
    if key:
        headers["Authorization"] = f"Bearer {key}"
    return headers if tenant is None else headers | {"Noonmark-Tenant": tenant}


def query_pairs(query: Query | None) -> list[tuple[str, str]]:
    """A value of None is left out; a list is sent once for each of its items."""
    pairs: list[tuple[str, str]] = []
    for key, value in (query or {}).items():
        if isinstance(value, list):
            pairs += [(key, item) for item in value]
        elif value is not None:
            pairs.append((key, str(value).lower() if isinstance(value, bool) else str(value)))
    return pairs


class Transport:
    """Connections to one server. They belong to the event loop that is running at the first call."""

    def __init__(
        self, server: str, token: str | None, tenant: str | None, timeout_s: float = 30.0, agent: str = SDK
    ) -> None:
        self.server = server.rstrip("/")
        self._headers = request_headers(server, token, tenant, agent)
        self._timeout_s = timeout_s
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def call(
        self,
        method: str,
        path: str,
        *,
        body: Any = msgspec.UNSET,
        query: Query | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        payload = None if body is msgspec.UNSET else msgspec.json.encode(body)
        params = query_pairs(query)
        repetition = Repetition(method, headers)
        while True:
            try:
                return await self._once(method, path, payload, params, repetition.headers)
            except errors.NoonmarkError as error:
                if repetition.done_before(error):
                    return b""
                await self.sleep(repetition.wait_s(error))

    async def lines(self, path: str, query: Query | None, until_s: float | None) -> AsyncGenerator[bytes]:
        """The lines of an answer that goes on, as they come; TimeoutError at a time of the monotonic clock."""
        import aiohttp

        headers = {"Accept": "text/event-stream"}
        patience = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S)
        try:
            async with self._connected().get(
                f"{self.server}{path}", params=query_pairs(query), headers=headers, timeout=patience
            ) as answer:
                if answer.status >= 400:
                    raise error_of(answer.status, await answer.read(), answer.headers.get("Retry-After"))
                while True:
                    async with asyncio.timeout(None if until_s is None else until_s - monotonic_s()):
                        line = await answer.content.readline()
                    if not line:
                        return
                    yield line
        except TimeoutError:
            if until_s is not None and monotonic_s() >= until_s:
                raise
            raise no_answer(self.server, TimeoutError("timed out"), "GET", connected=True) from None
        except (aiohttp.ClientError, OSError) as error:
            raise no_answer(self.server, error, "GET", connected=True) from error

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def _once(
        self,
        method: str,
        path: str,
        payload: bytes | None,
        params: list[tuple[str, str]],
        headers: Mapping[str, str],
    ) -> bytes:
        import aiohttp

        try:
            async with self._connected().request(
                method, f"{self.server}{path}", data=payload, params=params, headers=headers
            ) as answer:
                content = await answer.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            unreached = isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)
            raise no_answer(self.server, error, method, connected=not unreached) from error
        if answer.status < 400:
            return content
        raise error_of(answer.status, content, answer.headers.get("Retry-After"))

    def _connected(self) -> "aiohttp.ClientSession":
        import aiohttp

        loop = asyncio.get_running_loop()
        if self._session is None or self._session.closed or self._loop is not loop:
            if self._session is not None and not self._session.closed:
                self._session.detach()  # its loop is gone, and its sockets with it
            timeout = aiohttp.ClientTimeout(total=self._timeout_s, sock_connect=CONNECT_S)
            self._session = aiohttp.ClientSession(headers=self._headers, timeout=timeout)
            self._session._retry_connection = False  # `Repetition` alone decides on repeats, and counts them
            self._loop = loop
        return self._session

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()
