"""Ends the attempts of workers that went silent, keeps when they were heard, and what is known of tenants fresh."""

import asyncio

from noonmark.node.life import Life
from noonmark.store.statement import statement
from noonmark.store.workers import see_workers

_HEARD_EVERY_S = 2.0


async def keep_rescuing(life: Life) -> None:
    while True:
        life.owner.rescue(life.clock.now_us())
        life.committer.wake()
        await asyncio.sleep(1.0)


async def keep_hearing(life: Life) -> None:
    """What this node heard of workers, for whoever owns its shards next.

    A node that slept past its lease keeps quiet: what it reads now was said while it slept.
    """
    kept_us = 0
    while True:
        before_us = life.clock.now_us()
        heard = life.owner.fleet.heard_since(kept_us)
        if heard and life.trusted:
            await see_workers(life.pool, heard)
        kept_us = before_us
        await asyncio.sleep(_HEARD_EVERY_S)


async def keep_tenants(life: Life) -> None:
    while True:
        for tenant_id, _, weight in await life.pool.fetch(statement("load_tenants")):
            life.weights[tenant_id] = weight
        await asyncio.sleep(10.0)
