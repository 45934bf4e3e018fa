"""Requests as any client may send them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import aiohttp
import msgspec

from noonmark.app import App
from tests.conftest import Engine


class Answer(NamedTuple):
    status: int
    headers: Any
    json: Any


class Calling:
    """Speaks to the engine's node, whichever that is at the moment."""

    def __init__(self, engine: Engine, session: aiohttp.ClientSession) -> None:
        self.engine = engine
        self._session = session

    async def __call__(self, method: str, path: str, json: Any = None, **headers: str) -> Answer:
        sent = None if json is None else msgspec.json.encode(json)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self._session.request(method, self.engine.address + path, data=sent, headers=named) as answer:
            body = await answer.read()
            return Answer(answer.status, answer.headers, msgspec.json.decode(body) if body else None)

    async def done(self, method: str, path: str, json: Any = None, **headers: str) -> Any:
        """The body of an answer that must be a good one."""
        answer = await self(method, path, json, **headers)
        assert answer.status < 300, answer.json
        return answer.json


@asynccontextmanager
async def calling(engine: Engine) -> AsyncIterator[Calling]:
    async with aiohttp.ClientSession() as session:
        yield Calling(engine, session)


async def restart(engine: Engine, app: App) -> None:
    """The node leaves, and another one carries on, with a worker of its own."""
    await engine.stop_node()
    await engine.start_node()
    await engine.start_worker(app)
