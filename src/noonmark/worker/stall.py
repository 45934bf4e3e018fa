"""Ends an async function that blocks the event loop, before the nodes take the whole worker for dead.

An alarm is pushed back at every tick of the loop. When the loop has not turned for `limit_s`, the alarm's handler,
which Python runs in the middle of the blocking call, raises `LoopBlocked` there: one run fails, with advice. The first
alarm only looks, so that a worker that was itself stopped for a while (SIGSTOP) does not blame the run that it wakes
up in. Signals reach the main thread alone; elsewhere this guard stays off.
"""

import asyncio
import signal
import threading
from types import FrameType

import structlog

_log = structlog.get_logger("noonmark.worker")
_SECOND_LOOK_S = 0.5


class LoopBlocked(BaseException):
    """Not an Exception, so that `except Exception` in a loop that never ends does not swallow it."""


class StallGuard:
    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._armed = False
        self._suspected = False

    def start(self) -> None:
        if self._limit_s <= 0 or threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(signal.SIGALRM) not in (signal.SIG_DFL, signal.SIG_IGN):
            _log.warning("stall_guard_off", reason="SIGALRM is in use")
            return
        signal.signal(signal.SIGALRM, self._alarm)
        self._armed = True
        self.tick()

    def tick(self) -> None:
        """The loop turns."""
        self._suspected = False
        if self._armed:
            signal.setitimer(signal.ITIMER_REAL, self._limit_s)

    def stop(self) -> None:
        if self._armed:
            self._armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)

    def _alarm(self, number: int, frame: FrameType | None) -> None:
        if not self._armed:
            return
        signal.setitimer(signal.ITIMER_REAL, _SECOND_LOOK_S)
        if not self._suspected:
            self._suspected = True
            return
        try:
            blocked = asyncio.current_task() is not None
        except RuntimeError:
            return
        if blocked:
            self._suspected = False
            signal.setitimer(signal.ITIMER_REAL, self._limit_s)
            raise LoopBlocked(
                f"this async function held up the worker's event loop for more than {self._limit_s:g} s: "
                "await, or make it a plain function (mode='thread' or 'process')"
            )
