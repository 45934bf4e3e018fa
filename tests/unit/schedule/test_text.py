"""A schedule as one string: which form a text is taken for, and back."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from noonmark.schedule import (
    At,
    Cron,
    English,
    Every,
    Interval,
    Manual,
    Now,
    Rrule,
    ScheduleError,
    ScheduleSpec,
    Solar,
    Times,
    canonical,
    read_schedule,
    write_schedule,
)
from noonmark.schedule.text import MAX_TEXT

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
LATER = datetime(2030, 1, 1, 15, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("*/5 * * * *", Cron("*/5 * * * *")),
        ("  0 9 * * MON-FRI ", Cron("0 9 * * MON-FRI")),
        ("30 2 1 1 0", Cron("30 2 1 1 0")),
        ("H H(0-7) LW * ?", Cron("H H(0-7) LW * ?")),
        ("0 30 9 15W jan-mar fri#2", Cron("0 30 9 15W jan-mar fri#2")),
        ("0 9 * * *; 0 17 * * *", Cron("0 9 * * *; 0 17 * * *")),
        ("61 * * * moon", Cron("61 * * * moon")),
        ("@daily", Cron("@daily")),
        ("@every 1h30m", Every("1h30m")),
        ("CRON_TZ=Europe/Berlin 0 9 * * *", Cron("0 9 * * *", "Europe/Berlin")),
        ("tz=Asia/Tokyo @hourly", Cron("@hourly", "Asia/Tokyo")),
        ("5m", Every("5m")),
        ("1h30m", Every("1h30m")),
        ("PT5M", Every("PT5M")),
        ("R5/2030-01-01T12:00:00Z/PT1H", Interval("R5/2030-01-01T12:00:00Z/PT1H")),
        ("r/PT5M", Interval("r/PT5M")),
        ("FREQ=DAILY;BYHOUR=9", Rrule("FREQ=DAILY;BYHOUR=9")),
        ("TZ=Asia/Tokyo RRULE:FREQ=DAILY", Rrule("RRULE:FREQ=DAILY", "Asia/Tokyo")),
        ("2030-01-01T12:00:00Z", At(NOON)),
        ("2030-01-01 13:00+01:00", At(NOON)),
        ("TZ=Europe/Berlin 2030-01-01T13:00", At(NOON)),
        ("2030-01-01T12:00Z, 2030-01-01T13:00Z", Times((NOON, NOON + timedelta(hours=1)))),
        ("sunrise 52.52,13.405 -30m", Solar("sunrise", 52.52, 13.405, "-30m")),
        ("dusk -33.9, 151.2", Solar("dusk", -33.9, 151.2)),
        ("now", Now()),
        ("Manual", Manual()),
        ("every weekday at 9:30", English("every weekday at 9:30")),
        ("TZ=Europe/Berlin every weekday at 9:30", English("every weekday at 9:30", "Europe/Berlin")),
        ("5 minutes after each run ends", English("5 minutes after each run ends")),
        ("300", English("300")),
        ("", English("")),
    ],
)
def test_the_form_is_told_by_its_looks(text: str, spec: ScheduleSpec) -> None:
    assert read_schedule(text) == spec


def test_a_zone_beside_the_text() -> None:
    assert read_schedule("0 9 * * *", "Asia/Tokyo") == Cron("0 9 * * *", "Asia/Tokyo")
    assert read_schedule("TZ=Asia/Calcutta 0 9 * * *", "Asia/Kolkata") == Cron("0 9 * * *", "Asia/Calcutta")
    with pytest.raises(ScheduleError, match="two time zones"):
        read_schedule("TZ=Asia/Tokyo 0 9 * * *", "Europe/Berlin")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2030-01-01T25:00Z", "is not a time"),
        ("2030-01-01T12:00", "has no zone"),
        ("sunrise 1.2.3,4", "names no place"),
        ("x" * (MAX_TEXT + 1), "characters are more than"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        read_schedule(text)
    assert message in caught.value.message
    assert caught.value.fix


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (Cron("0 9 * * 1-5", "Europe/Berlin"), "TZ=Europe/Berlin 0 9 * * 1-5"),
        (Cron("0 9 * * 1-5"), "0 9 * * 1-5"),
        (Every("1h30m"), "1h30m"),
        (Every("5m", pace="delay"), "every 5m after the previous run ended"),
        (At(NOON), "2030-01-01T12:00:00+00:00"),
        (Times((NOON, LATER)), "2030-01-01T12:00:00+00:00,2030-01-01T15:00:00+02:00"),
        (Solar("sunrise", 52.52, 13.405, -1800), "sunrise 52.52,13.405 -30m"),
        (Solar("dusk", 0, 0), "dusk 0,0"),
        (Now(), "now"),
        (Manual(), "manual"),
    ],
)
def test_written_and_read_again(spec: ScheduleSpec, text: str) -> None:
    assert write_schedule(spec) == text
    assert canonical(read_schedule(text)) == canonical(spec)
