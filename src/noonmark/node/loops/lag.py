"""Measures how late the event loop runs a due callback: a node under too much load shows it here first."""

from collections.abc import Callable

from noonmark.clock import monotonic_s
from noonmark.node.loop import Loop

_EVERY_S = 0.25


class LagLoop(Loop):
    name = "lag"

    def __init__(self, observe: Callable[[float], None]) -> None:
        super().__init__(_EVERY_S)
        self._observe = observe
        self._last_s: float | None = None

    async def tick(self) -> None:
        now_s = monotonic_s()
        if self._last_s is not None:
            self._observe(max(0.0, now_s - self._last_s - _EVERY_S))
        self._last_s = now_s
