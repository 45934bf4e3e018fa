"""A loop that is cancelled in the very moment in which it is woken ends all the same."""

import asyncio

import pytest

from noonmark.node.loop import Loop


class Resting(Loop):
    name = "resting"

    async def tick(self) -> None:
        return None


@pytest.mark.parametrize("rounds", range(6))
async def test_a_cancellation_is_never_lost(rounds: int) -> None:
    """Whichever round of the event loop it comes in after the ring."""
    loop = Resting(60.0)
    running = asyncio.create_task(loop.run())
    await loop.ticked()
    for _ in range(10):
        await asyncio.sleep(0)
    loop.bell.set()
    for _ in range(rounds):
        await asyncio.sleep(0)
    running.cancel()
    done, _ = await asyncio.wait([running], timeout=1.0)
    running.cancel()
    assert done
