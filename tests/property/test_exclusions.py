"""Recurrences with excluded times, against an oracle that walks from one quarter of an hour (or minute) to the next."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import NamedTuple

from hypothesis import example, given, settings
from hypothesis import strategies as st

from noonmark.schedule.calendar.filtered import Filtered
from noonmark.schedule.calendar.rules import canonical_rule, read_rule
from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.forms.every import EveryRecurrence
from noonmark.schedule.zones import zone

SECOND = 1_000_000
EXAMPLES = 40
DAY_S = 86_400
# Changes of the clock by an hour, half an hour, at and around midnight, and of a whole day.
CHANGES = [
    ("Europe/Berlin", "2026-03-29T01:00Z"),
    ("Europe/Berlin", "2026-10-25T01:00Z"),
    ("America/New_York", "2026-11-01T06:00Z"),
    ("Australia/Lord_Howe", "2026-10-03T15:30Z"),
    ("America/Havana", "2024-03-10T05:00Z"),
    ("America/Havana", "2024-11-03T05:00Z"),
    ("America/Sao_Paulo", "2018-02-18T02:00Z"),
    ("America/Sao_Paulo", "2018-11-04T03:00Z"),
    ("America/Scoresbysund", "2024-03-31T01:00Z"),
    ("America/St_Johns", "2010-11-07T02:31Z"),
    ("Pacific/Apia", "2011-12-30T10:00Z"),
    ("Asia/Kathmandu", "2026-01-01T00:00Z"),
    ("UTC", "2028-02-29T00:00Z"),
]
NAMES = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
HOURS = [
    ("22:00", "06:00"),
    ("00:00", "12:00"),
    ("12:00", "24:00"),
    ("01:30", "03:00"),
    ("18:15", "18:45"),
]

Holds = Callable[[datetime], bool]


class Made(NamedTuple):
    """A rule as text, whether it names whole days, and what it means."""

    text: str
    whole_days: bool
    holds: Holds


@st.composite
def day_sets(draw: st.DrawFn, base: date) -> tuple[str, Callable[[date], bool]]:
    kind = draw(st.sampled_from(["week", "week", "week", "date", "dates", "yearly", "over", "month", "holidays"]))
    first = base + timedelta(days=draw(st.integers(-4, 4)))
    last = first + timedelta(days=draw(st.integers(0, 5)))
    if kind == "week":
        start, length = draw(st.integers(0, 6)), draw(st.integers(0, 5))
        chosen = {(start + step) % 7 for step in range(length + 1)}
        text = f"{NAMES[start]}-{NAMES[(start + length) % 7]}" if length else NAMES[start]
        return text, lambda day: day.weekday() in chosen
    if kind == "date":
        return f"{first}", lambda day: day == first
    if kind == "dates":
        return f"{first}/{last}", lambda day: first <= day <= last
    if kind == "yearly":
        days = {(first + timedelta(days=step)).strftime("%m-%d") for step in range((last - first).days + 1)}
        return f"{first:%m-%d}/{last:%m-%d}", lambda day: day.strftime("%m-%d") in days | ({"02-29"} & _leap(days))
    if kind == "over":
        return "12-30/01-02", lambda day: (day.month, day.day) in {(12, 30), (12, 31), (1, 1), (1, 2)}
    if kind == "month":
        return f"{base:%b}".lower(), lambda day: day.month == base.month
    return "holidays ECB", lambda day: (day.month, day.day) in {(1, 1), (5, 1), (12, 25), (12, 26)} or day in EASTER


def _leap(days: set[str]) -> set[str]:
    return {"02-29"} if {"02-28", "03-01"} <= days else set()


EASTER = {
    date(2010, 4, 2), date(2010, 4, 5), date(2011, 4, 22), date(2011, 4, 25), date(2018, 3, 30), date(2018, 4, 2),
    date(2017, 4, 14), date(2017, 4, 17), date(2019, 4, 19), date(2019, 4, 22), date(2023, 4, 7), date(2023, 4, 10),
    date(2024, 3, 29), date(2024, 4, 1), date(2025, 4, 18), date(2025, 4, 21), date(2026, 4, 3), date(2026, 4, 6),
    date(2027, 3, 26), date(2027, 3, 29), date(2028, 4, 14), date(2028, 4, 17), date(2009, 4, 10), date(2009, 4, 13),
    date(2012, 4, 6), date(2012, 4, 9), date(2029, 3, 30), date(2029, 4, 2),
}  # fmt: skip


@st.composite
def rules(draw: st.DrawFn, base: date) -> Made:
    kind = draw(st.sampled_from(["days", "days", "hours", "both", "both", "wall", "instants"]))
    if kind == "days":
        text, chosen = draw(day_sets(base))
        return Made(text, True, lambda at: chosen(at.date()))
    if kind in ("hours", "both"):
        start, end = draw(st.sampled_from(HOURS))
        text, chosen = draw(day_sets(base)) if kind == "both" else ("", lambda day: True)
        return Made(f"{text} {start}-{end}".strip(), False, _within(chosen, start, end))
    first = datetime.combine(base, datetime.min.time()) + timedelta(minutes=15 * draw(st.integers(-300, 300)))
    last = first + timedelta(minutes=15 * draw(st.integers(1, 400)))
    text = f"{first:%Y-%m-%dT%H:%M}/{last:%Y-%m-%dT%H:%M}"
    if kind == "wall":
        return Made(text, False, lambda at: first <= at.replace(tzinfo=None) < last)
    start_utc, end_utc = first.replace(tzinfo=UTC), last.replace(tzinfo=UTC)
    return Made(text.replace("/", "Z/") + "Z", False, lambda at: start_utc <= at.astimezone(UTC) < end_utc)


def _within(chosen: Callable[[date], bool], start: str, end: str) -> Holds:
    def holds(at: datetime) -> bool:
        clock = at.strftime("%H:%M")
        if start < end:
            return chosen(at.date()) and start <= clock < end
        return (chosen(at.date()) and clock >= start) or (chosen(at.date() - timedelta(days=1)) and clock < end)

    return holds


class Oracle:
    def __init__(self, tz: str, grain_s: int, exclude: list[Made], only: list[Made]) -> None:
        where = zone(tz)
        self.grain_s = grain_s
        self.wall = cache(lambda at_s: datetime.fromtimestamp(at_s, where))
        self.exclude, self.only = exclude, only
        self.allowed = cache(self._allowed)
        self.closed = cache(self._closed)
        self.instants = cache(self._instants)
        self.next_day = cache(self._next_day)
        self.ahead: dict[int, int] = {}

    def _allowed(self, at_s: int) -> bool:
        wall = self.wall(at_s)
        kept = not self.only or any(rule.holds(wall) for rule in self.only)
        return kept and not any(rule.holds(wall) for rule in self.exclude)

    def _instants(self, day: date) -> list[int]:
        noon_s = int(datetime(day.year, day.month, day.day, 12, tzinfo=UTC).timestamp())
        around = range(noon_s - 27 * 3600, noon_s + 27 * 3600, self.grain_s)
        return [at_s for at_s in around if self.wall(at_s).date() == day]

    def _closed(self, day: date) -> bool:
        instants = self.instants(day)
        noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
        if not instants or any(rule.whole_days and rule.holds(noon) for rule in self.exclude):
            return True
        walls = [self.wall(at_s) for at_s in instants]
        return bool(self.only) and not any(rule.holds(wall) for wall in walls for rule in self.only)

    def moved(self, at_s: int) -> int | None:
        latest_s, passed = at_s + 366 * DAY_S, []
        while at_s <= latest_s and not self.allowed(at_s):
            passed.append(at_s)
            at_s = self.ahead.get(at_s) or self.step(at_s)
        self.ahead.update(dict.fromkeys(passed, at_s))
        return at_s if at_s <= latest_s else None

    def step(self, at_s: int) -> int:
        wall = self.wall(at_s)
        return self.same_time_later(wall) if self.closed(wall.date()) else at_s + self.grain_s

    def _next_day(self, day: date) -> date | None:
        later = (day + timedelta(days=days) for days in range(1, 400))
        return next((day for day in later if not self.closed(day)), None)

    def same_time_later(self, wall: datetime) -> int:
        day = self.next_day(wall.date())
        if day is None:
            return 2**40
        instants = self.instants(day)
        exact = [at_s for at_s in instants if self.wall(at_s).time() == wall.time()]
        if exact:
            return exact[0]
        # In a gap: the first instant with a later time that is before any earlier time of the day or the day's end.
        later = [at_s for at_s in instants if self.wall(at_s).time() > wall.time()]
        return later[0] if later else instants[-1] + self.grain_s


class Case(NamedTuple):
    filtered: Filtered
    fires_s: list[int]
    until_s: int
    base_s: int


@st.composite
def cases(draw: st.DrawFn) -> Case:
    tz, change = draw(st.sampled_from(CHANGES))
    base_s = int(datetime.fromisoformat(change).timestamp())
    base = datetime.fromtimestamp(base_s, zone(tz)).date()
    exclude = draw(st.lists(rules(base), max_size=3))
    only = draw(st.lists(rules(base), max_size=0 if tz == "America/St_Johns" else 2))
    return build(tz, base_s, exclude, only, draw(st.booleans()), draw(st.integers(1, 60)), draw(st.integers(0, 200)))


def build(tz: str, base_s: int, exclude: list[Made], only: list[Made], move: bool, period: int, phase: int) -> Case:
    grain_s = 60 if tz == "America/St_Johns" else 900
    period_s, phase_s = period * 3600, phase * grain_s
    inner = EveryRecurrence(period_s * SECOND, phase_s * SECOND)
    texts = [tuple(rule.text for rule in some) for some in (exclude, only)]
    oracle = Oracle(tz, grain_s, exclude, only)
    weekly = any(rule.text[:3] in NAMES or rule.text[2] == ":" for rule in only)
    back_days = 380 if move and only and not weekly else 40
    until_s = base_s + 20 * DAY_S
    fires = set()
    for at_us in inner.between((base_s - back_days * DAY_S) * SECOND, until_s * SECOND, 100_000):
        at_s = at_us // SECOND
        landed = oracle.moved(at_s) if move else at_s if oracle.allowed(at_s) else None
        if landed is not None and landed <= until_s:
            fires.add(landed)
    return Case(Filtered(inner, tz, *texts, move), sorted(fires), until_s, base_s)


@settings(max_examples=EXAMPLES, deadline=None)
@given(cases(), st.lists(st.integers(-10 * 96, 10 * 96), min_size=1, max_size=6), st.integers(0, 9), st.data())
def test_agrees_with_the_oracle(case: Case, places: list[int], limit: int, data: st.DataObject) -> None:
    filtered, fires = case.filtered, case.fires_s
    for place in places:
        at_s = case.base_s + place * 900
        index = bisect_right(fires, at_s)
        found = filtered.next_after(at_s * SECOND)
        if index < len(fires):
            assert found == fires[index] * SECOND
        else:
            assert found is None or found > case.until_s * SECOND
        index = bisect_left(fires, at_s)
        found = filtered.previous_before(at_s * SECOND)
        earliest_s = case.base_s - 20 * DAY_S
        if index and fires[index - 1] >= earliest_s:
            assert found == fires[index - 1] * SECOND
        else:
            assert found is None or found < earliest_s * SECOND
        end_s = at_s + data.draw(st.integers(0, 5 * 96)) * 900
        inside = [fire * SECOND for fire in fires if at_s < fire <= end_s]
        assert filtered.between(at_s * SECOND, end_s * SECOND, limit) == inside[:limit]
        assert (
            filtered.last_between(at_s * SECOND, end_s * SECOND, limit)
            == inside[len(inside) - min(limit, len(inside)) :]
        )


@settings(max_examples=EXAMPLES // 2, deadline=None)
@given(cases(), st.booleans())
def test_a_walk_through_tells_every_occurrence_once(case: Case, backwards: bool) -> None:
    """Step by step, so that what was remembered at one step serves the next."""
    first_s, last_s = case.base_s - 15 * DAY_S, case.base_s + 15 * DAY_S
    expected = [fire * SECOND for fire in case.fires_s if first_s < fire <= last_s]
    if backwards:
        assert case.filtered.last_between(first_s * SECOND, last_s * SECOND, 10_000) == expected
    else:
        assert case.filtered.between(first_s * SECOND, last_s * SECOND, 10_000) == expected


pieces = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        [
            "holidays",
            "DE",
            "de-by",
            "NYSE",
            "sat-sun",
            "weekdays",
            "mon,wed",
            "12-24",
            "02-29",
            "2026-12-24",
            "/",
            "-",
            " ",
        ]
    ),
    st.sampled_from(
        ["22:00-06:00", "24:00", "T", "Z", "+14:00", "2026-12-24T18:00", "jul-aug", "9999-12-31", "|", ";"]
    ),
    st.text("0123456789-/:TZ ,", max_size=8),
)


@settings(max_examples=600, deadline=None)
@given(st.lists(pieces, max_size=6), st.sampled_from(["", " "]))
@example(["2026-12-24T18:00", "Z", "/", "9999-12-31T24:00Z"], "")
@example(["holidays", "DE-" + "é" * 80], " ")
def test_any_text_is_a_rule_or_refused(parts: list[str], between: str) -> None:
    text = between.join(parts)
    try:
        rule = read_rule(text, "schedule.only[3]")
    except ScheduleError:
        return
    canonical = canonical_rule(text, "schedule.only[3]")
    assert canonical_rule(canonical, "schedule.only[3]") == canonical
    assert read_rule(canonical, "schedule.only[3]") == rule
    assert not set("|;\n") & set(canonical)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(CHANGES), st.data())
def test_a_reason_is_given_for_what_is_excluded_and_nothing_else(change: tuple[str, str], data: st.DataObject) -> None:
    tz, at = change
    base_s = int(datetime.fromisoformat(at).timestamp())
    base = datetime.fromtimestamp(base_s, zone(tz)).date()
    exclude, only = (data.draw(st.lists(rules(base), max_size=3)) for _ in range(2))
    oracle = Oracle(tz, 900, exclude, only)
    inner = EveryRecurrence(900 * SECOND, 0)
    filtered = Filtered(inner, tz, tuple(rule.text for rule in exclude), tuple(rule.text for rule in only))
    for at_s in range(base_s // 900 * 900 - 2 * DAY_S, base_s + 2 * DAY_S, 4500):
        reason = filtered.excluded_reason(at_s * SECOND)
        assert (reason is None) == oracle.allowed(at_s) == (filtered.moved_to(at_s * SECOND) is not None)
