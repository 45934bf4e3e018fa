"""A preview of any text is an answer or a ScheduleError, and its fires are those of the recurrence."""

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from noonmark.schedule import bounded, timing
from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.preview import preview
from noonmark.schedule.spec import Cron, instant_us
from noonmark.schedule.text import read_schedule

WORDS = st.sampled_from(
    [
        "every", "weekday", "month", "9:30", "noon", "last", "friday", "first", "day", "of", "the", "at", "on", "15",
        "minutes", "2", "weeks", "between", "and", "*", "*/7", "0", "9-17", "L", "5#2", "H", "31", "FREQ=DAILY", ";",
        "RRULE:FREQ=YEARLY", "R/", "R5/2026-01-01T00:00Z/P1M", "2026-01-01T00:00Z", ",", "TZ=Europe/Berlin", "@daily",
        "5m", "PT5M", "sunrise", "52,13", "now",
    ]
)  # fmt: skip
TEXTS = st.one_of(st.lists(WORDS, max_size=7).map(" ".join), st.text(max_size=30))
ZONES = st.sampled_from(
    ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Nuuk", "Asia/Tokyo"]
)
INSTANTS = st.integers(0, 4_000_000_000).map(lambda second: second * 1_000_000)


@settings(max_examples=150, deadline=None)
@given(text=TEXTS, now_us=INSTANTS)
def test_any_text_is_answered_or_refused(text, now_us):
    try:
        found = preview(read_schedule(text), now_us=now_us)
    except ScheduleError:
        return
    assert found.description
    times = [fire.at for fire in found.fires]
    assert times == sorted(set(times))
    again = preview(found.schedule, now_us=now_us)
    assert (again.canonical, again.fires) == (found.canonical, found.fires)


@settings(max_examples=100, deadline=None)
@given(
    minute=st.sampled_from(["0", "30", "*/15", "*", "15,45"]),
    hour=st.sampled_from(["0", "1", "2", "*", "*/2", "1-3", "23"]),
    tz=ZONES,
    gap=st.sampled_from(["auto", "skip", "after", "shift"]),
    overlap=st.sampled_from(["auto", "first", "second", "both"]),
    now_us=INSTANTS,
)
def test_what_is_told_of_a_change_of_the_clock_is_what_happens(minute, hour, tz, gap, overlap, now_us):
    spec = Cron(f"{minute} {hour} * * *", tz=tz, gap=gap, overlap=overlap)
    found = preview(spec, now_us=now_us, count=100)
    whole = bounded(timing(spec, key="", created_us=now_us), now_us)
    assert whole is not None
    assert [instant_us(fire.at) for fire in found.fires] == whole.between(now_us, 2**62, 100)
    for fire in found.fires:
        local = datetime.fromisoformat(fire.local)
        assert local.astimezone(UTC) == fire.at
        plain = (hour in ("*", "*/2", "1-3") or local.hour == int(hour)) and (
            minute in ("*", "*/15", "15,45") or local.minute == int(minute)
        )
        assert plain or (fire.note or "").startswith("the clock goes forward: moved from ")
