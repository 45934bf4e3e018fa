"""One question to the server, and one page of a list, as typed values."""

from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote

import msgspec

from noonmark.client.agent import SDK
from noonmark.client.pages import Page
from noonmark.client.transport import Transport

DEFAULT_SERVER = "http://127.0.0.1:7171"
T = TypeVar("T")


def job_path(ref: str, rest: str = "") -> str:
    return f"/v1/jobs/{quote(ref, safe='')}{rest}"


class BaseClient:
    def __init__(
        self, server: str = DEFAULT_SERVER, token: str | None = None, tenant: str | None = None, *, agent: str = SDK
    ) -> None:
        """Without a tenant: the one that the key belongs to, or `default`."""
        self.tenant = tenant
        self._http = Transport(server, token, tenant, agent=agent)

    async def close(self) -> None:
        await self._http.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _ask(self, answer: type[T], method: str, path: str, **details: Any) -> T:
        return msgspec.json.decode(await self._http.call(method, path, **details), type=answer)

    async def _page(self, item: type[T], noun: str, path: str, **query: Any) -> Page[T]:
        """A list stands under its noun in the answer."""
        parts = await self._ask(dict[str, msgspec.Raw], "GET", path, query=query)
        items = msgspec.json.decode(parts[noun], type=list[item])  # type: ignore[valid-type]
        return Page(items, msgspec.json.decode(parts.get("next_cursor", b"null"), type=str | None))
