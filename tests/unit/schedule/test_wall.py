"""Gaps and overlaps of the wall clock, with values worked out by hand."""

import time
from bisect import bisect_left, bisect_right
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from noonmark.schedule.pattern import Recurrence
from noonmark.schedule.spec import Gap, Overlap
from noonmark.schedule.stretches import FIRST_S, LAST_S
from noonmark.schedule.wall import WallRecurrence

SECOND = 1_000_000
DAY_S = 86_400


class Daily:
    """Fixed times of each day, as hh:mm or hh:mm:ss."""

    def __init__(self, times: str, keeps_pace: bool = False) -> None:
        self.keeps_pace = keeps_pace
        self.times = sorted(int(h) * 3600 + int(m) * 60 + sum(map(int, s)) for h, m, *s in map(_parts, times.split()))

    def next_wall(self, after_s: int) -> int | None:
        day, second = divmod(after_s, DAY_S)
        index = bisect_right(self.times, second)
        return day * DAY_S + (self.times[index] if index < len(self.times) else DAY_S + self.times[0])

    def previous_wall(self, before_s: int) -> int | None:
        day, second = divmod(before_s, DAY_S)
        index = bisect_left(self.times, second)
        return day * DAY_S + self.times[index - 1] if index else (day - 1) * DAY_S + self.times[-1]


class Listed:
    """A finite number of times, and how often it was asked."""

    def __init__(self, *times: str, keeps_pace: bool = True) -> None:
        self.keeps_pace = keeps_pace
        self.times = sorted(int(datetime.fromisoformat(t).replace(tzinfo=UTC).timestamp()) for t in times)
        self.asked = 0

    def next_wall(self, after_s: int) -> int | None:
        self.asked += 1
        index = bisect_right(self.times, after_s)
        return self.times[index] if index < len(self.times) else None

    def previous_wall(self, before_s: int) -> int | None:
        self.asked += 1
        index = bisect_left(self.times, before_s)
        return self.times[index - 1] if index else None


def _parts(text: str) -> list[str]:
    return text.split(":")


def us(text: str) -> int:
    return int(datetime.fromisoformat(text + "Z").timestamp()) * SECOND


def occurrences(rec: Recurrence, start: str, end: str) -> list[str]:
    """Those in [start, end), found forwards; the way back must find the same."""
    found: list[int] = []
    at_us = rec.next_after(us(start) - 1)
    while at_us is not None and at_us < us(end):
        found.append(at_us)
        at_us = rec.next_after(at_us)
    back: list[int] = []
    at_us = rec.previous_before(us(end))
    while at_us is not None and at_us >= us(start):
        back.append(at_us)
        at_us = rec.previous_before(at_us)
    assert back[::-1] == found
    return [f"{datetime.fromtimestamp(at_us // SECOND, UTC):%dT%H:%M}" for at_us in found]


@pytest.mark.parametrize(
    ("gap", "times", "expected"),
    [
        ("auto", "02:30", "28T01:30 29T01:00 30T00:30"),
        ("after", "02:30", "28T01:30 29T01:00 30T00:30"),
        ("skip", "02:30", "28T01:30 30T00:30"),
        ("shift", "02:30", "28T01:30 29T01:30 30T00:30"),
        ("after", "02:00 02:30 02:59", "28T01:00 28T01:30 28T01:59 29T01:00 30T00:00 30T00:30 30T00:59"),
        ("shift", "02:00 02:59", "28T01:00 28T01:59 29T01:00 29T01:59 30T00:00 30T00:59"),
        ("after", "02:30 03:00", "28T01:30 28T02:00 29T01:00 30T00:30 30T01:00"),  # the two coincide
        ("shift", "02:30 03:30", "28T01:30 28T02:30 29T01:30 30T00:30 30T01:30"),  # these too
        ("shift", "02:30 03:10", "28T01:30 28T02:10 29T01:10 29T01:30 30T00:30 30T01:10"),  # a real time comes between
        ("after", "01:59 03:00", "28T00:59 28T02:00 29T00:59 29T01:00 29T23:59 30T01:00"),  # no time in the gap
        ("after", "03:00", "28T02:00 29T01:00 30T01:00"),
    ],
)  # fmt: skip
def test_a_gap_of_an_hour(gap: Gap, times: str, expected: str) -> None:
    """Berlin skips 02:00 to 03:00 on 29 March 2026, at 01:00 UTC."""
    rec = WallRecurrence(Daily(times), "Europe/Berlin", gap)
    assert " ".join(occurrences(rec, "2026-03-28T00:00", "2026-03-30T12:00")) == expected


@pytest.mark.parametrize(
    ("overlap", "times", "expected"),
    [
        ("auto", "02:30", "25T00:30"),
        ("first", "02:30", "25T00:30"),
        ("second", "02:30", "25T01:30"),
        ("both", "02:30", "25T00:30 25T01:30"),
        ("first", "01:59 02:00 02:59 03:00", "24T23:59 25T00:00 25T00:59 25T02:00"),
        ("second", "01:59 02:00 02:59 03:00", "24T23:59 25T01:00 25T01:59 25T02:00"),
        ("both", "01:59 02:00 02:59 03:00", "24T23:59 25T00:00 25T00:59 25T01:00 25T01:59 25T02:00"),
    ],
)
def test_an_overlap_of_an_hour(overlap: Overlap, times: str, expected: str) -> None:
    """Berlin shows 02:00 to 03:00 twice on 25 October 2026; the second time begins at 01:00 UTC."""
    rec = WallRecurrence(Daily(times), "Europe/Berlin", "auto", overlap)
    assert " ".join(occurrences(rec, "2026-10-24T12:00", "2026-10-25T12:00")) == expected


def test_auto_is_told_by_the_pattern() -> None:
    times = "00:30 01:30 02:30 03:30"
    pace, fixed = (WallRecurrence(Daily(times, keeps), "Europe/Berlin") for keeps in (True, False))
    spring, autumn = ("2026-03-28T23:00", "2026-03-29T12:00"), ("2026-10-24T22:00", "2026-10-25T12:00")
    assert occurrences(pace, *spring) == ["28T23:30", "29T00:30", "29T01:30"]
    assert occurrences(fixed, *spring) == ["28T23:30", "29T00:30", "29T01:00", "29T01:30"]
    assert occurrences(pace, *autumn) == ["24T22:30", "24T23:30", "25T00:30", "25T01:30", "25T02:30"]
    assert occurrences(fixed, *autumn) == ["24T22:30", "24T23:30", "25T00:30", "25T02:30"]


@pytest.mark.parametrize(
    ("tz", "times", "start", "end", "gap", "overlap", "expected"),
    [
        # Lord Howe goes forward by half an hour at 02:00 (15:30 UTC) and back by half an hour at 02:00 (15:00 UTC).
        ("Australia/Lord_Howe", "02:15", "2026-10-03T14:00", "2026-10-03T18:00", "after", "auto", "03T15:30"),
        ("Australia/Lord_Howe", "02:15", "2026-10-03T14:00", "2026-10-03T18:00", "shift", "auto", "03T15:45"),
        ("Australia/Lord_Howe", "01:45", "2026-04-04T14:00", "2026-04-04T18:00", "auto", "both", "04T14:45 04T15:15"),
        ("Australia/Lord_Howe", "01:45", "2026-04-04T14:00", "2026-04-04T18:00", "auto", "second", "04T15:15"),
        # Troll's two hours: 01:00 to 03:00 do not exist in March, and come twice in October.
        ("Antarctica/Troll", "1:10 2:20", "2026-03-29T00:00", "2026-03-29T06:00", "shift", "auto", "29T01:10 29T02:20"),
        ("Antarctica/Troll", "02:20", "2026-10-24T20:00", "2026-10-25T06:00", "auto", "both", "25T00:20 25T02:20"),
        # Casey went back by three hours at 16:00 UTC: from 03:00 to midnight.
        ("Antarctica/Casey", "01:00", "2020-03-07T10:00", "2020-03-08T10:00", "auto", "both", "07T14:00 07T17:00"),
        # Havana skips 00:00 to 01:00, and shows it twice: the second time begins at 05:00 UTC.
        ("America/Havana", "00:00", "2026-03-07T12:00", "2026-03-08T12:00", "after", "auto", "08T05:00"),
        ("America/Havana", "00:00", "2025-11-02T00:00", "2025-11-02T12:00", "auto", "both", "02T04:00 02T05:00"),
        # Sao Paulo's clock jumped from midnight to 01:00 on 4 November 2018.
        ("America/Sao_Paulo", "00:00 00:30", "2018-11-03T12:00", "2018-11-04T12:00", "after", "auto", "04T03:00"),
        ("America/Sao_Paulo", "23:30", "2018-02-17T12:00", "2018-02-18T12:00", "auto", "both", "18T01:30 18T02:30"),
        # Nuuk leaves at its own 22:00, one hour before midnight.
        ("America/Nuuk", "23:00", "2024-03-30T12:00", "2024-03-31T12:00", "after", "auto", "31T01:00"),
        # Morocco turns its clock back for Ramadan (at 02:00 UTC), and forward after it.
        ("Africa/Casablanca", "02:30", "2026-02-15T00:00", "2026-02-15T12:00", "auto", "both", "15T01:30 15T02:30"),
        ("Africa/Casablanca", "02:30", "2026-03-22T00:00", "2026-03-22T12:00", "shift", "auto", "22T02:30"),
        # No zone, no change.
        ("UTC", "02:30", "2026-03-29T00:00", "2026-03-30T00:00", "shift", "second", "29T02:30"),
        ("Asia/Kathmandu", "02:30", "2026-03-29T00:00", "2026-03-30T00:00", "after", "first", "29T20:45"),
    ],
)  # fmt: skip
def test_changes_of_all_kinds(
    tz: str, times: str, start: str, end: str, gap: Gap, overlap: Overlap, expected: str
) -> None:
    assert " ".join(occurrences(WallRecurrence(Daily(times), tz, gap, overlap), start, end)) == expected


@pytest.mark.parametrize(
    ("gap", "expected"),
    [
        ("skip", "29T22:00 30T22:00"),
        ("after", "29T22:00 30T10:00 30T22:00"),
        ("shift", "29T22:00 30T22:00"),  # 12:00 of the 30th shifts to 12:00 of the 31st, which fires anyway
    ],
)
def test_the_day_that_samoa_skipped(gap: Gap, expected: str) -> None:
    """At midnight after 29 December 2011 (10:00 UTC on the 30th), the 31st began."""
    rec = WallRecurrence(Daily("12:00"), "Pacific/Apia", gap)
    assert " ".join(occurrences(rec, "2011-12-29T12:00", "2011-12-31T12:00")) == expected


def test_a_time_named_only_in_the_skipped_day() -> None:
    pattern = Listed("2011-12-30T12:00", "2011-12-30T18:00", keeps_pace=False)
    for gap, expected in (("after", ["30T10:00"]), ("shift", ["30T22:00", "31T04:00"]), ("skip", [])):
        rec = WallRecurrence(pattern, "Pacific/Apia", gap)  # type: ignore[arg-type]
        assert occurrences(rec, "2011-12-01T00:00", "2012-02-01T00:00") == expected


def test_the_last_time_of_a_list_may_come_again() -> None:
    """The clock goes back to before the end of the list, and in the mirror image to after its start."""
    rec = WallRecurrence(Listed("2026-10-25T02:30"), "Europe/Berlin")
    assert rec.next_after(us("2026-10-25T00:45")) == us("2026-10-25T01:30")
    assert rec.next_after(us("2026-10-25T01:30")) is None
    assert rec.previous_before(us("2026-10-25T01:15")) == us("2026-10-25T00:30")
    assert rec.previous_before(us("2026-10-25T00:30")) is None


def test_fractions_of_a_second() -> None:
    rec = WallRecurrence(Daily("12:00:07"), "Europe/Berlin")
    noon = us("2026-01-05T11:00:07")
    assert [rec.next_after(noon + step) for step in (-SECOND, -1, 0, 1)] == [noon, noon] + [noon + DAY_S * SECOND] * 2
    assert [rec.previous_before(noon + step) for step in (0, 1, SECOND)] == [noon - DAY_S * SECOND, noon, noon]


def test_offsets_with_seconds() -> None:
    """Monrovia was 44 minutes and 30 seconds behind until 7 January 1972."""
    rec = WallRecurrence(Daily("00:10 00:45"), "Africa/Monrovia")
    assert rec.next_after(us("1972-01-06T00:00")) == us("1972-01-06T00:54:30")
    assert rec.next_after(us("1972-01-06T12:00")) == us("1972-01-07T00:44:30")
    assert rec.next_after(us("1972-01-07T00:44:30")) == us("1972-01-07T00:45")


@pytest.mark.parametrize("tz", ["UTC", "Europe/Berlin", "Asia/Kolkata"])
def test_the_horizon(tz: str) -> None:
    rec = WallRecurrence(Daily("12:00"), tz)
    first, last = rec.next_after(-(2**62)), rec.previous_before(2**62)
    assert first is not None
    assert last is not None
    assert FIRST_S * SECOND <= first < (FIRST_S + DAY_S) * SECOND
    assert (LAST_S - DAY_S) * SECOND <= last < LAST_S * SECOND
    assert rec.next_after(last) is None
    assert rec.previous_before(first) is None
    assert rec.next_after(2**62) is None
    assert rec.previous_before(-(2**62)) is None


def test_empty_years_are_leapt_over() -> None:
    """Neither an impossible pattern nor a distant time costs a walk through the changes in between."""
    for tz in ("UTC", "Europe/Berlin"):
        never, distant = Listed(), Listed("1901-06-01T12:00", "2900-06-01T12:00")
        rec = WallRecurrence(never, tz)
        assert rec.next_after(us("2026-01-01T00:00")) is None
        assert rec.previous_before(us("2026-01-01T00:00")) is None
        rec = WallRecurrence(distant, tz)
        offset_us = 0 if tz == "UTC" else 7_200 * SECOND
        assert rec.next_after(us("2026-01-01T00:00")) == us("2900-06-01T12:00") - offset_us
        assert rec.previous_before(us("2026-01-01T00:00")) is not None
        assert never.asked + distant.asked < 30


def test_years_of_gaps_are_walked_through() -> None:
    gaps = ["2026-03-29T02:30", "2027-03-28T02:30", "2028-03-26T02:30", "2029-03-25T02:30"]
    rec = WallRecurrence(Listed("2025-06-01T12:00", *gaps, "2029-06-01T12:00"), "Europe/Berlin", "skip")
    assert rec.next_after(us("2026-01-01T00:00")) == us("2029-06-01T10:00")
    assert rec.previous_before(us("2029-05-01T00:00")) == us("2025-06-01T10:00")


def test_a_pattern_of_nothing_but_gaps_ends() -> None:
    sundays = [datetime.fromordinal(day) for day in range(727_000, 1_090_000) if day % 7 == 0]
    last_of_march = [day for day in sundays if day.month == 3 and day.day > 24]
    pattern = Listed(*(day.strftime("%Y-%m-%dT02:30") for day in last_of_march))
    rec = WallRecurrence(pattern, "Europe/Madrid")
    started = time.perf_counter()
    assert rec.next_after(us("2026-01-01T00:00")) is None
    assert time.perf_counter() - started < 1  # 0.03 s on an idle core
    after = WallRecurrence(pattern, "Europe/Madrid", "after")
    assert after.next_after(us("2026-01-01T00:00")) == us("2026-03-29T01:00")


def test_fast_enough() -> None:
    """Each step costs the pattern's own step and little more: 0.4 µs on an idle core."""
    for tz in ("UTC", "Europe/Berlin"):
        rec = WallRecurrence(Daily("00:00 06:00 12:00 18:00"), tz)
        found = rec.between(us("2020-01-01T00:00"), us("2030-01-01T00:00"), 100_000)
        started = time.perf_counter()
        assert rec.between(us("2020-01-01T00:00"), us("2030-01-01T00:00"), 100_000) == found
        assert (time.perf_counter() - started) / len(found) < 20e-6
        assert all(a < b for a, b in pairwise(found))
        assert len(found) == 4 * 3_653
