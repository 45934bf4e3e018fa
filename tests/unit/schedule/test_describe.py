"""Every kind of schedule as a sentence."""

from datetime import datetime
from typing import Any

import pytest

from noonmark.schedule.english import describe
from noonmark.schedule.errors import ScheduleError
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
    Solar,
    Times,
)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


CRON = [
    ("30 9 * * 1-5", "At 09:30 on weekdays"),
    ("@daily", "At 00:00 every day"),
    ("@hourly", "Every hour"),
    ("*/15 9-16 * * 1-5", "Every 15 minutes between 09:00 and 16:45 on weekdays"),
    ("*/15 9-16 * * MON-FRI; 0 17 * * MON-FRI", "Every 15 minutes between 09:00 and 17:00 on weekdays"),
    ("0 12 * * 5L", "At 12:00 on the last Friday of each month"),
    ("0 8 1W 1,4,7,10 *", "At 08:00 on the first weekday of January, April, July and October"),
    ("0 8 * * 0-6", "At 08:00 every day"),
    ("0 8 1W */3 *", "At 08:00 on the first weekday of January, April, July and October"),
    ("* * * * *", "Every minute"),
    ("* * * * * *", "Every second"),
    ("*/20 * * * * *", "Every 20 seconds"),
    ("15 * * * * *", "Every minute at second 15"),
    ("15 30 9 * * *", "At 09:30:15 every day"),
    ("0,30 * * * *", "Every 30 minutes"),
    ("20 * * * *", "Every hour at minute 20"),
    ("20 */2 * * *", "Every 2 hours at minute 20"),
    ("5-20 * * * *", "Every hour at minutes 5 to 20"),
    ("0,10,45 * * * *", "Every hour at minutes 0, 10 and 45"),
    ("0 9-17/2 * * MON-SAT", "Every 2 hours between 09:00 and 17:00 on Monday to Saturday"),
    ("0 22-2 * * *", "Every hour between 22:00 and 02:00"),
    ("22-2 22-2 * * *", "Every hour at minutes 0 to 2 and 22 to 59 between 22:00 and 02:59"),
    ("0 8,18 * * FRI-MON", "At 08:00 and 18:00 on Monday and Friday to Sunday"),
    ("5,10 1,5 * * *", "At 01:05, 01:10, 05:05 and 05:10 every day"),
    ("*/7 3 * * *", "Every 7 minutes between 03:00 and 03:56"),
    ("0 */5 * * *", "At 00:00, 05:00, 10:00, 15:00 and 20:00 every day"),
    ("7,8 */7 * * * *", "At seconds 7 and 8, at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56, every hour"),
    ("30 9 * * 7; 0 17 * * 7", "At 09:30 and 17:00 on Sunday"),
    ("0 17 * * *; 30 9 * * *", "At 17:00 every day; at 09:30 every day"),
    ("0 0 1 1 *; 30 12 24 12 *", "At 00:00 on the 1st of January; at 12:30 on the 24th of December"),
    ("0 0 13 * 5", "At 00:00 on the 13th or on Friday"),
    ("0 0 1-7,L 5 1", "At 00:00 on the 1st to 7th and on the last day or on Monday in May"),
    ("0 0 13 * */2", "At 00:00 on the 13th, if that is a Tuesday, Thursday, Saturday or Sunday"),
    ("0 0 */10 6 5#2", "At 00:00 on the 1st, 11th, 21st and 31st in June, if that is a second Friday"),
    ("0 0 L * *", "At 00:00 on the last day of each month"),
    ("0 0 L-3 * *", "At 00:00 on the fourth to last day of each month"),
    ("0 0 15W 3 *", "At 00:00 on the weekday nearest the 15th of March"),
    ("0 0 LW * *", "At 00:00 on the last weekday of each month"),
    ("0 0 L-3W * *", "At 00:00 on the weekday nearest to 3 days before the last day of each month"),
    ("0 9 * 6-8 1#1,1#3", "At 09:00 on the first and third Monday of June, July and August"),
    ("0 9 * 11-1 0,6", "At 09:00 on weekends in January, November and December"),
    ("0 9 * 2 *", "At 09:00 every day in February"),
    ("*/5 * * 2 *", "Every 5 minutes in February"),
    ("H * * * *", "At a minute of the job's own, every hour"),
    ("H H * * *", "At a minute of the job's own, in an hour of the job's own every day"),
    ("H/15 * * * *", "Every 15 minutes from a minute of the job's own, every hour"),
    (
        "H(0-29) H(0-7) * * 1-5",
        "At a minute of the job's own from 0 to 29, in an hour of the job's own from 0 to 7 on weekdays",
    ),
    ("0 9 H * *", "At 09:00 on a day of the month of the job's own"),
    ("0 9 * H H", "At 09:00 on a day of the week of the job's own in a month of the job's own"),
    ("0 9 H 5 1", "At 09:00 on a day of the month of the job's own or on Monday in May"),
]


@pytest.mark.parametrize(("cron", "sentence"), CRON)
def test_cron(cron: str, sentence: str) -> None:
    assert describe(Cron(cron)) == f"{sentence} (UTC)"


WEEKLY = "DTSTART;TZID=Europe/Berlin:20260105T090000\nRRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH"


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (Now(), "Once, right away"),
        (Manual(), "Only when triggered"),
        (At(at("2026-01-01T12:00Z")), "Once, at 2026-01-01T12:00+00:00"),
        (At(at("2026-01-01T12:00:05+05:30")), "Once, at 2026-01-01T12:00:05+05:30"),
        (Every(5400), "Every 1 hour and 30 minutes, counted from creation"),
        (Every("90m"), "Every 90 minutes, counted from creation"),
        (Every("PT1H"), "Every hour, counted from creation"),
        (Every("5m", at("2026-01-01T12:00Z")), "Every 5 minutes, counted from 2026-01-01 at 12:00"),
        (Every("5m", pace="delay"), "Every 5 minutes after the previous run ended"),
        (
            Every("1d", tz="Europe/Berlin", exclude=("holidays DE",)),
            "Every day, counted from creation (Europe/Berlin), except on holidays in DE",
        ),
        (Rrule(WEEKLY), "Every 2 weeks on Monday and Thursday at 09:00 (Europe/Berlin), starting 2026-01-05"),
        (Rrule("FREQ=DAILY"), "Every day at the time of day of its creation (UTC)"),
        (Rrule("FREQ=HOURLY;INTERVAL=5"), "Every 5 hours (UTC)"),
        (
            Rrule("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2;BYHOUR=9;BYMINUTE=0;BYSECOND=0"),
            "At 09:00 on the second to last weekday of each month (UTC)",
        ),
        (
            Rrule("FREQ=MONTHLY;BYDAY=SA,SU;BYSETPOS=1;BYHOUR=9;BYMINUTE=0;BYSECOND=0"),
            "Every month on weekends at 09:00, only the 1st of these (UTC)",
        ),
        (
            Rrule("FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0"),
            "Every month on the 13th at 09:00, if that is Friday (UTC)",
        ),
        (
            Rrule("FREQ=MONTHLY;BYDAY=-2FR;BYHOUR=9;BYMINUTE=30;BYSECOND=0"),
            "Every month at 09:30, on the 2nd to last Friday of the month (UTC)",
        ),
        (
            Rrule("DTSTART:20260105T090000Z\nRRULE:FREQ=DAILY;COUNT=5\nEXDATE:20260107T090000Z"),
            "Every day at 09:00 (UTC), starting 2026-01-05, 5 times, but not at 2026-01-07 09:00",
        ),
        (
            Rrule("DTSTART:20260105T090000Z\nRRULE:FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO;UNTIL=20301231T090000Z"),
            "Every year on Monday at 09:00, in week 20 of the year (UTC), "
            "starting 2026-01-05, until 2030-12-31 at 09:00",
        ),
        (Interval("R/2026-01-01T00:00Z/PT5M"), "Every 5 minutes, counted from 2026-01-01T00:00Z (UTC)"),
        (
            Interval("R5/2026-01-31T09:00/P1M", "Europe/Berlin"),
            "Every month, counted from 2026-01-31T09:00, 5 times (Europe/Berlin)",
        ),
        (Interval("R3/P1DT12H/2026-01-01T00:00Z"), "Every 1 day and 12 hours, until 2026-01-01T00:00Z, 3 times (UTC)"),
        (Interval("R/2026-01-01T00:00Z/2026-01-02T00:00Z"), "Every 24 hours, counted from 2026-01-01T00:00Z (UTC)"),
        (Interval("R/PT5M"), "Every 5 minutes, counted from creation (UTC)"),
        (Times((at("2026-01-01T09:00Z"),)), "Once, at 2026-01-01T09:00+00:00"),
        (
            Times((at("2026-01-03T09:00Z"), at("2026-01-01T09:00Z"))),
            "At 2026-01-01T09:00+00:00 and 2026-01-03T09:00+00:00",
        ),
        (
            Times(tuple(at(f"2026-01-0{day}T09:00Z") for day in range(1, 6)), exclude=("sat-sun",)),
            "At 5 times from 2026-01-01T09:00+00:00 to 2026-01-05T09:00+00:00 (UTC), except on weekends",
        ),
        (Solar("sunset", 52.52, 13.405, "-30m"), "30 minutes before sunset at 52.52° N, 13.405° E"),
        (Solar("dawn", -1, -2.5, 3600), "1 hour after dawn at 1° S, 2.5° W"),
        (Solar("noon", 0, 0), "Solar noon at 0° N, 0° E"),
        (
            English("every weekday at 9:30", "Europe/Berlin", max_runs=3),
            "At 09:30 on weekdays (Europe/Berlin), at most 3 times",
        ),
    ],
)
def test_kinds(spec: ScheduleSpec, sentence: str) -> None:
    assert describe(spec) == sentence


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"start": at("2026-01-05T00:00+01:00")}, "starting 2026-01-05"),
        ({"start": at("2026-01-05T07:30Z")}, "starting 2026-01-05 at 08:30"),
        ({"end": at("2026-12-31T22:59:59Z")}, "until 2026-12-31"),
        ({"end": at("2026-10-25T00:30Z")}, "until 2026-10-25 at 02:30"),
        ({"end": at("2026-10-25T01:30Z")}, "until 2026-10-25T01:30+00:00"),
        ({"max_runs": 1}, "at most 1 time"),
        (
            {"exclude": ("sat-sun 22:00-06:00", "12-24/01-02")},
            "except on weekends between 22:00 and 06:00 and from 24 December to 2 January",
        ),
        (
            {"only": ("jul-aug", "2026-12-24"), "when_excluded": "move"},
            "only in July and August and 2026-12-24, moved to the next allowed time",
        ),
        ({"gap": "skip"}, "leaving out times that the clocks skip"),
        ({"gap": "after"}, "running times that the clocks skip right after the change"),
        (
            {"gap": "shift", "overlap": "second"},
            "shifting times that the clocks skip by the length of the change, "
            "running times that the clocks repeat the second time only",
        ),
        ({"overlap": "both"}, "running times that the clocks repeat both times"),
    ],
)
def test_bounds_and_exclusions(changes: dict[str, Any], words: str) -> None:
    assert describe(Cron("0 9 * * *", "Europe/Berlin", **changes)) == f"At 09:00 every day (Europe/Berlin), {words}"


@pytest.mark.parametrize(
    "spec",
    [
        Cron("61 * * * *"),
        Cron("0 9 * * *", "Atlantis"),
        Cron("0 9 * * *", exclude=("soon",)),
        Rrule("FREQ=SOMETIMES"),
        Every("soon"),
        English("soon"),
        Interval("soon"),
        Solar("dawn", 1, 2, "soon"),
        Times((at("2026-01-01T09:00Z"), at("2026-01-01T09:00"))),
    ],
)
def test_what_is_not_valid_has_no_sentence(spec: ScheduleSpec) -> None:
    with pytest.raises(ScheduleError):
        describe(spec)
