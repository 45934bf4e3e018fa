"""Ends the attempts of workers that went silent."""

from noonmark.node.life import Life
from noonmark.node.loop import Loop


class RescuerLoop(Loop):
    name = "rescuer"

    def __init__(self, life: Life) -> None:
        super().__init__(1.0)
        self._life = life

    async def tick(self) -> None:
        self._life.owner.rescue(self._life.clock.now_us())
        self._life.committer.wake()
