"""Laws of plain English: what is said is read back, and no sentence does harm."""

import string
from datetime import UTC, datetime

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from noonmark.schedule.canonical import canonical
from noonmark.schedule.english import describe, read_english
from noonmark.schedule.english.tokens import KNOWN, MAX_LENGTH
from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.forms.cron import cron_patterns
from noonmark.schedule.spec import Cron, Rrule, ScheduleSpec

WEEKDAYS = ["monday", "tue", "Wednesdays", "thurs", "friday", "saturday", "sun"]
MONTHS = ["january", "feb", "march", "april", "may", "jun", "july", "august", "sept", "october", "nov", "december"]


def joined(items: st.SearchStrategy[str], most: int = 4, last: str = "and") -> st.SearchStrategy[str]:
    """a, b and c."""
    lists = st.lists(items, min_size=1, max_size=most, unique=True)
    return lists.map(lambda words: f" {last} ".join(filter(None, (", ".join(words[:-1]), words[-1]))))


def phrase(*parts: str | st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    strategies = [st.just(part) if isinstance(part, str) else part for part in parts]
    return st.tuples(*strategies).map(lambda words: " ".join(filter(None, words)))


clock = st.one_of(
    st.tuples(st.integers(0, 23), st.integers(0, 59)).map(lambda at: f"{at[0]}:{at[1]:02}"),
    st.tuples(st.integers(1, 12), st.sampled_from(["am", "pm", " pm"])).map(lambda at: f"{at[0]}{at[1]}"),
    st.sampled_from(["noon", "midnight", "0:00", "17:00", "23:59", "9:30:15"]),
)
times = phrase("at", joined(clock, 6))
window = st.tuples(st.integers(0, 23), st.integers(0, 23), st.sampled_from(["00", "30", "07"])).map(
    lambda at: f"between {at[0]}:{at[2]} and {at[1]}:{at[2]}"
)
ordinals = st.sampled_from(
    ["1st", "first", "second", "3rd", "15th", "28th", "last day and 4th", "second to last", "last"]
)
weekdays = joined(st.sampled_from([*WEEKDAYS, "weekdays", "weekends", "mon-thu", "fri to sun"]))
nth = phrase(
    "the", joined(st.sampled_from(["first", "2nd", "third", "fourth", "5th", "last"]), 3), st.sampled_from(WEEKDAYS)
)
month_days = st.one_of(
    nth,
    phrase("the", joined(st.integers(1, 28).map(lambda n: {1: "1st", 2: "2nd", 3: "3rd"}.get(n, f"{n}th")))),
    phrase("the", joined(ordinals, 2), "day"),
    phrase("the", st.sampled_from(["first", "last", "first and last", "third", "second to last"]), "business day"),
    st.sampled_from(["the weekday nearest the 15th", "3 days before the last day", "the 1st to 7th"]),
)
period = st.one_of(
    st.sampled_from(["of each month", "of the quarter", "of the year", "in every month", ""]),
    phrase(st.sampled_from(["of", "in"]), joined(st.sampled_from([*MONTHS, "june to august"]))),
)
days = st.one_of(
    st.sampled_from(
        ["every day", "daily", "every weekday", "once a day", "monthly", "quarterly", "yearly", "every year"]
    ),
    phrase("on", weekdays, st.one_of(st.just(""), phrase("in", joined(st.sampled_from(MONTHS))))),
    phrase("on", st.one_of(month_days, joined(month_days, 3)), period),
    phrase("on", month_days, "or on", weekdays),
    phrase("on", joined(st.tuples(st.integers(1, 28), st.sampled_from(MONTHS)).map("{0[0]} {0[1]}".format))),
)
paces = st.one_of(
    st.tuples(st.integers(1, 120), st.sampled_from(["seconds", "minutes", "hours"])).map("every {0[0]} {0[1]}".format),
    st.sampled_from(
        ["hourly", "every minute", "every half hour", "every hour at minute 20", "every 2 hours at minutes 5 to 9"]
    ),
    st.sampled_from(["every minute at seconds 7 and 30", "every 1 hour and 30 minutes", "every 1h30m", "every hour"]),
)
steps = st.one_of(
    phrase(st.sampled_from(["every other", "every 2", "every 3"]), "weeks on", weekdays, times),
    phrase(st.sampled_from(["every 2", "every 5"]), "days", times),
    phrase("every 3 months on", month_days, times),
    phrase("every 2 years on", month_days, period, times),
    st.sampled_from(
        ["every 90 minutes counted from 2026-01-05 at 8:00", "5 minutes after each run ends", "every 2 weeks"]
    ),
)
bodies = st.one_of(
    phrase(times, days),
    phrase(days, times),
    phrase(paces, st.one_of(st.just(""), window), st.one_of(st.just(""), days)),
    steps,
    st.tuples(phrase(times, days), phrase(times, days)).map("; ".join),
    st.sampled_from(["on 2026-12-24 at 18:00", "at 2026-12-24T18:00Z", "now", "manually", "on 2026-12-24"]),
)
rules = joined(
    st.one_of(
        st.sampled_from(
            ["on holidays in DE-BY", "holidays in US and FR", "between 22:00 and 6:00", "2026-12-24", "in august"]
        ),
        st.sampled_from(
            [
                "from 24 december to 2 january",
                "1 may",
                "weekends between 1:00 and 3:30",
                "from 2026-12-24 to 2027-01-02",
            ]
        ),
        st.sampled_from(["between 2026-12-24 at 18:00 and 2026-12-25 at 6:00", "on friday", "mon-wed", "22:00-6:00"]),
    ),
    3,
)
extras = st.lists(
    st.one_of(
        st.sampled_from(
            ["starting 2026-01-05", "until 2026-12-31", "until 2026-10-25 at 2:30", "at most 5 times", "for 3 times"]
        ),
        st.sampled_from(["(Europe/Berlin)", "in America/New_York", "UTC", "in america/havana", "starting 2026-03-08"]),
        phrase("except", rules),
        phrase("except", rules, "moved to the next allowed time"),
        phrase("only", rules),
    ),
    max_size=3,
)
sentences = st.tuples(bodies, extras).map(lambda parts: ", ".join([parts[0], *parts[1]]))


def understood(sentence: str, tz: str | None = None) -> ScheduleSpec | None:
    try:
        return read_english(sentence, tz)
    except ScheduleError as refused:
        error = refused
    assert error.field == "schedule.english"
    assert error.message
    assert error.fix
    return None


@given(sentences)
@settings(max_examples=400, deadline=None)
@example("every 15 minutes between 22:30 and 2:00")
@example("every hour between 9:00 and 8:00")
@example("on the 13th or on mon-sun at 9:00")
def test_what_is_said_is_read_back(sentence: str) -> None:
    spec = understood(sentence)
    assume(spec is not None)
    assert spec is not None
    told = describe(spec)
    assume(len(told) <= MAX_LENGTH)
    assert read_english(told) == spec
    assert canonical(spec) == spec or not isinstance(spec, Cron | Rrule)


@given(sentences, st.sampled_from([str.upper, str.lower, str.title, lambda text: text.replace(" ", "  \t")]))
@settings(max_examples=150, deadline=None)
def test_case_and_spaces_do_not_matter(sentence: str, changed) -> None:
    assume(len(changed(sentence)) <= MAX_LENGTH)
    assert understood(changed(sentence)) == understood(sentence)


word = st.one_of(
    st.sampled_from(KNOWN),
    st.sampled_from(
        [*",;()-", "UTC", "Europe/Berlin", "2026-12-24", "DE", "9:30", "8am", "1st", "5", "05/06/26", "90m", "24:00"]
    ),
    st.integers(0, 2000).map(str),
    st.text(string.printable + "½éß²İ٣", max_size=5),
)


@given(st.lists(word, max_size=14).map(" ".join))
@settings(max_examples=800, deadline=2_000)
def test_any_words_are_refused_or_understood(sentence: str) -> None:
    spec = understood(sentence)
    if spec is not None:
        assert describe(spec)


minutes = st.sampled_from(
    ["*", "*/15", "0", "30", "0,30", "5-20", "10-50/10", "*/7", "0,15,45", "H", "H/15", "H(0-29)"]
)
hours = st.sampled_from(["*", "*/2", "0", "9-17", "22-2", "8,18", "9-16/3", "H", "H(0-7)", "1-23/2", "*/5"])
dates = st.sampled_from(["*", "1", "1,15", "L", "L-3", "15W", "LW", "1W", "1-7", "*/2", "L-3W", "13,L", "H", "2-30/2"])
months = st.sampled_from(["*", "*", "1,7", "6-8", "*/3", "11-2", "H"])
of_week = st.sampled_from(["*", "*", "1-5", "0,6", "5L", "5#2", "1#1,1#3", "fri-mon", "*/2", "3,5L", "H", "0-7"])
fields = st.tuples(minutes, hours, dates, months, of_week).map(" ".join)
expressions = st.one_of(
    fields,
    st.tuples(st.sampled_from(["*", "0", "*/20", "7", "15,45", "H"]), fields).map(" ".join),
    st.lists(fields, min_size=2, max_size=3).map("; ".join),
)


def occurrences(cron: str) -> list[int]:
    """The next thirty days of times, by the wall clock, as far as the first few of each expression."""
    found: set[int] = set()
    for pattern in cron_patterns(cron):
        at = int(datetime(2026, 1, 30, 21, 7, tzinfo=UTC).timestamp())
        for _ in range(40):
            after = pattern.next_wall(at)
            if after is None:
                break
            found.add(after)
            at = after
    return sorted(found)


@given(expressions)
@settings(max_examples=400, deadline=None)
def test_every_cron_has_a_sentence_and_none_that_is_read_otherwise(expression: str) -> None:
    """A sentence outside of the grammar is refused; one inside of it means the same times."""
    try:
        spec = canonical(Cron(expression))
    except ScheduleError:
        return
    assert isinstance(spec, Cron)
    told = describe(spec)
    assert told[0].isupper()
    assert "  " not in told
    again = understood(told)
    assert isinstance(again, Cron | None)
    if again is not None and "; " not in again.cron + spec.cron:
        assert occurrences(again.cron) == occurrences(spec.cron)
        assert describe(again) == told
