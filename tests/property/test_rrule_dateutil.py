"""Rules of RFC 5545 agree with dateutil, which steps from DTSTART, wherever dateutil follows the RFC."""

from datetime import datetime, timedelta
from itertools import islice, takewhile
from typing import Any

import pytest
from dateutil.rrule import rruleset, rrulestr
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.forms.rrule import RulePattern, read_rrule, with_start

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001
LIMIT = 40
WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
FREQUENCIES = ("YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY")


def wall_s(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(seconds=1)


def moment(wall: int) -> datetime:
    return EPOCH + timedelta(seconds=wall)


starts = st.datetimes(datetime(1997, 1, 1), datetime(2040, 12, 31)).map(lambda at: at.replace(microsecond=0))  # noqa: DTZ001


def numbers(least: int, greatest: int, *, from_end: bool = False) -> st.SearchStrategy[str]:
    values = st.integers(least, greatest)
    if from_end:
        values |= st.integers(-greatest, -1)
    return st.lists(values, min_size=1, max_size=4).map(lambda found: ",".join(map(str, found)))


@st.composite
def rules(draw: Any, start: datetime) -> str:
    """A rule that the RFC allows and that dateutil reads as the RFC does."""
    frequency = draw(st.sampled_from(FREQUENCIES))
    by_the_day = FREQUENCIES.index(frequency) < 4
    intervals = st.integers(1, 5) | st.integers(1, 60) if by_the_day else st.integers(1, 100)
    parts = {"FREQ": frequency, "INTERVAL": str(draw(intervals)), "WKST": draw(st.sampled_from(WEEKDAYS))}

    def maybe(name: str, values: st.SearchStrategy[str], chance: int = 3) -> None:
        if draw(st.integers(1, chance)) == 1:
            parts[name] = draw(values)

    maybe("BYMONTH", numbers(1, 12))
    if frequency in ("YEARLY", "HOURLY", "MINUTELY", "SECONDLY"):
        maybe("BYYEARDAY", numbers(1, 366, from_end=True), 5)
    if frequency != "WEEKLY":
        maybe("BYMONTHDAY", numbers(1, 31, from_end=True))
    days = st.lists(st.sampled_from(WEEKDAYS), min_size=1, max_size=3).map(",".join)
    if frequency in ("YEARLY", "MONTHLY"):
        nth = st.builds(
            lambda n, day: f"{n}{day}", st.sampled_from((1, 2, 3, 4, 5, -1, -2, -5)), st.sampled_from(WEEKDAYS)
        )
        # dateutil takes plain and counted weekdays together (MO,2TU) for their intersection.
        days |= st.lists(nth, min_size=1, max_size=3).map(",".join)
    maybe("BYDAY", days, 2)
    maybe("BYHOUR", numbers(0, 23), 4)
    maybe("BYMINUTE", numbers(0, 59), 4)
    maybe("BYSECOND", numbers(0, 59), 4)
    # dateutil counts the positions of the first week from DTSTART, not from the start of the week.
    if frequency != "WEEKLY" and any(name.startswith("BY") for name in parts):
        maybe("BYSETPOS", numbers(1, 5, from_end=True))
    bound = draw(st.sampled_from(("", "", "COUNT", "UNTIL")))
    if bound == "COUNT":
        parts["COUNT"] = str(draw(st.integers(1, 50)))
    elif bound == "UNTIL":
        parts["UNTIL"] = (
            f"{start + timedelta(days=draw(st.integers(0, 2000)), hours=draw(st.integers(0, 23))):%Y%m%dT%H%M%S}"
        )
    return ";".join(f"{name}={value}" for name, value in parts.items())


def by_dateutil(start: datetime, rule: str, limit: int) -> list[int]:
    return [wall_s(at) for at in islice(rrulestr(rule, dtstart=start), limit)]


def forwards(pattern: RulePattern, after_s: int, limit: int = LIMIT) -> list[int]:
    found: list[int] = []
    at_s = pattern.next_wall(after_s)
    while at_s is not None and len(found) < limit:
        found.append(at_s)
        at_s = pattern.next_wall(at_s)
    return found


def backwards(pattern: RulePattern, before_s: int, limit: int) -> list[int]:
    found: list[int] = []
    at_s = pattern.previous_wall(before_s)
    while at_s is not None and len(found) < limit:
        found.append(at_s)
        at_s = pattern.previous_wall(at_s)
    return found[::-1]


@given(st.data(), starts)
@settings(max_examples=100, deadline=None)
def test_agrees_with_dateutil(data: Any, start: datetime) -> None:
    rule = data.draw(rules(start))
    body = f"DTSTART={start:%Y%m%dT%H%M%S};{rule}"
    try:
        parts = read_rrule(body, None)
    except ScheduleError as error:
        # dateutil would search such a rule up to the year 9999.
        assert "never fire" in error.message  # noqa: PT017
        return
    assert read_rrule(parts.body, "UTC").body == parts.body
    pattern = RulePattern(parts.body)
    mine = forwards(pattern, wall_s(start) - 1)
    # Past an end that is neither, dateutil would search on to the year 9999.
    past_the_end = len(mine) < LIMIT and ("UNTIL" in rule or parts.count == len(mine))
    assert mine == by_dateutil(start, rule, len(mine) + past_the_end)
    assert mine == sorted(set(mine))
    assert backwards(RulePattern(parts.body), 2**40 if past_the_end else mine[-1] + 1, LIMIT) == mine
    # From anywhere within, and with a block of occurrences in memory that was made for another question.
    for index in data.draw(st.lists(st.integers(0, len(mine) - 1), max_size=5)):
        assert pattern.next_wall(mine[index] - 1) == mine[index]
        assert pattern.previous_wall(mine[index] + 1) == mine[index]
        if index:
            between = (mine[index - 1] + mine[index]) // 2
            assert RulePattern(parts.body).next_wall(between) == mine[index]
            assert RulePattern(parts.body).previous_wall(between + 1) == mine[index - 1]
            assert pattern.next_wall(mine[index - 1]) == mine[index]
            assert pattern.previous_wall(mine[index]) == mine[index - 1]


@given(st.data(), starts)
@settings(max_examples=30, deadline=None)
def test_dates_are_added_and_removed(data: Any, start: datetime) -> None:
    rule = data.draw(rules(start))
    try:
        mine = forwards(RulePattern(f"DTSTART={start:%Y%m%dT%H%M%S};{rule}"), wall_s(start) - 1)
    except ScheduleError:
        return
    assume(mine)
    nearby = st.sampled_from(mine) | st.integers(mine[0], mine[-1] + 1)
    removed = data.draw(st.lists(nearby, min_size=1, max_size=6))
    added = data.draw(st.lists(nearby, min_size=1, max_size=6))
    texts = [",".join(f"{moment(wall):%Y%m%dT%H%M%S}" for wall in walls) for walls in (added, removed)]
    text = f"DTSTART:{start:%Y%m%dT%H%M%S}\nRRULE:{rule}\nRDATE:{texts[0]}\nEXDATE:{texts[1]}"
    expected = rruleset()
    for wall in mine:
        expected.rdate(moment(wall))
    for wall in added:
        expected.rdate(moment(wall))
    for wall in removed:
        expected.exdate(moment(wall))
    until = moment(mine[-1])
    wanted = [wall_s(at) for at in takewhile(lambda at: at <= until, expected)]
    if not wanted:
        return
    pattern = RulePattern(read_rrule(text, None).body)
    assert [wall for wall in forwards(pattern, mine[0] - 1, 60) if wall <= mine[-1]] == wanted
    assert backwards(RulePattern(read_rrule(text, None).body), mine[-1] + 1, 60) == wanted


@given(st.data(), starts, st.integers(0, 120 * 366 * 86_400))
@settings(max_examples=30, deadline=None)
def test_far_from_the_start_as_from_the_start(data: Any, start: datetime, later_s: int) -> None:
    """A start moved on by whole intervals, as dateutil's would have to be, changes nothing that comes after."""
    rule = data.draw(rules(start))
    assume("COUNT" not in rule and "UNTIL" not in rule)
    body = f"DTSTART={start:%Y%m%dT%H%M%S};{rule}"
    try:
        parts = read_rrule(body, None)
    except ScheduleError:
        return
    pattern = RulePattern(parts.body)
    later = pattern.next_wall(wall_s(start) + later_s)
    if later is None:
        return
    before = pattern.previous_wall(later)
    assert before is None or before <= wall_s(start) + later_s
    explicit = parts.explicit(wall_s(start))
    moved = RulePattern(explicit.body.replace(f"{start:%Y%m%dT%H%M%S}", f"{moment(later):%Y%m%dT%H%M%S}", 1))
    assert forwards(moved, later - 1) == forwards(pattern, later - 1)


@given(st.data(), starts)
@settings(max_examples=30, deadline=None)
def test_a_rule_without_a_start_counts_from_creation(data: Any, created: datetime) -> None:
    rule = data.draw(rules(created))
    assume("UNTIL" not in rule)
    unstarted = read_rrule(rule, None)
    started = f"DTSTART={created:%Y%m%dT%H%M%S};{rule}"
    created_s = wall_s(created)
    try:
        expected = forwards(RulePattern(started), created_s)
        assume(expected)
        body = with_start(unstarted.body, created_s)
    except ScheduleError:
        return
    assert with_start(body, created_s + 12_345) == body
    mine = forwards(RulePattern(body), created_s)
    if unstarted.count is None:
        assert mine == expected
    else:
        # One more than DTSTART has that is itself the first of the count.
        assert mine[: len(expected)] == expected
        assert len(expected) <= len(mine) <= min(len(expected) + 1, unstarted.count)
        assert RulePattern(body).previous_wall(created_s + 1) is None


PARTS = (
    "FREQ=",
    "INTERVAL=",
    "COUNT=",
    "UNTIL=",
    "BYDAY=",
    "BYSETPOS=",
    "BYMONTHDAY=",
    "BYHOUR=",
    "BYWEEKNO=",
    "WKST=",
)
LINES = ("RRULE:", "DTSTART:", "DTSTART;TZID=", "Europe/Berlin", "EXDATE:", "RDATE;VALUE=DATE:", "20260101T090000", "Z")
SIGNS = ("20260131", ";", ",", "=", ":", "\n", "\\n", " ", "-1", "0", "7", "31", "99999", "|")
words = st.sampled_from((*FREQUENCIES, *WEEKDAYS, *PARTS, *LINES, *SIGNS))


@given(st.lists(words, max_size=14).map("".join) | st.text(max_size=60), st.sampled_from((None, "UTC", "Asia/Tokyo")))
@settings(max_examples=300, deadline=500)
def test_any_text_is_read_or_refused(text: str, tz: str | None) -> None:
    try:
        parts = read_rrule(text, tz)
        body = with_start(parts.body, 1_770_000_000)
    except ScheduleError as error:
        assert error.fix  # noqa: PT017
        return
    assert "|" not in body
    assert "\n" not in body
    pattern = RulePattern(body)
    for at_s in (0, 1_800_000_000, 2**40, -(2**40)):
        following, previous = pattern.next_wall(at_s), pattern.previous_wall(at_s)
        assert following is None or following > at_s
        assert previous is None or previous < at_s


@pytest.mark.timeout(20)
@given(
    st.sampled_from(FREQUENCIES[3:]),
    st.integers(1, 100_000) | st.sampled_from((7, 60, 61, 1440, 3600, 86_400, 86_401, 604_800)),
    st.lists(
        st.sampled_from(
            (
                *("BYMONTH=2", "BYMONTHDAY=30", "BYMONTHDAY=29,31", "BYDAY=MO", "BYHOUR=0,7,14,21", "BYHOUR=3"),
                *("BYMINUTE=0,7,14,21,28", "BYMINUTE=59", "BYSECOND=0,7,14,21,28,35", "BYSECOND=1", "BYSETPOS=-1"),
            )
        ),
        max_size=7,
        unique_by=lambda part: part.split("=")[0],
    ),
)
@settings(max_examples=60, deadline=1_500)
def test_rare_rules_are_searched_quickly(frequency: str, interval: int, parts: list[str]) -> None:
    try:
        body = read_rrule(
            ";".join([f"DTSTART=20260101T000000;FREQ={frequency};INTERVAL={interval}", *parts]), None
        ).body
    except ScheduleError:
        return
    first = RulePattern(body).next_wall(2_524_608_000)
    assert first is None or RulePattern(body).previous_wall(first + 1) == first
