"""The JSON of a schedule, its interned text, its validation and its sentence."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from noonmark.errors import InvalidInput
from noonmark.schedule import (
    At,
    Cron,
    English,
    Every,
    Manual,
    Now,
    ScheduleError,
    ScheduleSpec,
    Times,
    Timing,
    describe,
    instant_us,
    once_at_us,
    recurrence,
    timing,
    validate,
)

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
NOW_US = instant_us(NOW)
DAY = timedelta(days=1)


def decode(text: str) -> ScheduleSpec:
    return msgspec.json.decode(text, type=ScheduleSpec)


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ('{"kind":"now"}', Now()),
        ('{"kind":"manual"}', Manual()),
        ('{"kind":"at","at":"2026-01-01T12:00:00Z"}', At(NOW)),
        ('{"kind":"every","every":"5m"}', Every("5m")),
        ('{"kind":"every","every":90,"anchor":"2026-01-01T12:00:00Z"}', Every(90, NOW)),
        ('{"kind":"cron","cron":"*/5 * * * *"}', Cron("*/5 * * * *")),
        ('{"kind":"cron","cron":"*/5 * * * *","tz":"Europe/Berlin"}', Cron("*/5 * * * *", "Europe/Berlin")),
    ],
)
def test_json_round_trip(text: str, spec: ScheduleSpec) -> None:
    assert decode(text) == spec
    assert msgspec.json.encode(spec).decode() == text


@pytest.mark.parametrize(
    "text", ['{"kind":"never"}', '{"kind":"now","at":1}', '{"cron":"* * * * *"}', '{"kind":"cron"}']
)
def test_unknown_json_is_refused(text: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        decode(text)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (Cron("*/5 * * * *", "Europe/Berlin"), "cron:*/5 * * * *|Europe/Berlin|j0"),
        (Cron("  */05\t* * jan-Mar  mon-FRI,sun "), "cron:*/5 * * 1-3 1-5,0|UTC|j0"),
        (Cron("0 0 * * 7"), "cron:0 0 * * 0|UTC|j0"),
        (Cron("0 0 * * 1-7"), "cron:0 0 * * 1-7|UTC|j0"),
        (Cron("0 0 lw * fri#2"), "cron:0 0 LW * 5#2|UTC|j0"),
        (Cron("@Hourly", "Etc/UTC"), "cron:0 * * * *|UTC|j0"),
        (Cron("*/1 */1 * * *"), "cron:* * * * *|UTC|j0"),
        (Every("60m", NOW), "every:3600|phase 0|j0"),
        (Every(3600, NOW + timedelta(seconds=137)), "every:3600|phase 137|j0"),
        (Every("1h", datetime(2026, 1, 1, 13, 2, 17, tzinfo=UTC)), "every:3600|phase 137|j0"),
    ],
)
def test_interned_text(spec: ScheduleSpec, text: str) -> None:
    assert timing(spec, key="", created_us=NOW_US).text == text


def test_interned_jitter() -> None:
    for jitter_s, text in (
        (0, "j0"),
        (30, "j30"),
        (30.0, "j30"),
        (0.5, "j0.5"),
        (86_399.999, "j86399.999"),
        (10, "j10"),
    ):
        interned = timing(Cron("@daily"), key="", created_us=NOW_US, jitter_s=jitter_s).text
        assert interned is not None
        assert interned == f"cron:0 0 * * *|UTC|{text}"
        assert recurrence(interned).jitter_us == round(jitter_s * 1_000_000)


def test_once_is_not_interned() -> None:
    assert [timing(spec, key="", created_us=NOW_US) for spec in (Now(), At(NOW), Manual())] == [Timing()] * 3
    assert [once_at_us(spec, 5) for spec in (Now(), At(NOW), Manual(), Every(5))] == [5, NOW_US, None, None]


def test_every_without_anchor_first_fires_one_period_after_creation() -> None:
    created_us = NOW_US + 137_400_000
    text = timing(Every("5m"), key="", created_us=created_us, jitter_s=30).text
    assert text == "every:300|phase 137|j30"
    assert recurrence(text).next_after(created_us) == NOW_US + 437_000_000


@pytest.mark.parametrize(
    "text",
    ["", "cron:", "cron:* * * * *|UTC", "cron:61 * * * *|UTC|j0", "cron:* * * * *|Mars|j0", "every:x|phase 1|j0"],
)
def test_a_damaged_interned_text_is_a_bug_not_bad_input(text: str) -> None:
    with pytest.raises(ValueError, match="interned schedule"):
        recurrence(text)


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        (Cron("61 * * * *"), "schedule.cron", "the minute field '61'"),
        (Cron("* * * * MOON"), "schedule.cron", "the day-of-week field 'MOON'"),
        (Cron("* * * 13 *"), "schedule.cron", "the month field '13'"),
        (Cron("* 24 * * *"), "schedule.cron", "the hour field '24'"),
        (Cron("60 * * * * *"), "schedule.cron", "the second field '60'"),
        (Cron("* * 32 * *"), "schedule.cron", "the day-of-month field '32'"),
        (Cron("*/0 * * * *"), "schedule.cron", "the minute field '*/0'"),
        (Cron("٣ * * * *"), "schedule.cron", "the minute field"),
        (Cron("0 0 31 2 *"), "schedule.cron", "never fire"),
        (Cron("0 0 30 FEB *"), "schedule.cron", "never fire"),
        (Cron("0 0 */31 * SUN#2"), "schedule.cron", "never fire"),
        (Cron("*/10 2 * 3 0L", "Europe/Berlin"), "schedule.cron", "never fire"),
        (Cron("* * * *"), "schedule.cron", "not a cron expression"),
        (Cron(""), "schedule.cron", "not a cron expression"),
        (Cron("@reboot"), "schedule.cron", "not a cron expression"),
        (Cron("* " * 200), "schedule.cron", "above the bound"),
        (Cron("* * * * *", "Mars/Olympus"), "schedule.tz", "'Mars/Olympus' is not a known time zone"),
        (Cron("* * * * *", "../../etc/passwd"), "schedule.tz", "not a known time zone"),
        (Cron("* * * * *", "Europe"), "schedule.tz", "not a known time zone"),
        (Cron("* * * * *", ""), "schedule.tz", "not a known time zone"),
        (At(NOW - timedelta(microseconds=1)), "schedule.at", "in the past"),
        (At(NOW.replace(tzinfo=None)), "schedule.at", "no zone"),
        (Every("250ms"), "schedule.every", "not a period in whole seconds"),
        (Every(0), "schedule.every", "below the shortest period"),
        (Every("5m", NOW.replace(tzinfo=None)), "schedule.anchor", "no zone"),
        (Every("5m", max_runs=0), "schedule.max_runs", "out of bounds"),
        (Every("5m", end=NOW), "schedule.end", "in the past"),
        (Every("5m", start=NOW + 2 * DAY, end=NOW + DAY), "schedule.end", "ends before it starts"),
        (Every("5m", when_excluded="move"), "schedule.when_excluded", "nothing to move"),
        (Every("5m", NOW, pace="delay"), "schedule.anchor", "not known ahead"),
        (Every("5m", pace="delay", exclude=("sat-sun",)), "schedule.exclude", "not known ahead"),
        (Every("5m", exclude=("mon-sun",)), "schedule.every", "never fire"),
        (Every(1, exclude=("2026-02-01/2026-02-20",), when_excluded="move"), "schedule.when_excluded", "10,000"),
        (Every("5m", exclude=("sat-sun",) * 33), "schedule.exclude", "more than 32"),
        (Every("5m", exclude=("noday",)), "schedule.exclude[0]", "noday"),
        (Times((NOW - DAY,)), "schedule.times", "never fire"),
        (English("every day at 9 until 2027-01-01", end=NOW + DAY), "schedule.end", "something else"),
        (English("at 2027-01-01 12:00", max_runs=2), "schedule.max_runs", "single time"),
        (English("every 7 minutes", gap="skip"), "schedule.gap", "wall clock"),
        (Every("5m", NOW.replace(microsecond=1)), "schedule.anchor", "whole second"),
    ],
)
def test_refused(spec: ScheduleSpec, field: str, message: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        validate(spec, NOW_US)
    assert isinstance(caught.value, InvalidInput)
    assert caught.value.field == field
    assert message in caught.value.message
    assert caught.value.fix


def test_the_fix_suggests_the_zone_that_was_meant() -> None:
    with pytest.raises(ScheduleError) as caught:
        validate(Cron("* * * * *", "europe/berlin"), NOW_US)
    assert caught.value.fix == "did you mean 'Europe/Berlin'?"


@pytest.mark.parametrize(
    "spec",
    [
        Now(),
        Manual(),
        At(NOW),
        Every(1),
        Every("5m", NOW - timedelta(days=9)),
        Cron("0 0 29 2 *"),
        Cron("@yearly", "Asia/Gaza"),
    ],
)
def test_accepted(spec: ScheduleSpec) -> None:
    validate(spec, NOW_US)


def test_jitter_must_not_hold_too_many_occurrences_open() -> None:
    validate(Every("1m"), NOW_US, jitter_s=3600)
    for spec, jitter_s in ((Every("1s"), 65), (Cron("* * * * *"), 86_400), (Every("2d"), 86_401), (Now(), -1)):
        with pytest.raises(ScheduleError) as caught:
            validate(spec, NOW_US, jitter_s=jitter_s)
        assert caught.value.field == "jitter_s"


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (Now(), "Once, right away"),
        (At(NOW), "Once, at 2026-01-01T12:00+00:00"),
        (Every(5400), "Every 1 hour and 30 minutes, counted from creation"),
        (Every("5m", NOW), "Every 5 minutes, counted from 2026-01-01 at 12:00"),
        (Cron("*/5 * * * *", "Europe/Berlin"), "Every 5 minutes (Europe/Berlin)"),
        (Cron("@daily"), "At 00:00 every day (UTC)"),
        (Manual(), "Only when triggered"),
    ],
)
def test_sentence(spec: ScheduleSpec, sentence: str) -> None:
    assert describe(spec) == sentence
