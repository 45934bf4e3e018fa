"""Declares nodes dead whose lease has expired.

Apart from the loop that holds the lease, because it may have to wait for a frozen node's last transaction.
"""

import asyncpg
import structlog

from noonmark.node.life import Life
from noonmark.node.loop import Loop
from noonmark.store.ownership import end_frozen_sessions, expire_nodes

log = structlog.get_logger("noonmark.ownership")


class ReaperLoop(Loop):
    name = "reaper"

    def __init__(self, life: Life) -> None:
        super().__init__(life.config.renew_s)
        self._life = life

    async def tick(self) -> None:
        async with self._life.pool.acquire() as connection:
            try:
                dead = await expire_nodes(connection)  # type: ignore[arg-type]
            except asyncpg.LockNotAvailableError:
                await end_frozen_sessions(connection)  # type: ignore[arg-type]
                self.bell.set()  # and now without its locks
                return
        if dead:
            log.warning("declared dead", nodes=dead, by=self._life.node_id)
