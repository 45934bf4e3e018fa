"""Recurrences by their interned text, kept for as long as the time zone database stays the same."""

from functools import lru_cache

from noonmark.schedule import Recurrence, recurrence
from noonmark.schedule.zones import tz_version


def recurrence_of(text: str) -> Recurrence:
    return _read(text, tz_version())


@lru_cache(maxsize=4096)
def _read(text: str, _tz_version: str) -> Recurrence:
    return recurrence(text)
