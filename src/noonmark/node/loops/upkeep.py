"""Slow housekeeping: partitions of history ahead of time; rows of workers, nodes and requests that are long gone."""

from noonmark.node.life import Life
from noonmark.node.loop import Loop
from noonmark.store.dedup import forget_dedup_keys
from noonmark.store.migrate import make_partitions
from noonmark.store.ownership import forget_old_nodes
from noonmark.store.requests import forget_requests
from noonmark.store.workers import forget_old_workers

_EVERY_S = 10.0
_TICKS_A_DAY = 6 * 60
_TICKS_A_MINUTE = 6


class UpkeepLoop(Loop):
    name = "upkeep"

    def __init__(self, life: Life) -> None:
        super().__init__(_EVERY_S)
        self._life = life
        self._ticks = 0

    async def tick(self) -> None:
        number, self._ticks = self._ticks, self._ticks + 1
        life = self._life
        if number % _TICKS_A_MINUTE == 0:
            while await forget_requests(life.pool, list(life.terms), life.clock.now_us()):
                pass
            while life.terms and await forget_dedup_keys(life.pool, list(life.terms), life.clock.now_us()):
                pass
        if number % _TICKS_A_DAY == 0:
            async with life.pool.acquire() as connection:
                await make_partitions(connection, life.clock)  # type: ignore[arg-type]
            await forget_old_workers(life.pool)
            await forget_old_nodes(life.pool)
