"""Slow housekeeping: partitions of history ahead of time; rows of workers, nodes and requests that are long gone."""

import asyncio

from noonmark.node.life import Life
from noonmark.store.dedup import forget_dedup_keys
from noonmark.store.idempotency import forget_old_requests
from noonmark.store.migrate import make_partitions
from noonmark.store.statement import statement

_EVERY_S = 10.0
_ROUNDS_A_DAY = 6 * 60
_ROUNDS_A_MINUTE = 6


async def keep_history(life: Life) -> None:
    round_ = 0
    while True:
        if round_ % _ROUNDS_A_MINUTE == 0:
            await forget_old_requests(life.pool)
            while life.terms and await forget_dedup_keys(life.pool, list(life.terms), life.clock.now_us()):
                pass
        if round_ % _ROUNDS_A_DAY == 0:
            async with life.pool.acquire() as connection:
                await make_partitions(connection, life.clock)  # type: ignore[arg-type]
                await connection.execute(statement("forget_old_workers"))
                await connection.execute(statement("forget_old_nodes"))
        round_ += 1
        await asyncio.sleep(_EVERY_S)
