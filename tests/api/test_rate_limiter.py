"""Requests a second, by caller."""

import asyncio
import socket

import aiohttp
import uvicorn
from tests.api.plain_node import PlainNode

from noonmark.api.app import create_app
from noonmark.api.middleware.rate_limiter import RateLimiter
from noonmark.store.connect import Pool
from tests.api.conftest import Caller
from tests.api.database import SHARDS


class Watch:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


async def nothing(scope: object, receive: object, send: object) -> None: ...


def test_a_bucket_refills_and_never_overflows() -> None:
    watch = Watch()
    limiter = RateLimiter(nothing, 10.0, watch)
    assert [limiter.take("a") for _ in range(20)] == [0.0] * 20
    assert limiter.take("a") == 0.1
    assert limiter.take("b") == 0.0
    watch.now_s += 0.25
    assert [limiter.take("a") for _ in range(3)] == [0.0, 0.0, 0.05]
    watch.now_s += 3600
    assert [bool(limiter.take("a")) for _ in range(21)] == [False] * 20 + [True]


async def test_who_asks_too_often_is_told_when_to_come_back(pool: Pool, session: aiohttp.ClientSession) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    node = PlainNode(address, pool, [address] * SHARDS, 0)
    app = create_app(node, None, requests_per_s=0.5)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on", ws="none"))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    call = Caller(session, address)
    assert (await call("GET", "/v1/version")).status == 200
    refused = await call("GET", "/v1/version")
    assert (refused.status, refused.json["code"]) == (429, "too_busy")
    assert refused.headers["Retry-After"] in ("1", "2")
    assert (await call("GET", "/healthz")).status == 200
    worker = {"name": "w", "queues": ["default"], "tasks": [], "concurrency": 1}
    headers = {"Content-Type": "application/json"}
    assert (await call("POST", "/v1/worker/register", worker, headers=headers)).status == 200
    server.should_exit = True
    await serving
