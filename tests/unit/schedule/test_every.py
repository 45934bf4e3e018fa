"""Fixed rates and periods."""

import pytest

from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.every import EveryRecurrence
from noonmark.schedule.period import period_s, period_text


def test_occurrences_are_phase_plus_multiples() -> None:
    every = EveryRecurrence(period_us=300, phase_us=37)
    assert every.between(37, 937, 9) == [337, 637, 937]
    assert every.between(37, 936, 9) == [337, 637]
    assert every.last_between(37, 10_000_000, 2) == [9_999_637, 9_999_937]
    assert every.next_after(37) == 337
    assert every.previous_before(37) == -263
    assert every.previous_before(38) == 37


def test_empty_windows() -> None:
    every = EveryRecurrence(period_us=300, phase_us=0)
    assert every.between(0, 299, 5) == every.last_between(0, 299, 5) == []
    assert every.between(0, 900, 0) == every.last_between(0, 900, 0) == []
    assert every.between(900, 0, 5) == every.last_between(900, 0, 5) == []


@pytest.mark.parametrize(
    ("every", "seconds"),
    [
        ("5m", 300),
        ("1h30m", 5400),
        ("90s", 90),
        (" 1H 30M ", 5400),
        ("2d", 172_800),
        ("1w", 604_800),
        (90, 90),
        (60.0, 60),
    ],
)
def test_period(every: str | int | float, seconds: int) -> None:
    assert period_s(every) == seconds
    assert period_s(period_text(seconds)) == seconds


@pytest.mark.parametrize(
    "every",
    [
        *("", " ", "m", "5", "5x", "30m1h", "250ms", "1.5s", "-5m", "0s", "٣s", "9" * 39 + "s", "9" * 5000 + "s"),
        *(0, -1, 0.5, 1.5, float("nan"), float("inf"), 10**12, 10**5000, True),
    ],
    ids=lambda every: str(every)[:9] if not isinstance(every, int) else "int",
)
def test_not_a_period(every: str | int | float) -> None:
    with pytest.raises(ScheduleError) as caught:
        period_s(every)
    assert caught.value.field == "schedule.every"
    assert caught.value.fix
