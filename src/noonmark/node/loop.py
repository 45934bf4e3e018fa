"""The one shape of a node's loops: a name, an interval, and a tick.

A loop lives as long as its life: `start` once, then tick after tick, then `stop`.

Invariants
- A tick begins every `every_s`, counted from begin to begin; one that takes longer is followed by the next at once.
- A bell that rings wakes the loop early. It is cleared before the tick: a ring from then on is about something that the
  tick may not have seen, and another tick follows. A tick that left work over rings its own bell.
- Two ticks of one loop never run at the same time.

Failures
- An error in a tick, or in `start`, ends the life of the node: nothing is repaired in place.
- A loop that is not `vital` (notices) is the exception: its failure is logged and it goes on after a pause, because the
  jobs themselves must go on.

Tests call `tick` by hand on a loop that is not running, or `ticked` on one that is.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import ClassVar

import structlog

from noonmark.clock import monotonic_s

_FALTERING_PAUSE_S = 1.0

log = structlog.get_logger("noonmark.loop")


class Loop:
    name: ClassVar[str]
    vital: ClassVar[bool] = True

    def __init__(self, every_s: float, bell: asyncio.Event | None = None) -> None:
        self.every_s = every_s
        self.bell = bell or asyncio.Event()
        self.on_tick: Callable[[str, float, float], None] = lambda name, took_s, late_s: None
        """Called after each tick with the loop's name, the tick's length and its lateness."""
        self._waiting: list[asyncio.Future[None]] = []
        self._over = False

    async def tick(self) -> None:
        """One round of the loop's duty."""
        raise NotImplementedError

    async def start(self) -> None:
        """Called before the first tick."""

    async def stop(self) -> None:
        """Called after the last tick, also when it failed."""

    async def ticked(self) -> None:
        """Asks for a tick at once, and waits until one that began after this call is done; fails if none comes."""
        if self._over:
            raise RuntimeError(f"the loop {self.name} is over")
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        self.bell.set()
        await future

    async def run(self) -> None:
        """Runs until cancelled, or until a tick fails."""
        try:
            await self.start()
            due_s = monotonic_s()
            while True:
                began_s = monotonic_s()
                await self._one(max(0.0, began_s - due_s))
                due_s = began_s + self.every_s
                with suppress(TimeoutError):
                    # Not wait_for: in Python 3.11 it loses a cancellation that comes together with the ring.
                    async with asyncio.timeout(max(0.0, due_s - monotonic_s())):
                        await self.bell.wait()
        finally:
            self._over = True
            for future in self._waiting:
                if not future.done():
                    future.set_exception(RuntimeError(f"the loop {self.name} is over"))
            await self.stop()

    async def _one(self, late_s: float) -> None:
        self.bell.clear()
        count = len(self._waiting)
        began_s = monotonic_s()
        try:
            await self.tick()
        except Exception as error:
            if self.vital:
                raise
            log.warning("a loop falters", loop=self.name, error=f"{type(error).__name__}: {error}")
            await asyncio.sleep(_FALTERING_PAUSE_S)
            return
        self.on_tick(self.name, monotonic_s() - began_s, late_s)
        for future in self._waiting[:count]:
            if not future.done():
                future.set_result(None)
        del self._waiting[:count]
