"""The shape of every loop of a node."""

import asyncio

import pytest

from noonmark.node import loop as shape
from noonmark.node.loop import Loop


class Counting(Loop):
    name = "counting"

    def __init__(self, every_s: float = 3600.0, fail_at: int = 0) -> None:
        super().__init__(every_s)
        self.ticks = 0
        self.fail_at = fail_at
        self.life: list[str] = []
        self.seen: list[tuple[str, float, float]] = []
        self.on_tick = lambda name, took_s, late_s: self.seen.append((name, took_s, late_s))
        self.gate = asyncio.Event()
        self.gate.set()
        self.awaited = 0
        self.there = asyncio.Event()

    async def start(self) -> None:
        self.life.append("start")

    async def tick(self) -> None:
        await self.gate.wait()
        self.ticks += 1
        if self.ticks == self.awaited:
            self.there.set()
        if self.ticks == self.fail_at:
            raise OSError("no luck")

    async def stop(self) -> None:
        self.life.append("stop")

    async def reached(self, ticks: int) -> None:
        self.awaited = ticks
        await asyncio.wait_for(self.there.wait(), 5)


class Faltering(Counting):
    name = "faltering"
    vital = False


async def test_it_starts_ticks_and_stops():
    loop = Counting()
    running = asyncio.create_task(loop.run())
    await loop.ticked()
    await loop.ticked()
    assert loop.ticks >= 2
    running.cancel()
    await asyncio.wait((running,))
    assert loop.life == ["start", "stop"]
    assert {name for name, _, _ in loop.seen} == {"counting"}


async def test_a_tick_is_awaited_that_began_after_the_question():
    """A tick under way may not have seen what the test has just done."""
    loop = Counting()
    loop.gate.clear()
    running = asyncio.create_task(loop.run())
    await asyncio.sleep(0)  # the first tick waits at the gate
    waiting = asyncio.create_task(loop.ticked())
    await asyncio.sleep(0)
    loop.gate.set()
    await waiting
    assert loop.ticks == 2
    running.cancel()


async def test_a_ring_during_a_tick_is_followed_by_another_tick():
    loop = Counting()
    loop.gate.clear()
    running = asyncio.create_task(loop.run())
    await asyncio.sleep(0)
    loop.bell.set()
    loop.gate.set()
    await loop.reached(2)
    running.cancel()


async def test_ticks_come_by_themselves():
    loop = Counting(every_s=0.001)
    running = asyncio.create_task(loop.run())
    await loop.reached(3)
    assert all(took_s >= 0 and late_s >= 0 for _, took_s, late_s in loop.seen)
    running.cancel()


async def test_a_failure_ends_the_loop_and_whoever_waits_for_it():
    loop = Counting(fail_at=2)
    running = asyncio.create_task(loop.run())
    await asyncio.sleep(0)
    waiting = asyncio.create_task(loop.ticked())
    with pytest.raises(OSError, match="no luck"):
        await running
    with pytest.raises(RuntimeError, match="counting is over"):
        await waiting
    with pytest.raises(RuntimeError, match="counting is over"):
        await loop.ticked()
    assert loop.life == ["start", "stop"]


async def test_a_loop_that_is_not_vital_goes_on(monkeypatch):
    monkeypatch.setattr(shape, "_FALTERING_PAUSE_S", 0.0)
    loop = Faltering(every_s=0.0, fail_at=1)
    running = asyncio.create_task(loop.run())
    await loop.ticked()
    assert loop.ticks > 1
    running.cancel()
