"""Start, end and a number of occurrences around a recurrence."""

import pytest

from noonmark.schedule.bounds import Bounded, count_between, nth_after
from noonmark.schedule.forms.every import EveryRecurrence

TENS = EveryRecurrence(10, 0)


@pytest.mark.parametrize(
    ("start_us", "end_us", "max_runs", "expected"),
    [
        (None, None, None, [10, 20, 30, 40, 50]),
        (20, None, None, [20, 30, 40, 50]),
        (21, None, None, [30, 40, 50]),
        (None, 30, None, [10, 20, 30]),
        (None, 29, None, [10, 20]),
        (20, None, 2, [20, 30]),
        (15, 100, 3, [20, 30, 40]),
        (15, 30, 3, [20, 30]),
        (15, None, 1, [20]),
        (40, 39, None, []),
    ],
)
def test_bounds(start_us: int | None, end_us: int | None, max_runs: int | None, expected: list[int]) -> None:
    rec = Bounded(TENS, start_us, end_us, max_runs)
    assert rec.between(0, 50, 99) == expected
    assert rec.last_between(0, 50, 99) == expected
    assert rec.last_between(0, 50, 1) == expected[-1:]
    forwards = [rec.next_after(at_us) for at_us in range(50)]
    assert forwards == [next((e for e in expected if e > at_us), forwards[-1]) for at_us in range(50)]
    backwards = [rec.previous_before(at_us) for at_us in range(11, 51)]
    assert backwards == [max((e for e in expected if e < at_us), default=backwards[0]) for at_us in range(11, 51)]


def test_counting() -> None:
    assert [nth_after(TENS, 5, n) for n in range(4)] == [5, 10, 20, 30]
    assert nth_after(Bounded(TENS, end_us=20), 5, 3) is None
    assert count_between(TENS, 10, 30, 99) == 2
    assert count_between(TENS, 9, 30, 99) == 3
    assert count_between(TENS, 0, 10_000, 7) == 7
    assert count_between(TENS, 10, 19, 7) == 0
