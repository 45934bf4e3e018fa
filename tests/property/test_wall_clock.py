"""A pattern by a wall clock, against an oracle that looks at each minute (or second) with zoneinfo alone."""

from bisect import bisect_left, bisect_right
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

from hypothesis import example, given, settings
from hypothesis import strategies as st

from noonmark.schedule.spec import Gap, Overlap
from noonmark.schedule.wall import WallRecurrence
from noonmark.schedule.zones import tz_source, zone_names

SECOND = 1_000_000
DAY_S = 86_400
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - a wall-clock time of no zone
# Around changes of each kind: an hour, half an hour, two hours, three hours, at and before midnight, a whole day,
# a week apart, and none.
CHANGES = [
    ("Europe/Berlin", "2026-03-29T01:00Z"),
    ("Europe/Berlin", "2026-10-25T01:00Z"),
    ("Europe/Dublin", "2026-10-25T01:00Z"),
    ("America/New_York", "2026-03-08T07:00Z"),
    ("America/New_York", "2026-11-01T06:00Z"),
    ("Australia/Lord_Howe", "2026-04-04T15:00Z"),
    ("Australia/Lord_Howe", "2026-10-03T15:30Z"),
    ("Antarctica/Troll", "2026-03-29T01:00Z"),
    ("Antarctica/Troll", "2026-10-25T01:00Z"),
    ("Antarctica/Casey", "2019-10-03T19:00Z"),
    ("Antarctica/Casey", "2020-03-07T16:00Z"),
    ("America/Havana", "2026-03-08T05:00Z"),
    ("America/Havana", "2025-11-02T05:00Z"),
    ("America/Sao_Paulo", "2018-02-18T02:00Z"),
    ("America/Sao_Paulo", "2018-11-04T03:00Z"),
    ("America/Nuuk", "2024-03-31T01:00Z"),
    ("America/Nuuk", "2024-10-27T01:00Z"),
    ("Africa/Casablanca", "2026-02-15T02:00Z"),
    ("Africa/Casablanca", "2026-03-22T02:00Z"),
    ("Africa/El_Aaiun", "2026-03-22T02:00Z"),
    ("Asia/Gaza", "2040-10-20T00:00Z"),
    ("Asia/Gaza", "2040-10-26T23:00Z"),
    ("America/Recife", "2000-10-08T03:00Z"),
    ("America/Recife", "2000-10-15T02:00Z"),
    ("America/Caracas", "2007-12-09T07:00Z"),
    ("Asia/Pyongyang", "2018-05-04T15:00Z"),
    ("Pacific/Apia", "2011-12-30T10:00Z"),
    ("Pacific/Kwajalein", "1993-08-21T12:00Z"),
]
CALM = [("Asia/Kathmandu", "2026-01-01T00:00Z"), ("UTC", "2026-03-01T00:00Z")]
POLICIES: list[tuple[Gap, Overlap]] = list(
    product(("auto", "skip", "after", "shift"), ("auto", "first", "second", "both"))
)
WINDOW_S = 30 * 3600  # either side of the change: more than Samoa's day


class Shown(NamedTuple):
    at_s: int
    wall_s: int
    first_pass: bool
    second_pass: bool


class Skipped(NamedTuple):
    wall_s: int
    after_s: int
    shift_s: int


class Listed:
    """Wall times from a list, which may go on each day of all years."""

    def __init__(self, times: list[int], keeps_pace: bool, daily: bool) -> None:
        self.keeps_pace, self.daily = keeps_pace, daily
        self.times = sorted({time % DAY_S for time in times} if daily else set(times))

    def next_wall(self, after_s: int) -> int | None:
        day_s = after_s // DAY_S * DAY_S if self.daily else 0
        index = bisect_right(self.times, after_s - day_s)
        if index < len(self.times):
            return day_s + self.times[index]
        return day_s + DAY_S + self.times[0] if self.daily else None

    def previous_wall(self, before_s: int) -> int | None:
        day_s = before_s // DAY_S * DAY_S if self.daily else 0
        index = bisect_left(self.times, before_s - day_s)
        if index:
            return day_s + self.times[index - 1]
        return day_s - DAY_S + self.times[-1] if self.daily else None

    def has(self, wall_s: int) -> bool:
        return (wall_s % DAY_S if self.daily else wall_s) in self.times


@lru_cache(64)
def own_zone(tz: str) -> ZoneInfo:
    with (Path(tz_source()) / tz).open("rb") as file:
        return ZoneInfo.from_file(file, key=tz)


def seconds(length: timedelta | None) -> int:
    assert length is not None
    return length // timedelta(seconds=1)


@lru_cache(256)
def clock(tz: str, change_s: int, window_s: int = WINDOW_S, step_s: int = 60) -> tuple[list[Shown], list[Skipped]]:
    """What a zone's clock shows and skips around a change, as zoneinfo tells it."""
    where, shown, skipped = own_zone(tz), [], []
    for at_s in range(change_s - window_s, change_s + window_s, step_s):
        wall = datetime.fromtimestamp(at_s, where)
        twice = wall.replace(fold=0).utcoffset() != wall.replace(fold=1).utcoffset()
        wall_s = seconds(wall.replace(tzinfo=None) - EPOCH)
        shown.append(Shown(at_s, wall_s, twice and wall.fold == 0, wall.fold == 1))
    walls = {one.wall_s for one in shown}
    for wall_s in range(shown[0].wall_s, shown[-1].wall_s, step_s):
        if wall_s not in walls:
            wall = (EPOCH + timedelta(seconds=wall_s)).replace(tzinfo=where)
            after_s = next(one.at_s for one in shown if one.wall_s > wall_s)
            skipped.append(Skipped(wall_s, after_s, wall_s - seconds(wall.utcoffset())))
    return shown, skipped


def oracle(pattern: Listed, gap: Gap, overlap: Overlap, table: tuple[list[Shown], list[Skipped]]) -> list[int]:
    if gap == "auto":
        gap = "skip" if pattern.keeps_pace else "after"
    if overlap == "auto":
        overlap = "both" if pattern.keeps_pace else "first"
    found = set()
    for one in table[0]:
        left_out = one.second_pass if overlap == "first" else one.first_pass if overlap == "second" else False
        if pattern.has(one.wall_s) and not left_out:
            found.add(one.at_s)
    for miss in table[1]:
        if pattern.has(miss.wall_s) and gap != "skip":
            found.add(miss.after_s if gap == "after" else miss.shift_s)
    return sorted(found)


def check(rec: WallRecurrence, expected_s: list[int], start_s: int, end_s: int, probes_s: list[int]) -> None:
    """The occurrences in [start, end), both ways, in windows, and from any place in between."""
    expected = [at_s * SECOND for at_s in expected_s]
    after_us, until_us = start_s * SECOND - 1, end_s * SECOND - 1
    assert rec.between(after_us, until_us, 10_000) == expected
    assert rec.last_between(after_us, until_us, 10_000) == expected
    assert rec.between(after_us, until_us, 3) == expected[:3]
    assert rec.last_between(after_us, until_us, 3) == expected[-3:]
    for probe_s in probes_s:
        following = rec.next_after(probe_s * SECOND)
        before = rec.previous_before(probe_s * SECOND)
        index = bisect_right(expected, probe_s * SECOND)
        if index < len(expected):
            assert following == expected[index]
            assert following is not None
            assert rec.previous_before(following + 1) == following
        index = bisect_left(expected, probe_s * SECOND)
        if index:
            assert before == expected[index - 1]
            assert before is not None
            assert rec.next_after(before - 1) == before


def instant(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


def test_the_changes_are_changes() -> None:
    for tz, text in CHANGES:
        at_s = instant(text)
        before, after = (datetime.fromtimestamp(at, own_zone(tz)).utcoffset() for at in (at_s - 1, at_s))
        assert before != after, (tz, text)


minutes = st.lists(st.integers(-90, 90) | st.integers(-26 * 60, 26 * 60), min_size=1, max_size=12)
"""Wall times as minutes from the time that the clock shows at the change."""
probes = st.lists(st.integers(-WINDOW_S, WINDOW_S) | st.integers(-7_200, 7_200), max_size=8)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(CHANGES + CALM), minutes, st.booleans(), st.booleans(), probes)
@example(CHANGES[0], [0, 30, 60, 90], False, True, [0, -1, 1])
@example(CHANGES[1], [-60, -30, 0, 30], False, True, [0, -1, 1])
@example(CHANGES[-2], [0, 720, 1439, 1440, -1], False, False, [0, -1, 1])
def test_each_policy_agrees_with_the_oracle(
    change: tuple[str, str], wall_min: list[int], keeps_pace: bool, daily: bool, probes_s: list[int]
) -> None:
    tz, change_s = change[0], instant(change[1])
    table = clock(tz, change_s)
    near_s = next(one.wall_s for one in table[0] if one.at_s >= change_s - 60) + 60
    pattern = Listed([near_s + minute * 60 for minute in wall_min], keeps_pace, daily)
    for gap, overlap in POLICIES:
        expected = oracle(pattern, gap, overlap, table)
        rec = WallRecurrence(pattern, tz, gap, overlap)
        check(rec, expected, change_s - WINDOW_S, change_s + WINDOW_S, [change_s + probe for probe in probes_s])


EDGES_S = [edge + step for edge in (-3_600, -1_800, 0, 1_800, 3_600) for step in (-1, 0, 1)]


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(CHANGES[:7]),  # by an hour or less: the window shows all of it
    st.lists(st.sampled_from(EDGES_S) | st.integers(-4_000, 4_000), min_size=1, max_size=20),
    st.booleans(),
    st.sampled_from(POLICIES),
    st.lists(st.integers(-5_400, 5_399), max_size=20),
)
@example(CHANGES[0], EDGES_S, False, ("skip", "first"), [0, 1, 3_600])
@example(CHANGES[1], EDGES_S, False, ("skip", "first"), [0, 1, 3_600])
@example(CHANGES[1], EDGES_S, True, ("skip", "second"), [0, 1, 3_600])
def test_each_second_agrees_with_the_oracle(
    change: tuple[str, str], wall: list[int], keeps_pace: bool, policies: tuple[Gap, Overlap], probes_s: list[int]
) -> None:
    tz, change_s = change[0], instant(change[1])
    table = clock(tz, change_s, 5_400, 1)
    near_s = next(one.wall_s for one in table[0] if one.at_s >= change_s - 1) + 1
    pattern = Listed([near_s + second for second in wall], keeps_pace, True)
    rec = WallRecurrence(pattern, tz, *policies)
    expected = oracle(pattern, *policies, table)
    check(rec, expected, change_s - 5_400, change_s + 5_400, [change_s + probe for probe in probes_s])


RESTLESS = [name for name in sorted(zone_names()) if b"," in (Path(tz_source()) / name).read_bytes()[-60:]]


def found_changes(tz: str, year: int) -> list[int]:
    """The changes of a year, found in steps of six hours."""
    where = own_zone(tz)

    def offset(at_s: int) -> timedelta | None:
        return datetime.fromtimestamp(at_s, where).utcoffset()

    start_s = int(datetime(year, 1, 1, tzinfo=UTC).timestamp())
    found = []
    for low in range(start_s, start_s + 365 * DAY_S, 6 * 3600):
        high = low + 6 * 3600
        if offset(low) != offset(high):
            before = offset(low)
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if offset(middle) == before else (low, middle)
            found.append(high)
    return found


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from(RESTLESS) | st.sampled_from(sorted(zone_names())),
    st.integers(1973, 2099),
    minutes,
    st.booleans(),
    st.sampled_from(POLICIES),
    probes,
)
def test_any_zone_in_any_year_agrees_with_the_oracle(
    tz: str, year: int, wall_min: list[int], keeps_pace: bool, policies: tuple[Gap, Overlap], probes_s: list[int]
) -> None:
    for change_s in found_changes(tz, year):
        table = clock(tz, change_s)
        near_s = next(one.wall_s for one in table[0] if one.at_s >= change_s - 60) + 60
        pattern = Listed([near_s // 60 * 60 + minute * 60 for minute in wall_min], keeps_pace, True)
        rec = WallRecurrence(pattern, tz, *policies)
        expected = oracle(pattern, *policies, table)
        check(rec, expected, change_s - WINDOW_S, change_s + WINDOW_S, [change_s + probe for probe in probes_s])


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from(sorted(zone_names())),
    st.lists(st.integers(0, DAY_S - 1), min_size=1, max_size=6),
    st.booleans(),
    st.sampled_from(POLICIES),
    st.integers(-2_000_000_000, 30_000_000_000),
    st.integers(0, 400 * DAY_S),
)
def test_steps_forward_and_back_meet(
    tz: str, times: list[int], keeps_pace: bool, policies: tuple[Gap, Overlap], start_s: int, length_s: int
) -> None:
    rec = WallRecurrence(Listed(times, keeps_pace, True), tz, *policies)
    after_us, until_us = start_s * SECOND, (start_s + length_s) * SECOND
    found = rec.between(after_us, until_us, 3_000)
    assert rec.last_between(after_us, until_us, 3_000) == found
    assert found == sorted(set(found))
    assert all(at_us % SECOND == 0 and after_us < at_us <= until_us for at_us in found)
    fresh = WallRecurrence(Listed(times, keeps_pace, True), tz, *policies)
    for at_us in found[:: max(len(found) // 20, 1)]:  # what it remembers of the stretch before must not matter
        assert fresh.next_after(at_us - 1) == at_us == fresh.previous_before(at_us + 1)
