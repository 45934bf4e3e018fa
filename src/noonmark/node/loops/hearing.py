"""Keeps when this node last heard each worker, for the next owner of its shards.

A node that slept past its lease writes nothing: the words that it reads now were said while it slept.
"""

from noonmark.node.life import Life
from noonmark.node.loop import Loop
from noonmark.store.workers import see_workers


class HearingLoop(Loop):
    name = "hearing"

    def __init__(self, life: Life) -> None:
        super().__init__(2.0)
        self._life = life
        self._kept_us = 0

    async def tick(self) -> None:
        life = self._life
        before_us = life.clock.now_us()
        heard = life.owner.fleet.heard_since(self._kept_us)
        if heard and life.trusted:
            await see_workers(life.pool, heard)
        self._kept_us = before_us
