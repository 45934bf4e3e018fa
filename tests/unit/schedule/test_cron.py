"""Cron occurrences in the zones and at the changes where schedulers go wrong."""

from datetime import UTC, datetime

import pytest

from noonmark.schedule.forms.cron import CronPattern
from noonmark.schedule.forms.cron_text import canonical_cron
from noonmark.schedule.spec import instant_us
from noonmark.schedule.wall import WallRecurrence


def us(text: str) -> int:
    return instant_us(datetime.fromisoformat(text))


def cron_in(expression: str, tz: str) -> WallRecurrence:
    return WallRecurrence(CronPattern(canonical_cron(expression)), tz)


def texts(expression: str, tz: str, after: str, until: str) -> list[str]:
    """The occurrences in UTC, found forwards and backwards alike."""
    cron = cron_in(expression, tz)
    found = cron.between(us(after), us(until), 1000)
    assert cron.last_between(us(after), us(until), 1000) == found
    return [datetime.fromtimestamp(at // 1_000_000, UTC).strftime("%m-%d %H:%M") for at in found]


def test_strictly_after_and_strictly_before() -> None:
    cron = cron_in("*/5 * * * *", "UTC")
    noon = us("2026-01-01T12:00:00Z")
    assert cron.next_after(noon) == noon + 300_000_000
    assert cron.next_after(noon - 1) == noon
    assert cron.previous_before(noon) == noon - 300_000_000
    assert cron.previous_before(noon + 1) == noon


def test_six_fields_begin_with_seconds() -> None:
    cron = cron_in("*/20 * * * * *", "UTC")
    noon = us("2026-01-01T12:00:00Z")
    assert cron.between(noon, noon + 60_000_000, 9) == [noon + s * 1_000_000 for s in (20, 40, 60)]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("30 2 * * *", ["03-28 01:30", "03-29 01:00", "03-30 00:30"]),  # in the gap: right after it
        ("0,15,30 2 * * *", ["03-28 01:00", "03-28 01:15", "03-28 01:30", "03-29 01:00", "03-30 00:00", "03-30 00:15"]),
        ("0 2,3 * * *", ["03-28 01:00", "03-28 02:00", "03-29 01:00", "03-30 00:00"]),  # the two meet: once
        ("*/30 2 * * *", ["03-28 01:00", "03-28 01:30", "03-30 00:00", "03-30 00:30"]),  # wildcard: the gap has none
        ("0 30 2 * * *", ["03-28 01:30", "03-29 01:00", "03-30 00:30"]),  # six fields may be fixed times too
        ("*/30 30 2 * * *", ["03-28 01:30", "03-28 01:30", "03-30 00:30"]),
    ],
)
def test_gap_in_berlin(expression: str, expected: list[str]) -> None:
    found = texts(expression, "Europe/Berlin", "2026-03-28T00:30:00Z", "2026-03-30T00:59:00Z")
    assert found[: len(expected)] == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("30 2 * * *", ["10-25 00:30", "10-26 01:30"]),  # in the overlap: the first time only
        ("0 2,3 * * *", ["10-25 00:00", "10-25 02:00", "10-26 01:00", "10-26 02:00"]),
        ("*/30 2 * * *", ["10-25 00:00", "10-25 00:30", "10-25 01:00", "10-25 01:30", "10-26 01:00", "10-26 01:30"]),
        ("0 30 2 * * *", ["10-25 00:30", "10-26 01:30"]),
        ("0 */60 2 * * *", ["10-25 00:00", "10-25 01:00", "10-26 01:00"]),
    ],
)
def test_overlap_in_berlin(expression: str, expected: list[str]) -> None:
    assert texts(expression, "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-26T12:00:00Z") == expected


def test_from_the_second_half_of_an_overlap() -> None:
    """cronsim answers the first: a next time in the past, and a previous time a day too early."""
    cron = cron_in("30 2 * * *", "Europe/Berlin")
    second_quarter_past_two = us("2026-10-25T01:15:00Z")
    assert cron.next_after(second_quarter_past_two) == us("2026-10-26T01:30:00Z")
    assert cron.previous_before(second_quarter_past_two) == us("2026-10-25T00:30:00Z")


def test_hourly_keeps_its_pace_through_changes() -> None:
    for start in ("2026-03-08T00:00:00Z", "2026-11-01T00:00:00Z"):
        cron = cron_in("0 * * * *", "America/New_York")
        assert cron.between(us(start), us(start) + 24 * 3_600_000_000, 99) == [
            us(start) + hour * 3_600_000_000 for hour in range(1, 25)
        ]


def test_half_hour_shift_of_lord_howe() -> None:
    zone = "Australia/Lord_Howe"  # 2026-10-04 02:00 becomes 02:30; 2026-04-05 02:00 becomes 01:30
    assert texts("15 2 * * *", zone, "2026-10-03T12:00:00Z", "2026-10-04T12:00:00Z") == ["10-03 15:30"]
    # cronsim leaves out the first half of the fifth hour when it starts from midnight.
    expected = ["10-03 18:00", "10-03 18:15", "10-03 18:30", "10-03 18:45"]
    assert texts("*/15 5 * * *", zone, "2026-10-03T13:30:00Z", "2026-10-04T12:00:00Z") == expected
    # 01:30 to 02:00 comes twice, with half an hour between.
    expected = ["04-04 14:00", "04-04 14:15", "04-04 14:30", "04-04 14:45", "04-04 15:00", "04-04 15:15"]
    assert texts("*/15 1 5 4 *", zone, "2026-04-04T12:00:00Z", "2026-04-05T12:00:00Z") == expected
    assert texts("45 1 * * *", zone, "2026-04-04T12:00:00Z", "2026-04-05T12:00:00Z") == ["04-04 14:45"]


def test_samoa_skipped_a_day() -> None:
    found = texts("0 9 * * *", "Pacific/Apia", "2011-12-29T12:00:00Z", "2011-12-31T12:00:00Z")
    assert found == ["12-29 19:00", "12-30 10:00", "12-30 19:00"]  # the 30th never was: right after the gap
    found = texts("*/30 9 * * *", "Pacific/Apia", "2011-12-29T12:00:00Z", "2011-12-31T12:00:00Z")
    assert found == ["12-29 19:00", "12-29 19:30", "12-30 19:00", "12-30 19:30"]


def test_overlap_before_midnight_is_seen_backwards() -> None:
    found = texts("*/30 23 17 2 *", "America/Sao_Paulo", "2018-02-01T00:00:00Z", "2018-03-01T00:00:00Z")
    assert found == ["02-18 01:00", "02-18 01:30", "02-18 02:00", "02-18 02:30"]


def test_leap_day_and_last_days() -> None:
    assert texts("0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", "2033-01-01T00:00:00Z") == ["02-29 00:00"] * 2
    assert texts("0 0 L 2 *", "UTC", "2027-01-01T00:00:00Z", "2029-01-01T00:00:00Z") == ["02-28 00:00", "02-29 00:00"]
    assert texts("0 0 * * 5L", "UTC", "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z") == ["05-29 00:00"]


def test_always_in_the_gap_ends_instead_of_looping() -> None:
    """The last Sunday of March at 2 does not exist in Berlin, as far as the rules of today reach."""
    cron = cron_in("*/10 2 * 3 0L", "Europe/Berlin")
    assert cron.next_after(us("2026-01-01T00:00:00Z")) is None
    assert cron_in("10 2 * 3 0L", "Europe/Berlin").next_after(us("2026-01-01T00:00:00Z")) is not None


def test_times_without_reason_have_an_answer() -> None:
    cron = cron_in("* * * * *", "Europe/Berlin")
    assert cron.next_after(10**19) is None
    assert cron.previous_before(-(10**19)) is None
    assert cron.previous_before(10**19) is not None
    assert cron.next_after(-(10**19)) is not None


def test_a_year_of_seconds_is_not_enumerated() -> None:
    cron = cron_in("* * * * * *", "Europe/Berlin")
    end = us("2026-07-01T00:00:00Z")
    assert cron.last_between(end - 365 * 86_400_000_000, end, 3) == [end - 2_000_000, end - 1_000_000, end]
    assert cron.between(0, end, 0) == []
    assert cron.last_between(0, end, 0) == []
