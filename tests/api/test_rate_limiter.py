"""Requests a second, by caller."""

import aiohttp

from noonmark.api.middleware.rate_limiter import RateLimiter
from tests.api.conftest import Caller, StartNode


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


async def test_who_asks_too_often_is_told_when_to_come_back(
    start_node: StartNode, session: aiohttp.ClientSession
) -> None:
    call = Caller(session, (await start_node(requests_per_s=0.5)).address)
    assert (await call("GET", "/v1/version")).status == 200
    refused = await call("GET", "/v1/version")
    assert (refused.status, refused.json["code"]) == (429, "too_busy")
    assert refused.headers["Retry-After"] in ("1", "2")
    assert (await call("GET", "/healthz")).status == 200
    worker = {"name": "w", "queues": ["default"], "tasks": [], "concurrency": 1}
    headers = {"Content-Type": "application/json"}
    assert (await call("POST", "/v1/worker/register", worker, headers=headers)).status == 200
