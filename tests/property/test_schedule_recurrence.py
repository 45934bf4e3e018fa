"""Laws of every recurrence, and cron against an oracle that looks at each minute of the wall clock."""

from datetime import UTC, datetime, timedelta

import msgspec
from cronsim import CronSim
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from noonmark.schedule import (
    Cron,
    Every,
    Interval,
    Recurrence,
    Rrule,
    ScheduleError,
    ScheduleSpec,
    Solar,
    canonical,
    describe,
    read_schedule,
    recurrence,
    timing,
    validate,
    write_schedule,
)
from noonmark.schedule.forms.cron_text import canonical_cron
from noonmark.schedule.spec import WallClock, instant_us
from noonmark.schedule.zones import offset_s, zone

SECOND = 1_000_000
# Around changes of each kind: an hour, half an hour, two hours, three hours, at and before midnight, a whole day.
CHANGES = [
    ("Europe/Berlin", "2026-03-29T01:00:00Z"),
    ("Europe/Berlin", "2026-10-25T01:00:00Z"),
    ("America/New_York", "2026-03-08T07:00:00Z"),
    ("America/New_York", "2026-11-01T06:00:00Z"),
    ("Australia/Lord_Howe", "2026-04-04T15:00:00Z"),
    ("Australia/Lord_Howe", "2026-10-03T15:30:00Z"),
    ("Antarctica/Troll", "2026-10-25T01:00:00Z"),
    ("Antarctica/Casey", "2020-03-07T16:00:00Z"),
    ("America/Havana", "2026-03-08T05:00:00Z"),
    ("America/Havana", "2025-11-02T05:00:00Z"),
    ("America/Sao_Paulo", "2018-02-18T02:00:00Z"),
    ("America/Sao_Paulo", "2018-11-04T03:00:00Z"),
    ("Pacific/Apia", "2011-12-30T10:00:00Z"),
    ("Asia/Kathmandu", "2026-01-01T00:00:00Z"),
    ("UTC", "2026-03-01T00:00:00Z"),
]
MINUTES = ["*", "*/7", "*/30", "0", "30", "0,15,45", "10-20", "0-59"]
HOURS = ["*", "*/2", "0", "1", "2", "1-3", "23", "0,5", "0-23"]
DAYS = ["*", "*/2", "1", "29", "L", "LW", "1,4,8,25"]
WEEKDAYS = ["*", "SUN", "1-5", "0L", "SUN#2", "*/3"]

expressions = st.tuples(*map(st.sampled_from, (MINUTES, HOURS, DAYS, ["*", "*", "3,10"], WEEKDAYS))).map(" ".join)
changes = st.sampled_from(CHANGES)
offsets_us = st.integers(-36 * 3600 * SECOND, 36 * 3600 * SECOND)


EXCLUSIONS = [(), (), ("sat-sun",), ("22:00-06:00",), ("holidays DE", "12-24/01-02"), ("mon 03:00-04:00",)]
RULES = [
    "FREQ=HOURLY;INTERVAL=5",
    "FREQ=DAILY;BYHOUR=2,3;BYMINUTE=30;BYSECOND=0",
    "FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,MO;BYHOUR=0;BYMINUTE=0;BYSECOND=0",
    "FREQ=MONTHLY;BYDAY=-1SU;BYHOUR=1;BYMINUTE=30;BYSECOND=0",
]
INTERVALS = ["R/2000-01-31T02:30:00/P1M", "R/2000-01-01T00:00:00/P1D", "R/2000-01-01T00:00:00/PT7M"]


@st.composite
def specs(draw: st.DrawFn, tz: str) -> ScheduleSpec:
    """One that fires for ever, or nearly so, of any kind."""
    left_out = {"exclude": draw(st.sampled_from(EXCLUSIONS)), "when_excluded": draw(st.sampled_from(["skip", "move"]))}
    by_the_wall = {
        "tz": tz,
        "gap": draw(st.sampled_from(["auto", "skip", "after", "shift"])),
        "overlap": draw(st.sampled_from(["auto", "first", "second", "both"])),
        **left_out,
    }
    match draw(st.sampled_from(["cron", "cron", "every", "rrule", "iso", "solar"])):
        case "every":
            return Every(draw(st.integers(60, 10_000)), tz=tz, **left_out)
        case "rrule":
            return Rrule(draw(st.sampled_from(RULES)), **by_the_wall)
        case "iso":
            return Interval(draw(st.sampled_from(INTERVALS)), **by_the_wall)
        case "solar":
            return Solar("sunrise", draw(st.integers(-60, 60)), draw(st.integers(-180, 180)), tz=tz, **left_out)
    several = [draw(expressions) for _ in range(draw(st.integers(1, 2)))]
    return Cron(draw(st.sampled_from(["", "", "7 "])) + "; ".join(several), **by_the_wall)


@st.composite
def recurrences(draw: st.DrawFn) -> tuple[Recurrence, int]:
    """A recurrence and a time near a change of its zone."""
    tz, change = draw(changes)
    at_us = instant_us(datetime.fromisoformat(change)) + draw(offsets_us)
    text = timing(draw(specs(tz)), key="a/b", created_us=instant_us(datetime(2001, 2, 3, tzinfo=UTC))).text
    assert text is not None
    return recurrence(text), at_us


def oracle(expression: str, tz: str, after_s: int, until_s: int) -> list[int]:
    """Debian's rule, minute by minute, with cronsim only to match a wall time that has no zone."""
    fields, where = expression.split(), zone(tz)
    epoch = datetime(1970, 1, 1)  # noqa: DTZ001

    def matches(wall: datetime) -> bool:
        return next(CronSim(expression, wall - timedelta(seconds=1))) == wall

    if fields[0].startswith("*") or fields[1].startswith("*"):
        instants = range(after_s - after_s % 60, until_s + 1, 60)
        return [s for s in instants if s > after_s and matches(epoch + timedelta(seconds=s + offset_s(where, s)))]
    found = set()
    margin_s = (30 if tz == "Pacific/Apia" else 4) * 3600
    first_s, last_s = after_s + offset_s(where, after_s) - margin_s, until_s + offset_s(where, until_s) + margin_s
    for wall_s in range(first_s // 60 * 60, last_s, 60):
        wall = epoch + timedelta(seconds=wall_s)
        if matches(wall):
            real = wall.replace(tzinfo=where)
            while real.astimezone(UTC).astimezone(where).replace(tzinfo=None, fold=0) != real.replace(tzinfo=None):
                real += timedelta(minutes=1)
            found.add(int(real.timestamp()))
    return sorted(s for s in found if after_s < s <= until_s)


@settings(max_examples=150, deadline=None)
@given(expressions, changes, st.integers(-6 * 60, 6 * 60), st.integers(0, 10 * 60))
@example("30 2 * * *", CHANGES[1], -30, 120)
@example("*/30 5 * * *", CHANGES[5], -60, 600)
def test_cron_agrees_with_the_oracle(
    expression: str, change: tuple[str, str], offset_min: int, length_min: int
) -> None:
    tz, text = change
    after_s = int(datetime.fromisoformat(text).timestamp()) + offset_min * 60
    until_s = after_s + length_min * 60
    cron = recurrence(f"cron:{canonical_cron(expression)}|{tz}|j0")
    found = [at // SECOND for at in cron.between(after_s * SECOND, until_s * SECOND, 10_000)]
    assert found == oracle(expression, tz, after_s, until_s)


@settings(max_examples=150, deadline=None)
@given(expressions, st.sampled_from(["UTC", "Europe/Berlin", "America/New_York"]), st.integers(0, 2**32), st.booleans())
def test_cron_agrees_with_cronsim(expression: str, tz: str, start_s: int, backwards: bool) -> None:
    """Where cronsim is right: zones that change by an hour away from midnight, from a start outside of the overlap."""
    start = datetime.fromtimestamp(start_s, zone(tz))
    assume(start.replace(fold=0).utcoffset() == start.replace(fold=1).utcoffset())
    cron = recurrence(f"cron:{canonical_cron(expression)}|{tz}|j0")
    found = cron.previous_before(start_s * SECOND) if backwards else cron.next_after(start_s * SECOND)
    # cronsim tells UTC by identity with datetime.UTC.
    there = datetime.fromtimestamp(start_s, UTC) if tz == "UTC" else start
    expected = next(CronSim(expression, there, reverse=backwards), None)
    assert found == (None if expected is None else instant_us(expected))


@settings(max_examples=150, deadline=None)
@given(recurrences())
def test_next_and_previous_are_inverse(case: tuple[Recurrence, int]) -> None:
    rec, at_us = case
    following, before = rec.next_after(at_us), rec.previous_before(at_us)
    assume(following is not None and before is not None)  # what is left out may be all there is
    assert following is not None
    assert before is not None
    assert before < at_us < following
    assert before % SECOND == following % SECOND == 0
    assert rec.next_after(before) in (at_us, following)
    assert rec.previous_before(following) in (at_us, before)
    assert rec.next_after(following - 1) == following
    assert rec.previous_before(before + 1) == before


@settings(max_examples=100, deadline=None)
@given(recurrences(), st.integers(0, 3600 * SECOND), st.integers(0, 3600 * SECOND))
def test_next_is_monotone(case: tuple[Recurrence, int], a: int, b: int) -> None:
    rec, at_us = case
    early, late = rec.next_after(at_us + min(a, b)), rec.next_after(at_us + max(a, b))
    assume(late is not None)
    assert early is not None
    assert late is not None
    assert early <= late


@settings(max_examples=100, deadline=None)
@given(recurrences(), st.integers(0, 8 * 3600 * SECOND), st.integers(0, 12))
def test_windows_are_repeated_steps(case: tuple[Recurrence, int], length_us: int, limit: int) -> None:
    rec, after_us = case
    until_us = after_us + length_us
    steps: list[int] = []
    at_us = rec.next_after(after_us)
    while at_us is not None and at_us <= until_us and len(steps) < 2_000:
        steps.append(at_us)
        at_us = rec.next_after(at_us)
    assume(len(steps) < 2_000)
    assert rec.between(after_us, until_us, limit) == steps[:limit]
    assert rec.last_between(after_us, until_us, limit) == steps[len(steps) - min(limit, len(steps)) :]


@given(st.text("0123456789*/-,LW#@ JANSUhourly?H|:", max_size=24), st.sampled_from(["UTC", "Europe/Berlin"]))
@settings(max_examples=400, deadline=None)
def test_any_text_is_refused_or_fires(text: str, tz: str) -> None:
    spec = Cron(text, tz)
    try:
        validate(spec, 0)
    except ScheduleError:
        return
    interned = timing(spec, key="", created_us=0).text
    assert interned is not None
    assert recurrence(interned).next_after(0) is not None
    assert canonical_cron(canonical_cron(text)) == canonical_cron(text)
    assert describe(spec)


@settings(max_examples=300, deadline=None)
@given(st.data(), st.sampled_from(["UTC", "Europe/Berlin", "Asia/Calcutta"]))
def test_canonical_forms(data: st.DataObject, tz: str) -> None:
    """What was understood stays so when it is read again, and equal schedules have one text."""
    spec = data.draw(specs(tz))
    plain = canonical(spec)
    assert canonical(plain) == plain
    assert timing(plain, key="a/b", created_us=0) == timing(spec, key="a/b", created_us=0)
    auto = {"gap": "auto", "overlap": "auto"} if isinstance(plain, WallClock) else {}
    bare = msgspec.structs.replace(plain, exclude=(), when_excluded="skip", **auto)
    if plain.tz == "UTC" or isinstance(plain, WallClock):
        assert canonical(read_schedule(write_schedule(bare))) == bare
