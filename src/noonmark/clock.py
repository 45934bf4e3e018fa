"""The only module that reads a clock.

Decisions use the database's time. A node or worker measures the distance between that time and its own monotonic
clock, and from then on reads the monotonic clock alone: a wall clock that is minutes off, or that jumps, changes
nothing. Instants are whole microseconds since the Unix epoch (`..._us`).
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol

SECOND_US = 1_000_000
NEVER_US = 253_402_300_799_000_000
"""The end of the year 9999: later than any due time; PostgreSQL's `infinity` reads as this."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Clock(Protocol):
    def now_us(self) -> int: ...


class MonotonicClock:
    """Another machine's time, carried on this process's monotonic clock.

    `observe` takes one exchange: the monotonic time before asking, the answer, the monotonic time after. The offset is
    right within half the exchange; of recent exchanges the shortest wins, and a known offset ages by `drift_ppm`, so a
    slow exchange never replaces a better one until that one is old.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic, drift_ppm: float = 100.0) -> None:
        self._monotonic = monotonic
        self._drift_ppm = drift_ppm
        self._offset_us: int | None = None
        self._error_us = 0.0
        self._observed_s = 0.0

    @property
    def known(self) -> bool:
        return self._offset_us is not None

    def elapsed_s(self) -> float:
        return self._monotonic()

    def observe(self, before_s: float, remote_us: int, after_s: float) -> None:
        error_us = (after_s - before_s) * SECOND_US / 2
        aged_us = self._error_us + (after_s - self._observed_s) * self._drift_ppm
        offset_us = remote_us - round((before_s + after_s) / 2 * SECOND_US)
        jumped = self._offset_us is not None and abs(offset_us - self._offset_us) > error_us + aged_us
        if self._offset_us is None or error_us <= aged_us or jumped:
            self._offset_us, self._error_us, self._observed_s = offset_us, error_us, after_s

    def now_us(self) -> int:
        if self._offset_us is None:
            raise RuntimeError("the clock has not been set: observe() the database's time first")
        return round(self._monotonic() * SECOND_US) + self._offset_us


class SettableClock:
    """A clock that stands still until it is told to move; for tests and simulation."""

    def __init__(self, now_us: int) -> None:
        self._now_us = now_us

    def now_us(self) -> int:
        return self._now_us

    def advance(self, seconds: float) -> None:
        self._now_us += round(seconds * SECOND_US)


def monotonic_s() -> float:
    return time.monotonic()


def own_time_us() -> int:
    """This machine's wall clock; for showing things where there is no database to ask, never for a decision."""
    return time.time_ns() // 1000


def stand_still(seconds: float) -> None:
    """Blocks this thread; code on an event loop sleeps there instead."""
    time.sleep(seconds)


def to_datetime(instant_us: int) -> datetime:
    return _EPOCH + timedelta(microseconds=instant_us)


def from_datetime(instant: datetime) -> int:
    if instant.tzinfo is None:
        raise ValueError("an instant needs a time zone")
    delta = instant - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * SECOND_US + delta.microseconds
