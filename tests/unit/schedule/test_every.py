"""Fixed rates and periods."""

import pytest

from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.forms.every import EveryRecurrence
from noonmark.schedule.forms.period import is_period, offset_s, period_s, period_text


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
        ("5 minutes", 300),
        ("1 hour 30 minutes", 5400),
        ("1 Day 2 hrs 3 mins 4 secs", 93_784),
        ("PT5M", 300),
        ("pt1h30m", 5400),
        ("P1D", 86_400),
        ("P2W", 1_209_600),
        ("P1DT12H", 129_600),
    ],
)
def test_period(every: str | int | float, seconds: int) -> None:
    assert period_s(every) == seconds
    assert period_s(period_text(seconds)) == seconds


@pytest.mark.parametrize(
    "every",
    [
        *("", " ", "m", "5", "5x", "30m1h", "250ms", "1.5s", "-5m", "0s", "٣s", "9" * 39 + "s", "9" * 5000 + "s"),
        *("1 5m", "5 m 5", "5 months", "P", "PT", "P1DT", "PT0S", "PT1.5H", "PT0,5S", "P1M", "P1Y", "P4000D", "-PT5M"),
        *(0, -1, 0.5, 1.5, float("nan"), float("inf"), 10**12, 10**5000, True),
    ],
    ids=lambda every: str(every)[:9] if not isinstance(every, int) else "int",
)
def test_not_a_period(every: str | int | float) -> None:
    with pytest.raises(ScheduleError) as caught:
        period_s(every)
    assert caught.value.field == "schedule.every"
    assert caught.value.fix


def test_months_have_no_fixed_length() -> None:
    with pytest.raises(ScheduleError) as caught:
        period_s("P1M")
    assert "no fixed length" in caught.value.message
    assert "RRULE" in str(caught.value.fix)
    assert "R/2026-01-31T09:00/P1M" in str(caught.value.fix)


def test_what_looks_like_a_period() -> None:
    assert all(map(is_period, ("5m", "1 hour", "PT5M", "P1M", "0s", "9999w")))
    assert not any(map(is_period, ("", " ", "5", "m", "every 5m", "P", "@hourly", "5m" * 99)))


@pytest.mark.parametrize(
    ("offset", "seconds"),
    [(0, 0), (-60, -60), ("30m", 1800), ("-30m", -1800), ("+PT1H", 3600), ("0", 0), ("-12h", -43_200)],
)
def test_offset(offset: str | int, seconds: int) -> None:
    assert offset_s(offset) == seconds


@pytest.mark.parametrize("offset", ["", "-", "30", "13h", "--1m", "1.5h", 43_201, -43_201, True])
def test_not_an_offset(offset: str | int) -> None:
    with pytest.raises(ScheduleError) as caught:
        offset_s(offset)
    assert caught.value.field == "schedule.offset"
    assert caught.value.fix
