"""A node that may send to this machine, a worker, and receivers on real sockets."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from noonmark.client import Client
from noonmark.model.policy import Retry
from noonmark.node.commands import subscription_commands
from noonmark.wire.notify import SubscriptionSpec, SubscriptionWithSecret, Webhook
from noonmark.wire.resources import JobPatch
from tests.conftest import Engine, eventually, free_port
from tests.node.conftest import Stage
from tests.node.tasks import Seen

QUICK = Retry(max_attempts=3, base_s=0.0, factor=1.0, max_delay_s=0.0)


class Receiver:
    """Keeps what it is sent: (headers, body). Answers `status`, which a test may change."""

    def __init__(self) -> None:
        self.port = free_port()
        self.status = 204
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.arrived = asyncio.Event()
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    async def start(self) -> None:
        app = web.Application()
        app.router.add_post("/{path:.*}", self._take)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _take(self, request: web.Request) -> web.Response:
        self.got.append((dict(request.headers), await request.read()))
        headers = {"Location": f"http://127.0.0.1:{self.port}/elsewhere"} if self.status == 302 else {}
        return web.Response(status=self.status, headers=headers)

    async def notices(self, count: int, within_s: float = 15.0) -> list[dict[str, Any]]:
        """The first `count` of them, once they are there."""
        import json

        await eventually(lambda: len(self.got) >= count, within_s)
        return [json.loads(body) for _, body in self.got]


Subscribe = Callable[..., Awaitable[SubscriptionWithSecret]]


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    await receiver.start()
    yield receiver
    await receiver.stop()


@pytest.fixture
async def stage(engine: Engine) -> AsyncIterator[Stage]:
    await engine.start_node(private_webhooks=True)
    seen = Seen()
    worker = await engine.start_worker(seen.app)
    yield Stage(engine, engine.client(), seen, worker)
    seen.gate.set()
    await seen.app.close()


@pytest.fixture
def subscribe(stage: Stage, receiver: Receiver) -> Subscribe:
    """To the receiver, with deliveries that are tried three times at once."""

    async def subscribe(
        *events: str, client: Client | None = None, name: str = "ops", **spec: Any
    ) -> SubscriptionWithSecret:
        client = client or stage.client
        spec.setdefault("to", Webhook(receiver.url))
        made = await client.subscribe(SubscriptionSpec(name=name, events=list(events), **spec))  # type: ignore[arg-type]
        quick = Retry(max_attempts=3, base_s=0.0, max_delay_s=0.0, no_retry=subscription_commands.RETRY.no_retry)
        await client.update_job(made.subscription.delivery_job, JobPatch(retry=quick))
        return made

    return subscribe
