"""The next fires of a preview, and what the changes of a clock do to them."""

from datetime import UTC, datetime

import pytest

from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.preview import Preview, crowded, preview
from noonmark.schedule.spec import (
    At,
    Cron,
    English,
    Every,
    Interval,
    Manual,
    Now,
    Rrule,
    ScheduleSpec,
    Times,
    instant_us,
)


def seen(spec: ScheduleSpec, at: str, **options) -> Preview:
    return preview(spec, now_us=instant_us(datetime.fromisoformat(at)), **options)


def locals_of(found: Preview) -> list[str]:
    return [fire.local for fire in found.fires]


def test_fires_stand_in_the_zone_and_in_utc():
    found = seen(Cron("0 9 * * *", tz="Asia/Kathmandu"), "2026-11-15T00:00Z", count=2)
    assert (found.tz, found.canonical, found.ends, found.last_at) == (
        "Asia/Kathmandu",
        "TZ=Asia/Kathmandu 0 9 * * *",
        False,
        None,
    )
    first, second = found.fires
    assert first.at == datetime(2026, 11, 15, 3, 15, tzinfo=UTC)
    assert (first.local, first.zone, first.note) == ("2026-11-15T09:00:00+05:45", "+0545", None)
    assert second.local == "2026-11-16T09:00:00+05:45"


def test_a_fixed_time_of_an_overlap_fires_the_first_time():
    found = seen(Cron("30 1 * * *", tz="America/New_York"), "2026-10-31T00:00Z", count=3)
    assert [(fire.local, fire.zone) for fire in found.fires] == [
        ("2026-10-31T01:30:00-04:00", "EDT"),
        ("2026-11-01T01:30:00-04:00", "EDT"),
        ("2026-11-02T01:30:00-05:00", "EST"),
    ]
    assert [fire.note for fire in found.fires] == [None, "the clock shows 01:30 twice: the first time", None]


def test_a_wildcard_fires_in_both_passes_of_an_overlap():
    found = seen(Cron("*/30 1 * * *", tz="America/New_York"), "2026-11-01T00:00Z", count=5)
    assert [(fire.local[11:], fire.note) for fire in found.fires] == [
        ("01:00:00-04:00", "the clock shows 01:00 twice: the first time"),
        ("01:30:00-04:00", "the clock shows 01:30 twice: the first time"),
        ("01:00:00-05:00", "the clock shows 01:00 twice: the second time"),
        ("01:30:00-05:00", "the clock shows 01:30 twice: the second time"),
        ("01:00:00-05:00", None),
    ]


@pytest.mark.parametrize(
    ("gap", "local", "note"),
    [
        ("auto", "2026-03-29T03:00:00+02:00", "the clock goes forward: moved from 02:30"),
        ("after", "2026-03-29T03:00:00+02:00", "the clock goes forward: moved from 02:30"),
        ("shift", "2026-03-29T03:30:00+02:00", "the clock goes forward: moved from 02:30"),
        ("skip", "2026-03-30T02:30:00+02:00", None),
    ],
)
def test_a_time_in_a_gap(gap, local, note):
    found = seen(Cron("30 2 * * *", tz="Europe/Berlin", gap=gap), "2026-03-28T12:00Z", count=1)
    assert [(fire.local, fire.note) for fire in found.fires] == [(local, note)]


def test_what_does_not_recur():
    assert seen(Manual(), "2026-01-01T00:00Z").fires == ()
    now = seen(Now(), "2026-01-01T00:00Z")
    assert (locals_of(now), now.ends) == (["2026-01-01T00:00:00+00:00"], True)
    at = seen(At(datetime(2026, 7, 1, tzinfo=UTC)), "2026-01-01T00:00Z", tz="Europe/Berlin")
    assert (locals_of(at), at.last_at) == (["2026-07-01T02:00:00+02:00"], datetime(2026, 7, 1, tzinfo=UTC))
    with pytest.raises(ScheduleError, match="past"):
        seen(At(datetime(2025, 7, 1, tzinfo=UTC)), "2026-01-01T00:00Z")


def test_a_zone_that_was_asked_for_shows_what_has_none():
    found = seen(Every("1h", anchor=datetime(2026, 1, 1, tzinfo=UTC)), "2026-07-01T00:00Z", tz="Asia/Kolkata", count=1)
    assert (found.tz, locals_of(found)) == ("Asia/Kolkata", ["2026-07-01T06:30:00+05:30"])
    own = seen(Cron("0 9 * * *", tz="Europe/Berlin"), "2026-07-01T00:00Z", tz="Asia/Kolkata", count=1)
    assert (own.tz, locals_of(own)) == ("Europe/Berlin", ["2026-07-01T09:00:00+02:00"])


@pytest.mark.parametrize(
    ("spec", "last"),
    [
        (Cron("0 9 * * *", end=datetime(2026, 1, 4, 9, tzinfo=UTC)), datetime(2026, 1, 4, 9, tzinfo=UTC)),
        (Cron("0 9 * * *", max_runs=3), datetime(2026, 1, 3, 9, tzinfo=UTC)),
        (Every("1d", anchor=datetime(2026, 1, 1, 9, tzinfo=UTC), max_runs=2), datetime(2026, 1, 2, 9, tzinfo=UTC)),
        (Rrule("DTSTART:20260101T090000Z\nRRULE:FREQ=DAILY;COUNT=4"), datetime(2026, 1, 4, 9, tzinfo=UTC)),
        (Interval("R5/2026-01-01T09:00Z/P1D"), datetime(2026, 1, 5, 9, tzinfo=UTC)),
        (
            Times((datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC))),
            datetime(2026, 3, 1, tzinfo=UTC),
        ),
    ],
)
def test_the_last_fire_of_what_ends(spec, last):
    found = seen(spec, "2026-01-01T00:00Z", count=100)
    assert (found.ends, found.last_at) == (True, last)
    assert found.fires[-1].at == last


def test_the_first_fire_of_a_fixed_delay_is_known():
    found = seen(Every("5m", pace="delay"), "2026-01-01T00:00Z")
    assert locals_of(found) == ["2026-01-01T00:05:00+00:00"]
    assert not found.ends
    assert [notice.code for notice in found.warnings] == ["fixed_delay"]


def test_english_is_echoed_as_what_it_was_understood_as():
    found = seen(English("every weekday at 9:30", tz="Europe/Berlin"), "2026-11-14T00:00Z", count=1)
    assert found.schedule == Cron("30 9 * * 1-5", tz="Europe/Berlin")
    assert found.canonical == "TZ=Europe/Berlin 30 9 * * 1-5"
    assert locals_of(found) == ["2026-11-16T09:30:00+01:00"]
    assert "9:30" in found.description


def test_a_name_decides_h():
    spec = Cron("H H * * *")
    without = seen(spec, "2026-01-01T00:00Z", count=1)
    assert without.canonical == "H H * * *"
    named = [seen(spec, "2026-01-01T00:00Z", count=1, key=f"1/{name}") for name in ("a", "b")]
    assert named[0].canonical != named[1].canonical
    for found in named:
        minute, hour, *_ = found.canonical.split()
        assert found.fires[0].local[11:16] == f"{int(hour):02}:{int(minute):02}"


def test_a_crowd_is_told_from_a_thousand_on():
    assert crowded(999, at="x") is None
    told = crowded(10_000, at="2026-01-01T00:00:00+00:00")
    assert told is not None
    assert told.message == ("10,000 other jobs fire in this second, 2026-01-01T00:00:00+00:00: consider H or jitter")
    about = crowded(123_456, at="x", estimated=True)
    assert about is not None
    assert about.message.startswith("about 120,000 other jobs")
