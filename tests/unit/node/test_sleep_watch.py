"""A process that did not run for a while refuses what may have lain in its sockets."""

import pytest

from noonmark.errors import Unavailable
from noonmark.node import sleep_watch
from noonmark.node.sleep_watch import SleepWatch


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds, to be moved by the test."""
    at = [100.0]
    monkeypatch.setattr(sleep_watch, "monotonic_s", lambda: at[0])
    return at


def test_while_it_beats_nothing_is_refused(now: list[float]) -> None:
    watch = SleepWatch(3.0)
    for _ in range(5):
        now[0] += 2.9
        watch.check()
        watch.beat(now[0])


def test_after_a_sleep_changes_are_refused_for_a_while(now: list[float]) -> None:
    watch = SleepWatch(3.0)
    now[0] += 3.1
    watch.beat(now[0])
    for later_s in (0.0, 1.9):
        now[0] += later_s
        watch.beat(now[0])
        with pytest.raises(Unavailable, match="nothing was done"):
            watch.check()
    now[0] += 0.2
    watch.check()


def test_before_the_first_beat_after_a_sleep(now: list[float]) -> None:
    """What lay in the sockets may be read before the timer runs."""
    watch = SleepWatch(3.0)
    now[0] += 45.0
    with pytest.raises(Unavailable):
        watch.check()


def test_a_suspended_machine_is_told_by_its_fence(now: list[float]) -> None:
    """Its clock stood still with it."""
    watch = SleepWatch(3.0)
    watch.woke(now[0])
    with pytest.raises(Unavailable):
        watch.check()
