"""/healthz and /readyz, for whoever watches the process, without a key; /metrics, which name tenants, with one."""

import asyncio

import asyncpg

from noonmark.api.bodies import Health, Readiness
from noonmark.api.dispatch.answer import Response
from noonmark.errors import NoonmarkError
from noonmark.node.node import Node
from noonmark.store.connect import ping

_PING_S = 2.0
_METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


async def healthz() -> Health:
    """The process is alive and its loop turns; nothing else is asked, so that a lost database restarts nobody."""
    return Health("alive")


async def readyz(node: Node) -> Response[Readiness]:
    reasons = []
    if not node.ready:
        reasons.append("the node does not yet own the shards that it should, or it is stopping")
    try:
        async with asyncio.timeout(_PING_S):
            await ping(node.pool)
    except (NoonmarkError, OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        reasons.append(f"the database does not answer ({type(error).__name__})")
    return Response(Readiness(not reasons, reasons), status_code=503 if reasons else 200)


async def metrics(node: Node) -> Response[bytes]:
    return Response(node.metrics_text(), media_type=_METRICS_TYPE)
