"""Cron by the wall clock against an oracle that reads the words of an expression for each day, minute and second."""

import calendar
import re
from collections.abc import Callable
from datetime import date, datetime, timedelta

from croniter import croniter
from cronsim import CronSim
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.forms.cron import CronPattern, cron_patterns
from noonmark.schedule.forms.cron_text import canonical_cron

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - a wall clock of no zone
MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
HORIZON_DAYS = 500

starts = st.integers(-2_000_000_000, 8_000_000_000)


# What fields are made of.


def numbers(low: int, high: int, names: list[str] | None = None) -> st.SearchStrategy[str]:
    plain = st.integers(low, high).map(str) | st.integers(low, high).map("{:02}".format)
    return plain if names is None else plain | st.sampled_from(names) | st.sampled_from(names).map(str.lower)


def terms(low: int, high: int, names: list[str] | None = None) -> st.SearchStrategy[str]:
    number, step = numbers(low, high, names), st.integers(1, high + 2).map(str)
    return st.one_of(
        number,
        st.just("*"),
        step.map("*/{}".format),
        st.tuples(number, number).map("-".join),
        st.tuples(number, step).map("/".join),
        st.tuples(number, number, step).map("{0[0]}-{0[1]}/{0[2]}".format),
    )


def fields(term: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.just("*") | term | st.lists(term, min_size=1, max_size=3).map(",".join)


weekday_numbers = numbers(0, 7, WEEKDAYS)
days = fields(
    terms(1, 31)
    | st.sampled_from(["L", "l", "LW", "1W", "31W", "L-2W"])
    | st.integers(0, 30).map("L-{}".format)
    | st.integers(1, 31).map("{}W".format)
) | st.just("?")
weekdays = fields(
    terms(0, 7, WEEKDAYS)
    | weekday_numbers.map("{}L".format)
    | st.tuples(weekday_numbers, st.integers(1, 5).map(str)).map("#".join)
) | st.just("?")
minutes, hours, months = fields(terms(0, 59)), fields(terms(0, 23)), fields(terms(1, 12, MONTHS))
five = st.tuples(minutes, hours, days, months, weekdays).map(" ".join)
expressions = five | st.tuples(minutes, five).map(" ".join)


# The oracle.


def number(word: str) -> int:
    word = word.upper()
    return MONTHS.index(word) + 1 if word in MONTHS else WEEKDAYS.index(word) if word in WEEKDAYS else int(word)


def listed(value: int, term: str, low: int, high: int) -> bool:
    """Whether a plain term names the value, found by walking from its first number to its last."""
    span, _, step = term.partition("/")
    if span == "*":
        return (value - low) % int(step or 1) == 0
    first, _, last = span.partition("-")
    at, end = number(first), number(last or first)
    if step and not last:
        end = high
    if high == 6:  # weekdays, where 7 is Sunday too
        at, end = (0, 6) if (at, end) == (0, 7) else (at % 7, end % 7)
    walked = 0
    while at != value or walked % int(step or 1):
        if at == end:
            return False
        at, walked = low if at == high else at + 1, walked + 1
    return True


def in_field(value: int, text: str, low: int, high: int) -> bool:
    return any(listed(value, term, low, high) for term in text.split(","))


def nearest_weekday(day: date) -> date:
    for away in (0, -1, 1, -2, 2):
        other = day + timedelta(days=away)
        if other.month == day.month and other.isoweekday() <= 5:
            return other
    raise AssertionError


def day_term(day: date, term: str) -> bool:
    term = term.upper()
    length = calendar.monthrange(day.year, day.month)[1]
    if "L" not in term and "W" not in term:
        return listed(day.day, term, 1, 31)
    if "L" in term:
        there = length - int(re.sub("[LW-]", "", term) or 0)
    else:
        there = int(term[:-1])
    if not 1 <= there <= length:
        return False
    meant = day.replace(day=there)
    return day == (nearest_weekday(meant) if "W" in term else meant)


def weekday_term(day: date, term: str) -> bool:
    term, weekday = term.upper(), day.isoweekday() % 7
    if "#" in term:
        word, nth = term.split("#")
        return number(word) % 7 == weekday and (day.day + 6) // 7 == int(nth)
    if term.endswith("L"):
        return number(term[:-1]) % 7 == weekday and (day + timedelta(days=7)).month != day.month
    return listed(weekday, term, 0, 6)


def day_matches(day: date, expression: str) -> bool:
    in_month, month, in_week = expression.replace("?", "*").split()[-3:]
    by_day = any(day_term(day, term) for term in in_month.split(","))
    by_weekday = any(weekday_term(day, term) for term in in_week.split(","))
    star = in_month.startswith("*") or in_week.startswith("*")
    return in_field(day.month, month, 1, 12) and ((by_day and by_weekday) if star else (by_day or by_weekday))


def oracle(expression: str, at: datetime, direction: int) -> datetime | None:
    """The nearest matching second in a direction, within the horizon."""
    words = expression.split()
    second, minute, hour = ["0", *words[:2]] if len(words) == 5 else words[:3]
    all_seconds = [n for n in range(60) if in_field(n, second, 0, 59)][::direction]
    all_minutes = [n for n in range(60) if in_field(n, minute, 0, 59)][::direction]
    all_hours = [n for n in range(24) if in_field(n, hour, 0, 23)][::direction]
    for away in range(HORIZON_DAYS):
        day = at.date() + timedelta(days=away * direction)
        if not day_matches(day, expression):
            continue
        for h in all_hours:
            for m in all_minutes:
                for s in all_seconds:
                    found = datetime(day.year, day.month, day.day, h, m, s)  # noqa: DTZ001
                    if (found > at) if direction > 0 else (found < at):
                        return found
    return None


# The laws.


def wall(seconds: int) -> datetime:
    return EPOCH + timedelta(seconds=seconds)


def read(expression: str) -> CronPattern:
    try:
        return CronPattern(canonical_cron(expression))
    except ScheduleError as error:
        assume("never fire" not in error.message)
        raise


@settings(max_examples=250, deadline=None)
@given(expressions, starts, st.sampled_from([1, -1]))
@example("0 0 29 2 *", 951_782_400, 1)
@example("0 22-3/2 25-5/2 nov-feb fri-mon", 0, -1)
@example("0 0 31W * *", 0, 1)
@example("59/7 23/5 31/3 12/2 6/2", 0, 1)
def test_cron_agrees_with_the_words_of_its_fields(expression: str, start_s: int, direction: int) -> None:
    pattern = read(expression)
    found = pattern.next_wall(start_s) if direction > 0 else pattern.previous_wall(start_s)
    expected = oracle(expression, wall(start_s), direction)
    if expected is not None:
        assert found == (expected - EPOCH) // timedelta(seconds=1)
    else:
        assert found is None or abs(found - start_s) > (HORIZON_DAYS - 2) * 86_400


def cronsim_reads(expression: str) -> bool:
    """It lacks wrap-around, W, L-3 and ?; takes 5-5/2 for 5/2; and lets a step from a weekday reach Sunday as 7."""
    plain = expression.upper()
    if "?" in plain or re.search(r"L-|\dW|[A-Z]L", plain):
        return False
    for low, high in re.findall(r"(\w+)-(\w+)", plain):
        if number(low) >= number(high):
            return False
    return not any(re.match(r"\w+/", term) for term in plain.split()[-1].split(","))


def croniter_reads(expression: str) -> bool:
    """It has no L-3, LW, 5L; takes 5-5 and 59/2 for the whole field; miscounts steps that wrap; joins `*/2` in a day
    field with the other one by OR, but #, W and `1,*` by AND.
    """
    plain = expression.upper()
    if len(plain.split()) == 6 or "L" in plain or "W" in plain or "#" in plain:
        return False
    if any(number(low) >= number(high) for low, high in re.findall(r"(\w+)-(\w+)", plain)):
        return False
    if re.search(r"(?<![-\w])\w+/", plain):
        return False
    in_month, _, in_week = plain.replace("?", "*").split()[-3:]
    return "*" in (in_month, in_week) or "*" not in in_month + in_week


def agreeing(peer: Callable[[str], bool]) -> st.SearchStrategy[str]:
    return expressions.filter(peer)


@settings(max_examples=200, deadline=None)
@given(agreeing(cronsim_reads), starts, st.booleans())
def test_cron_agrees_with_cronsim_by_the_wall_clock(expression: str, start_s: int, backwards: bool) -> None:
    pattern = read(expression)
    found = pattern.previous_wall(start_s) if backwards else pattern.next_wall(start_s)
    expected = next(CronSim(expression, wall(start_s), reverse=backwards), None)
    assert (None if found is None else wall(found)) == expected


@settings(max_examples=100, deadline=None)
@given(agreeing(croniter_reads), starts, st.booleans())
def test_cron_agrees_with_croniter_by_the_wall_clock(expression: str, start_s: int, backwards: bool) -> None:
    pattern = read(expression)
    found = pattern.previous_wall(start_s) if backwards else pattern.next_wall(start_s)
    steps = croniter(expression, wall(start_s), ret_type=datetime)
    assert found is not None
    assert wall(found) == (steps.get_prev() if backwards else steps.get_next())


@settings(max_examples=150, deadline=None)
@given(expressions, starts)
def test_next_and_previous_mirror_each_other(expression: str, at_s: int) -> None:
    pattern = read(expression)
    after, before = pattern.next_wall(at_s), pattern.previous_wall(at_s)
    if after is None or before is None:  # a rare date, near the end of the years
        return
    assert before < at_s < after
    assert pattern.next_wall(before) in (at_s, after)
    assert pattern.previous_wall(after) in (at_s, before)
    assert pattern.next_wall(after - 1) == after
    assert pattern.previous_wall(before + 1) == before


@settings(max_examples=150, deadline=None)
@given(st.lists(expressions, min_size=1, max_size=4), st.text(max_size=9))
def test_canonical_text_is_its_own_canonical_text(several: list[str], key: str) -> None:
    for chosen in (None, key):
        try:
            text = canonical_cron(";".join(several), chosen)
        except ScheduleError as error:
            assert "never fire" in error.message  # noqa: PT017
            return
        assert canonical_cron(text) == canonical_cron(text.lower(), "other") == text
        assert len(cron_patterns(text)) == len(set(text.split("; "))) <= len(several)


hash_terms = st.sampled_from(["H", "H/2", "h/7", "H(3-6)", "H(6-3)", "H(1-6)/3", "*", "1", "H,2"])


@settings(max_examples=200, deadline=None)
@given(st.tuples(hash_terms, hash_terms, hash_terms, hash_terms, hash_terms).map(" ".join), st.text(max_size=20))
def test_a_hash_becomes_numbers_that_stay(expression: str, key: str) -> None:
    assume("H/7 " not in expression.upper().split(" ", 4)[4] + " ")
    text = canonical_cron(expression, key)
    assert "H" not in text
    assert canonical_cron(canonical_cron(expression), key) == text
    assert CronPattern(text).next_wall(0) is not None


@settings(max_examples=500, deadline=None)
@given(
    st.text("0123456789*/-,LW#@ JANSUhourly?H(); \u0663\u017f", max_size=30)
    | st.lists(st.text("059*/-,LW#?H()JAN", min_size=1, max_size=5), min_size=5, max_size=6).map(" ".join)
    | st.text(max_size=40),
    st.none() | st.text(max_size=3),
)
def test_any_cron_text_is_refused_or_fires(text: str, key: str | None) -> None:
    try:
        canonical = canonical_cron(text, key)
    except ScheduleError as error:
        assert error.field == "schedule.cron"  # noqa: PT017
        assert error.fix  # noqa: PT017
        return
    assert canonical_cron(canonical, key) == canonical
    for pattern in cron_patterns(canonical_cron(text, "tenant/name")):
        assert pattern.next_wall(0) is not None
        assert pattern.previous_wall(4_000_000_000) is not None
