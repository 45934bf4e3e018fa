"""Which grants a worker denies, and what it does with one that comes after it was denied."""

from noonmark.clock import MonotonicClock
from noonmark.worker.counters import Counters
from noonmark.worker.report import Reports


class Somewhere:
    address = "http://127.0.0.1:1"


def reports():
    return Reports(MonotonicClock(), Counters())


async def test_only_what_was_never_held_is_denied():
    held = reports()
    assert held.hold(1, Somewhere(), 1)
    assert held.deny([1, 2]) == [2]


async def test_a_grant_that_was_lost_had_been_held():
    held = reports()
    held.hold(1, Somewhere(), 1)
    assert held.lose([1, 3]) == [1]
    assert held.deny([1, 3]) == [3]


async def test_a_grant_that_comes_after_it_was_denied_is_not_taken():
    held = reports()
    assert held.deny([5]) == [5]
    assert not held.hold(5, Somewhere(), 1)
    assert held.held() == []
