"""An event loop on a clock of its own: where nothing is ready, it does not wait for the next timer but leaps to it."""

import asyncio
import selectors
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, TypeVarTuple, Unpack

from noonmark.clock import SECOND_US, SettableClock

_PAUSE_S = 0.005
_STEPS_TO_END = 100
_STEPS_AT_ONCE = 10_000
_OWN_SOCKETS = 1
"""The one through which other threads wake the loop."""

Ts = TypeVarTuple("Ts")


class LeapingSelector(selectors.DefaultSelector):
    """Waits for real only while something outside of the loop may answer: a socket, or a thread."""

    def __init__(self, clock: SettableClock) -> None:
        super().__init__()
        self._clock = clock
        self.threads = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        outside = self.threads or len(self.get_map()) > _OWN_SOCKETS
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        if outside:
            return super().select(_PAUSE_S)
        ready = super().select(0)
        if not ready:
            self._clock.advance(max(timeout, 1 / SECOND_US))  # less than the clock can show would be no time at all
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self, clock: SettableClock) -> None:
        self._clock = clock
        self._start_us = clock.now_us()
        self._leaping = LeapingSelector(clock)
        super().__init__(self._leaping)
        # What a timer may be early by. Finer than a float can show after half a year, it would never be due at all.
        self._clock_resolution = 1 / SECOND_US

    def time(self) -> float:
        return (self._clock.now_us() - self._start_us) / SECOND_US

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[Ts]], Any], *args: *Ts
    ) -> asyncio.Future[Any]:
        self._leaping.threads += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._thread_ended)
        return future

    def run_until(self, at_us: int) -> None:
        """Runs until this time, or until `stop()` is called before it."""
        timer = self.call_at((at_us - self._start_us) / SECOND_US, self.stop)
        try:
            self.run_forever()
        finally:
            timer.cancel()

    def run_ready(self) -> None:
        """Runs what can run now, without moving the clock."""
        for _ in range(_STEPS_AT_ONCE):
            self.call_soon(self.stop)
            self.run_forever()
            if not self._ready:  # type: ignore[attr-defined]
                return

    def end(self) -> None:
        """Cancels what is still under way, and closes."""
        for _ in range(_STEPS_TO_END):
            left = asyncio.all_tasks(self)
            if not left:
                break
            for task in left:
                task.cancel()
            self.run_ready()
        self.run_until_complete(self.shutdown_asyncgens())
        self.close()

    def _thread_ended(self, _: asyncio.Future[Any]) -> None:
        self._leaping.threads -= 1
