"""Ends the attempts of workers that went silent, and keeps what the owner knows of tenants fresh."""

import asyncio

from noonmark.node.life import Life
from noonmark.store.statement import statement


async def keep_rescuing(life: Life) -> None:
    while True:
        life.owner.rescue(life.clock.now_us())
        life.committer.wake()
        await asyncio.sleep(1.0)


async def keep_tenants(life: Life) -> None:
    while True:
        for tenant_id, _, weight in await life.pool.fetch(statement("load_tenants")):
            life.weights[tenant_id] = weight
        await asyncio.sleep(10.0)
