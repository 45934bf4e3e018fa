"""ISO 8601 repeating intervals and the steps of a calendar."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from dateutil.relativedelta import relativedelta
from hypothesis import given, settings
from hypothesis import strategies as st

from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.forms.duration import Duration, duration_text, read_duration
from noonmark.schedule.forms.interval import IntervalParts, StepsPattern, canonical_interval, read_interval
from noonmark.schedule.forms.steps import steps_body

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CREATED = datetime(2026, 7, 15, 12, 34, 56, 789_000, tzinfo=UTC)


def us(*at: int) -> int:
    return (datetime(*at, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)  # type: ignore[misc,arg-type]


def wall(*at: int) -> int:
    return us(*at) // 1_000_000


CREATED_US = (CREATED - EPOCH) // timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("text", "tz", "parts"),
    [
        ("R/2026-01-01T00:00Z/PT5M", "UTC", IntervalParts(tz="UTC", period_s=300, start_us=us(2026, 1, 1))),
        (
            "r5/20260101T000000+0100/pt1h",
            "UTC",
            IntervalParts(tz="UTC", period_s=3600, start_us=us(2025, 12, 31, 23), count=5),
        ),
        (
            "R/2026-01-01T00:00/PT1H",
            "Asia/Tokyo",
            IntervalParts(tz="Asia/Tokyo", period_s=3600, start_us=us(2025, 12, 31, 15)),
        ),
        ("R/2026-01-01/2026-01-03T12:00", "UTC", IntervalParts(tz="UTC", period_s=216_000, start_us=us(2026, 1, 1))),
        ("R/2026-01-01T09:00/P1D", "UTC", IntervalParts(tz="UTC", period_s=86_400, start_us=us(2026, 1, 1, 9))),
        (
            "R/2026-01-01T09:00/P1D",
            "Europe/Berlin",
            IntervalParts(tz="Europe/Berlin", steps="2026-01-01T09:00:00/P1D", start_us=us(2026, 1, 1, 8)),
        ),
        (
            "R12/2026-01-31T09:00:00Z/P1M",
            "Europe/Berlin",
            IntervalParts(tz="Europe/Berlin", steps="2026-01-31T10:00:00/P1M", start_us=us(2026, 1, 31, 9), count=12),
        ),
        ("R/PT5M", "UTC", IntervalParts(tz="UTC", period_s=300, start_us=us(2026, 7, 15, 12, 39, 56))),
        (
            "R/P1M",
            "Europe/Berlin",
            IntervalParts(tz="Europe/Berlin", steps="2026-07-15T14:34:56/P1M", start_us=us(2026, 7, 15, 12, 34, 57)),
        ),
        (
            "R3/PT1H/2026-08-01T00:00Z",
            "UTC",
            IntervalParts(tz="UTC", period_s=3600, start_us=us(2026, 7, 31, 22), end_us=us(2026, 8, 1), count=3),
        ),
        (
            "R/PT24H/2026-07-18T00:00Z",
            "UTC",
            IntervalParts(tz="UTC", period_s=86_400, start_us=us(2026, 7, 16), end_us=us(2026, 7, 18)),
        ),
        (
            "R/PT24H/2020-01-01T00:00Z",
            "UTC",
            IntervalParts(tz="UTC", period_s=86_400, start_us=us(2020, 1, 1), end_us=us(2020, 1, 1)),
        ),
    ],
)
def test_read(text: str, tz: str, parts: IntervalParts) -> None:
    assert read_interval(text, tz, CREATED_US) == parts
    assert read_interval(canonical_interval(text, tz), tz, CREATED_US) == parts


@pytest.mark.parametrize(
    ("text", "tz", "canonical"),
    [
        ("r/20260101T0000Z/pt300s", "UTC", "R/2026-01-01T00:00:00Z/PT5M"),
        ("R05/2026-01-01T01:00+01:00/P14D", "UTC", "R5/2026-01-01T00:00:00Z/P2W"),
        ("R/2026-01-31T08:00Z/P1M", "Europe/Berlin", "R/2026-01-31T09:00:00/P1M"),
        ("R/2026-01-01T00:00Z/2026-01-01T00:05Z", "Europe/Berlin", "R/2026-01-01T00:00:00Z/PT5M"),
        ("R/P0Y14M", "UTC", "R/P1Y2M"),
        ("R/PT36H/2026-08-01T00:00", "UTC", "R/PT36H/2026-08-01T00:00:00Z"),
    ],
)
def test_canonical(text: str, tz: str, canonical: str) -> None:
    assert canonical_interval(text, tz) == canonical
    assert canonical_interval(canonical, tz) == canonical


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("R0/PT5M", "'R0' is not a number of occurrences"),
        ("R-1/PT5M", "'R-1' is not R or R and a number"),
        ("R10001/PT5M", "'R10001' is not a number of occurrences"),
        ("PT5M", "'PT5M' is not R"),
        ("R", "is not a repeating interval"),
        ("R/", "neither a time nor a duration"),
        ("R/PT5M/PT5M", "is not a repeating interval"),
        ("R/PT5M/PT5M/PT5M", "is not a repeating interval"),
        ("R/2026-01-01T00:00Z", "is not a repeating interval"),
        ("R/PT0S", "below the shortest period"),
        ("R/PT0.5S", "neither a time nor a duration in whole seconds"),
        ("R/P4000D", "above the longest period"),
        ("R/P101Y", "above the longest period"),
        ("R/2026-01-01T00:00:00.5Z/PT5M", "neither a time nor a duration in whole seconds"),
        ("R/2026-02-30T00:00Z/PT5M", "neither a time"),
        ("R/2026-01-01T00:00Z/2026-01-01T00:00Z", "below the shortest period"),
        ("R/2026-01-02T00:00Z/2026-01-01T00:00Z", "below the shortest period"),
        ("R/1899-01-01T00:00Z/PT5M", "neither a time"),
        ("R/P1M/2026-01-31T00:00Z", "'P1M' cannot be counted back from an end"),
        ("R/2026-01-01T00:00Z/" + "9" * 100, "is too long"),
    ],
)
def test_refused(text: str, message: str) -> None:
    for read in (lambda: read_interval(text, "UTC", CREATED_US), lambda: canonical_interval(text, "UTC")):
        with pytest.raises(ScheduleError) as caught:
            read()
        assert caught.value.field == "schedule.iso"
        assert message in caught.value.message
        assert caught.value.fix


def test_counted_back_from_an_end_the_first_comes_after_creation() -> None:
    assert read_interval("R/PT24H/2026-07-18T00:00Z", "UTC", us(2026, 7, 16)).start_us == us(2026, 7, 17)
    assert read_interval("R/PT24H/2026-07-18T00:00Z", "UTC", us(2026, 7, 16) - 1).start_us == us(2026, 7, 16)


words = st.sampled_from(
    ["R", "R5", "/", "P", "T", "1", "12", "D", "M", "Y", "W", "2026-01-31", "T09:00", "Z", "+02:00", "-"]
)


@given(st.lists(words, max_size=9).map("".join) | st.text(max_size=20), st.sampled_from(("UTC", "Australia/Lord_Howe")))
def test_any_text_is_read_or_refused(text: str, tz: str) -> None:
    try:
        canonical = canonical_interval(text, tz)
    except ScheduleError:
        return
    assert canonical_interval(canonical, tz) == canonical
    assert read_interval(canonical, tz, CREATED_US) == read_interval(text, tz, CREATED_US)


def test_a_day_lost_to_a_short_month_comes_back() -> None:
    pattern = StepsPattern("2026-01-31T09:00:00/P1M")
    expected = [wall(2026, 1, 31, 9), wall(2026, 2, 28, 9), wall(2026, 3, 31, 9), wall(2026, 4, 30, 9)]
    assert pattern.next_wall(0) == expected[0]
    assert pattern.previous_wall(expected[0]) is None
    for earlier, later in pairwise(expected):
        assert pattern.next_wall(earlier) == later
        assert pattern.previous_wall(later) == earlier
    assert pattern.next_wall(wall(2028, 2, 1)) == wall(2028, 2, 29, 9)
    assert not pattern.keeps_pace


def test_steps_end_with_the_year_2199() -> None:
    pattern = StepsPattern("2026-01-31T09:00:00/P1M")
    assert pattern.next_wall(wall(2199, 12, 1)) == wall(2199, 12, 31, 9)
    assert pattern.next_wall(wall(2199, 12, 31, 9)) is None
    assert pattern.next_wall(2**45) is None
    assert pattern.previous_wall(2**45) == wall(2199, 12, 31, 9)


@pytest.mark.parametrize("body", ["", "2026-01-31T09:00:00/", "2026-01-31T09:00:00/P0D", "x/P1M"])
def test_damaged_steps(body: str) -> None:
    with pytest.raises(ValueError, match=r"start and a step|isoformat"):
        StepsPattern(body)


@given(
    st.datetimes(datetime(1950, 1, 1), datetime(2100, 1, 1)).map(lambda at: at.replace(microsecond=0)),  # noqa: DTZ001
    st.integers(0, 40),
    st.integers(0, 80),
    st.integers(0, 100_000),
    st.integers(0, 800),
)
@settings(max_examples=150)
def test_steps_agree_with_relativedelta(start: datetime, months: int, days: int, seconds: int, k: int) -> None:
    step = Duration(months, days, seconds + (months + days == 0))
    pattern = StepsPattern(steps_body(start, step))
    walls = [
        (start + relativedelta(months=n * months) + n * timedelta(days=days, seconds=step.seconds)).replace(tzinfo=UTC)
        for n in (k, k + 1)
        if start.year + n * (months / 12 + days / 365) < 2195
    ]
    found = [(at - EPOCH) // timedelta(seconds=1) for at in walls]
    for at_s in found:
        assert pattern.next_wall(at_s - 1) == at_s
        assert pattern.previous_wall(at_s + 1) == at_s
    for earlier, later in pairwise(found):
        assert pattern.next_wall(earlier) == later
        assert pattern.previous_wall(later) == earlier


@given(st.integers(0, 1_200), st.integers(0, 4_000), st.integers(0, 10**6))
def test_durations_are_read_as_written(months: int, days: int, seconds: int) -> None:
    duration = Duration(months, days, seconds + (months + days == 0))
    assert read_duration(duration_text(duration)) == duration


@pytest.mark.parametrize(
    "text", ["", "P", "PT", "P1DT", "1D", "PT1.5H", "P1H", "PT1D", "P-1D", "P1M1Y", "P٣D", "P1S", "PT1M1H"]
)
def test_not_a_duration(text: str) -> None:
    assert read_duration(text) is None
