from bisect import bisect_left, bisect_right
from datetime import UTC, datetime

import pytest

from noonmark.schedule.calendar.filtered import Filtered
from noonmark.schedule.calendar.moves import MAX_MOVED
from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.forms.every import EveryRecurrence
from noonmark.schedule.pattern import Stepping

SECOND = 1_000_000
HOUR = 3600 * SECOND
DAY = 24 * HOUR
HOURLY = EveryRecurrence(HOUR, 0, jitter_us=7)
MINUTELY = EveryRecurrence(60 * SECOND, 0)
SECONDLY = EveryRecurrence(SECOND, 0)


class Listed(Stepping):
    """Occurrences at given times."""

    jitter_us = 0

    def __init__(self, *times: str) -> None:
        self.times = sorted(map(us, times))

    def next_after(self, t_us: int) -> int | None:
        index = bisect_right(self.times, t_us)
        return self.times[index] if index < len(self.times) else None

    def previous_before(self, t_us: int) -> int | None:
        index = bisect_left(self.times, t_us)
        return self.times[index - 1] if index else None


class Counted(EveryRecurrence, frozen=True):
    """Fails when it is asked too often."""

    left: list[int] = []  # noqa: RUF012

    def next_after(self, t_us: int) -> int:
        self.left[0] -= 1
        assert self.left[0] > 0
        return super().next_after(t_us)


def us(text: str) -> int:
    moment = datetime.fromisoformat(text)
    return int(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()) * SECOND


def text(at_us: int | None) -> str | None:
    return None if at_us is None else datetime.fromtimestamp(at_us // SECOND, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def fires(filtered: Filtered, first: str = "2020-01-01", last: str = "2032-01-01") -> list[str | None]:
    found = filtered.between(us(first), us(last), 1000)
    assert filtered.last_between(us(first), us(last), 1000) == found
    return [text(at) for at in found]


def test_hours_and_days_are_left_out() -> None:
    filtered = Filtered(HOURLY, "UTC", ("sat-sun", "22:00-06:00", "2026-10-05 00:00-12:00"), ())
    assert filtered.jitter_us == 7
    friday = us("2026-10-02T21:00")
    assert text(filtered.next_after(friday - 1)) == "2026-10-02T21:00:00"
    assert text(filtered.next_after(friday)) == "2026-10-05T12:00:00"
    assert text(filtered.previous_before(us("2026-10-05T12:00"))) == "2026-10-02T21:00:00"


def test_only_keeps_to_days_and_hours() -> None:
    filtered = Filtered(HOURLY, "Europe/Berlin", ("holidays DE",), ("mon-fri 09:00-11:00",))
    # Friday the 3rd is Good Friday, Monday the 6th Easter Monday; the clock is two hours ahead of UTC.
    assert fires(filtered, "2026-04-01", "2026-04-08") == [
        *("2026-04-01T07:00:00", "2026-04-01T08:00:00", "2026-04-02T07:00:00", "2026-04-02T08:00:00"),
        *("2026-04-07T07:00:00", "2026-04-07T08:00:00"),
    ]


def test_a_window_belongs_to_the_day_on_which_it_begins() -> None:
    filtered = Filtered(EveryRecurrence(6 * HOUR, 3 * HOUR), "UTC", ("fri 20:00-08:00",), ())
    assert fires(filtered, "2026-10-02", "2026-10-03T12:00") == [
        *("2026-10-02T03:00:00", "2026-10-02T09:00:00", "2026-10-02T15:00:00", "2026-10-03T09:00:00"),
    ]


def test_an_excluded_hour_that_the_clock_shows_twice_is_left_out_twice() -> None:
    filtered = Filtered(EveryRecurrence(HOUR // 2, 0), "Europe/Berlin", ("02:00-03:00",), ())
    assert fires(filtered, "2026-10-24T23:00", "2026-10-25T02:00") == ["2026-10-24T23:30:00", "2026-10-25T02:00:00"]


def test_windows_by_the_wall_clock_and_by_instants() -> None:
    wall = Filtered(HOURLY, "America/New_York", ("2026-12-24T18:00/2026-12-25T06:00",), ())
    instants = Filtered(HOURLY, "America/New_York", ("2026-12-24T18:00Z/2026-12-25T06:00Z",), ())
    assert text(wall.next_after(us("2026-12-24T22:00"))) == "2026-12-25T11:00:00"
    assert text(instants.next_after(us("2026-12-24T17:00"))) == "2026-12-25T06:00:00"


def test_a_month_of_seconds_is_skipped_in_few_steps() -> None:
    inner = Counted(SECOND, 0, left=[100])
    filtered = Filtered(inner, "Europe/Berlin", ("2026-03-10/2026-04-09",), ())
    assert text(filtered.next_after(us("2026-03-09T22:59:59"))) == "2026-04-09T22:00:00"
    assert text(filtered.previous_before(us("2026-04-09T22:00"))) == "2026-03-09T22:59:59"


@pytest.mark.parametrize("move", [False, True])
@pytest.mark.parametrize("inner", [HOURLY, SECONDLY, EveryRecurrence(40 * DAY, 0)])
@pytest.mark.parametrize(
    "exclude", [("00:00-24:00",), ("00:00-12:00", "12:00-24:00"), ("mon,wed,fri,sun", "00:00-12:00", "12:00-24:00")]
)
def test_a_search_without_an_end_gives_up(exclude: tuple[str, ...], inner: EveryRecurrence, move: bool) -> None:
    filtered = Filtered(inner, "Europe/Berlin", exclude, (), move)
    assert filtered.next_after(us("2026-01-01")) is None
    assert filtered.previous_before(us("2026-01-01")) is None


@pytest.mark.parametrize("move", [False, True])
def test_times_out_of_bounds_have_no_occurrence_beyond(move: bool) -> None:
    filtered = Filtered(HOURLY, "Europe/Berlin", ("sat-sun",), (), move)
    assert filtered.next_after(10**18) is None
    assert filtered.previous_before(-(10**18)) is None
    assert filtered.next_after(-(10**18)) is not None
    assert filtered.previous_before(10**18) is not None


def test_a_rare_match_is_found_after_28_years() -> None:
    leap_days = Listed(*(f"{year}-02-29T12:00" for year in range(2004, 2100, 4)))
    filtered = Filtered(leap_days, "UTC", ("mon-sat",), ())
    assert fires(filtered, "2000-01-01", "2100-01-01") == [
        f"{year}-02-29T12:00:00" for year in (2004, 2032, 2060, 2088)
    ]


def test_the_last_years_that_are_known() -> None:
    filtered = Filtered(EveryRecurrence(DAY, 12 * HOUR), "UTC", ("holidays US",), ())
    assert text(filtered.next_after(us("2100-12-24T12:00"))) == "2100-12-26T12:00:00"


@pytest.mark.parametrize(
    ("exclude", "only", "occurrence", "expected"),
    [
        (("sat-sun",), (), "2026-10-03T10:00", "2026-10-05T10:00:00"),
        (("sat-sun", "holidays DE"), (), "2026-04-03T10:00", "2026-04-07T10:00:00"),
        (("22:00-06:00",), (), "2026-10-02T23:00", "2026-10-03T06:00:00"),
        (("22:00-06:00", "sat-sun"), (), "2026-10-02T23:00", "2026-10-05T06:00:00"),
        (("fri 18:00-24:00", "sat-sun"), (), "2026-10-02T19:00", "2026-10-05T00:00:00"),
        (("sat-sun", "mon 09:00-12:00"), (), "2026-10-03T10:00", "2026-10-05T12:00:00"),
        ((), ("mon-fri 09:00-17:00",), "2026-10-03T10:00", "2026-10-05T10:00:00"),
        ((), ("mon-fri 09:00-17:00",), "2026-10-02T20:00", "2026-10-05T09:00:00"),
        ((), ("2026-12-24T18:00/2026-12-26T06:00",), "2026-12-20T10:00", "2026-12-24T18:00:00"),
        (("2026-10-03/2027-10-03",), (), "2026-10-03T10:00", "2027-10-04T10:00:00"),
        (("2026-10-03/2027-10-04",), (), "2026-10-03T10:00", None),
        (("2026-10-03T00:00/2027-10-04T00:00",), (), "2026-10-03T00:00", "2027-10-04T00:00:00"),
        (("2026-10-03T00:00/2027-10-04T06:00",), (), "2026-10-03T00:00", None),
    ],
)
def test_where_an_occurrence_moves_to(
    exclude: tuple[str, ...], only: tuple[str, ...], occurrence: str, expected: str | None
) -> None:
    filtered = Filtered(Listed(occurrence), "UTC", exclude, only, move=True)
    assert text(filtered.moved_to(us(occurrence))) == expected
    assert fires(filtered) == ([] if expected is None else [expected])
    if expected is not None:
        assert filtered.next_after(us(expected) - 1) == filtered.previous_before(us(expected) + 1) == us(expected)
        assert filtered.next_after(us(expected)) is None
        assert filtered.previous_before(us(expected)) is None


def test_moves_overtake_and_meet() -> None:
    inner = Listed("2026-10-03T10:00", "2026-10-04T10:00", "2026-10-04T11:00", "2026-10-05T09:00", "2026-10-05T11:00")
    filtered = Filtered(inner, "UTC", ("sat-sun",), (), move=True)
    assert fires(filtered) == ["2026-10-05T09:00:00", "2026-10-05T10:00:00", "2026-10-05T11:00:00"]
    assert text(filtered.next_after(us("2026-10-05T09:30"))) == "2026-10-05T10:00:00"


def test_an_earlier_move_may_land_after_what_is_seen_first_on_the_way_back() -> None:
    inner = Listed("2026-10-03T20:00", "2026-10-05T08:00", "2026-10-08T10:00")
    filtered = Filtered(inner, "UTC", ("sat-sun", "2026-10-08"), (), move=True)
    assert text(filtered.previous_before(us("2026-10-09T05:00"))) == "2026-10-05T20:00:00"
    assert text(filtered.next_after(us("2026-10-05T20:00"))) == "2026-10-09T10:00:00"


def test_a_move_lands_after_a_gap_and_at_the_first_pass_of_an_overlap() -> None:
    gap = Listed("2026-03-28T02:30+01:00")
    assert fires(Filtered(gap, "Europe/Berlin", ("sat",), (), move=True)) == ["2026-03-29T01:00:00"]
    overlap = Listed("2026-10-24T02:30+02:00")
    assert fires(Filtered(overlap, "Europe/Berlin", ("sat",), (), move=True)) == ["2026-10-25T00:30:00"]
    after_it = Listed("2026-10-24T03:00+02:00")
    assert fires(Filtered(after_it, "Europe/Berlin", ("sat",), (), move=True)) == ["2026-10-25T02:00:00"]


def test_a_move_passes_over_a_day_that_the_zone_skipped() -> None:
    before = Listed("2011-12-29T10:00-10:00")
    filtered = Filtered(before, "Pacific/Apia", ("2011-12-29",), (), move=True)
    assert fires(filtered, "2011-01-01") == [text(us("2011-12-31T10:00+14:00"))]


@pytest.mark.parametrize("move", [False, True])
def test_a_saturday_that_comes_back_for_an_hour_is_no_sunday(move: bool) -> None:
    """In 2010 the clock of St. John's went from 00:01 on a Sunday to 23:01 on the Saturday before."""
    filtered = Filtered(EveryRecurrence(HOUR // 6, 0), "America/St_Johns", ("sun",), (), move)
    assert fires(filtered, "2010-11-07T02:15", "2010-11-07T12:00") == [
        *("2010-11-07T02:20:00", "2010-11-07T02:40:00", "2010-11-07T02:50:00"),
        *("2010-11-07T03:00:00", "2010-11-07T03:10:00", "2010-11-07T03:20:00"),
    ]


def test_a_move_out_of_dense_days_is_one_occurrence_each_minute() -> None:
    filtered = Filtered(EveryRecurrence(60 * SECOND, 30 * SECOND), "UTC", ("sat-sun", "mon 00:00-23:50"), (), move=True)
    found = fires(filtered, "2026-10-02T23:58", "2026-10-05T23:53")
    assert found == [
        *("2026-10-02T23:58:30", "2026-10-02T23:59:30", "2026-10-05T23:50:00"),
        *("2026-10-05T23:50:30", "2026-10-05T23:51:30", "2026-10-05T23:52:30"),
    ]


def test_too_many_moves_at_once_are_refused() -> None:
    now = us("2026-06-01")
    Filtered(MINUTELY, "UTC", ("sat-sun",), (), move=True).check(now)
    Filtered(SECONDLY, "UTC", ("22:00-06:00",), (), move=True).check(now)
    Filtered(SECONDLY, "UTC", ("sat-sun",), (), move=False).check(now)
    with pytest.raises(ScheduleError, match=r"more than 10,000 occurrences would move out of 2 days") as caught:
        Filtered(SECONDLY, "UTC", ("sat-sun",), (), move=True).check(now)
    assert caught.value.field == "schedule.when_excluded"
    with pytest.raises(ScheduleError, match=r"out of 14 days"):
        Filtered(MINUTELY, "UTC", ("2026-12-20/2027-01-02",), (), move=True).check(now)


def test_what_was_not_checked_stays_bounded() -> None:
    filtered = Filtered(SECONDLY, "UTC", ("2026-10-03",), (), move=True)
    first = us("2026-10-04")
    assert filtered.next_after(first - 1) == first
    assert filtered.moved_to(first - SECOND) == first + DAY - SECOND
    sparse = Filtered(Listed(*(f"2026-10-03T{s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d}" for s in range(10_050))),
                      "UTC", ("2026-10-03",), (), move=True)  # fmt: skip
    assert sparse.next_after(us("2026-10-03")) == first + (10_050 - MAX_MOVED) * SECOND


def test_the_reason_names_the_rule_and_the_holiday() -> None:
    filtered = Filtered(
        HOURLY, "Europe/Berlin", ("22:00-06:00", "holidays DE", "holidays US 09:00-05:00"), ("mon-sat",)
    )
    reasons = {
        "2026-10-02T21:00Z": "22:00-06:00",
        "2026-10-03T10:00Z": "holidays DE: German Unity Day",
        "2026-10-03T22:30Z": "22:00-06:00",
        "2026-11-26T12:00Z": "holidays US 09:00-05:00: Thanksgiving Day",
        "2026-10-04T10:00Z": "outside of mon-sat",
        "2026-10-05T10:00Z": None,
    }
    assert {at: filtered.excluded_reason(us(at)) for at in reasons} == reasons


def test_a_holiday_that_goes_on_after_midnight_keeps_its_name() -> None:
    filtered = Filtered(HOURLY, "UTC", ("holidays US 20:00-04:00",), ())
    assert filtered.excluded_reason(us("2026-11-27T03:00")) == "holidays US 20:00-04:00: Thanksgiving Day"
