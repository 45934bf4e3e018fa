"""RFC 5545: its own examples, what we refuse, and where we follow it and dateutil does not."""

from datetime import UTC, date, datetime, timedelta

import pytest

from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.forms.rrule import RulePattern, read_rrule, with_start

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def wall(text: str) -> int:
    return (datetime.strptime(text, "%Y%m%dT%H%M%S").replace(tzinfo=UTC) - EPOCH) // timedelta(seconds=1)


def times(pattern: RulePattern, after_s: int, limit: int) -> list[datetime]:
    found: list[datetime] = []
    at_s = pattern.next_wall(after_s)
    while at_s is not None and len(found) < limit:
        found.append(EPOCH + timedelta(seconds=at_s))
        at_s = pattern.next_wall(at_s)
    return found


def days(text: str, limit: int, after: str = "19000101T000000") -> list[str]:
    pattern = RulePattern(read_rrule(text, None).body)
    return [f"{at:%Y-%m-%d}" for at in times(pattern, wall(after), limit)]


def hours(text: str, limit: int) -> list[str]:
    return [
        f"{at:%d %H:%M:%S}" for at in times(RulePattern(read_rrule(text, None).body), wall("19000101T000000"), limit)
    ]


@pytest.mark.parametrize(
    ("start", "rule", "expected"),
    [
        ("19970902", "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "1998-02-13 1998-03-13 1998-11-13 1999-08-13 2000-10-13"),
        ("19970904", "FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3", "1997-09-04 1997-10-07 1997-11-06"),
        ("19970929", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2", "1997-09-29 1997-10-30 1997-11-27 1997-12-30"),
        (
            "19970805",
            "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO",
            "1997-08-05 1997-08-10 1997-08-19 1997-08-24",
        ),
        (
            "19970805",
            "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU",
            "1997-08-05 1997-08-17 1997-08-19 1997-08-31",
        ),
        (
            "19970101",
            "FREQ=YEARLY;INTERVAL=3;BYYEARDAY=1,100,200",
            "1997-01-01 1997-04-10 1997-07-19 2000-01-01 2000-04-09",
        ),
        ("19970519", "FREQ=YEARLY;BYDAY=20MO", "1997-05-19 1998-05-18 1999-05-17"),
        ("19970512", "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "1997-05-12 1998-05-11 1999-05-17"),
        ("19970928", "FREQ=MONTHLY;BYMONTHDAY=-3", "1997-09-28 1997-10-29 1997-11-28 1997-12-29 1998-01-29 1998-02-26"),
        ("20070115", "FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5", "2007-01-15 2007-01-30 2007-02-15 2007-03-15 2007-03-30"),
        (
            "19961105",
            "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8",
            "1996-11-05 2000-11-07 2004-11-02",
        ),
        ("19971026", "FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU", "1997-10-26 1998-10-25 1999-10-31"),
        ("19970101", "FREQ=YEARLY;BYDAY=-1MO,1MO", "1997-01-06 1997-12-29 1998-01-05 1998-12-28 1999-01-04"),
        ("19970901", "FREQ=MONTHLY;INTERVAL=2;BYDAY=-2MO", "1997-09-22 1997-11-17 1998-01-19"),
        ("20260131", "FREQ=MONTHLY", "2026-01-31 2026-03-31 2026-05-31"),
        ("20240229", "FREQ=YEARLY", "2024-02-29 2028-02-29 2032-02-29"),
        ("20960229", "FREQ=YEARLY", "2096-02-29 2104-02-29"),
    ],
)
def test_examples_of_days(start: str, rule: str, expected: str) -> None:
    wanted = expected.split()
    assert days(f"DTSTART:{start}T090000\nRRULE:{rule}", len(wanted)) == wanted


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T170000", "02 09:00:00, 02 12:00:00, 02 15:00:00"),
        ("FREQ=MINUTELY;INTERVAL=90;COUNT=4", "02 09:00:00, 02 10:30:00, 02 12:00:00, 02 13:30:00"),
        ("FREQ=DAILY;BYHOUR=9,10;BYMINUTE=0,20,40;COUNT=4", "02 09:00:00, 02 09:20:00, 02 09:40:00, 02 10:00:00"),
        (
            "FREQ=MINUTELY;INTERVAL=20;BYHOUR=23,0;COUNT=5",
            "02 23:00:00, 02 23:20:00, 02 23:40:00, 03 00:00:00, 03 00:20:00",
        ),
        ("FREQ=HOURLY;BYMINUTE=5,50;BYSETPOS=-1;COUNT=2", "02 09:50:00, 02 10:50:00"),
        ("FREQ=SECONDLY;INTERVAL=1000;BYSECOND=0,20;COUNT=3", "02 09:00:00, 02 09:33:20, 02 09:50:00"),
        ("FREQ=SECONDLY;INTERVAL=86401;COUNT=2", "02 09:00:00, 03 09:00:01"),
        ("FREQ=DAILY;UNTIL=19970904", "02 09:00:00, 03 09:00:00, 04 09:00:00"),
    ],
)
def test_examples_of_times(rule: str, expected: str) -> None:
    assert hours(f"DTSTART:19970902T090000\nRRULE:{rule}", 10) == expected.split(", ")


def test_plain_and_counted_weekdays_are_added_up() -> None:
    """dateutil takes only days that are both, which is none."""
    rule = "DTSTART:20260101T090000\nRRULE:FREQ=MONTHLY;BYDAY=MO,2TU"
    assert days(rule, 6) == ["2026-01-05", "2026-01-12", "2026-01-13", "2026-01-19", "2026-01-26", "2026-02-02"]


def test_positions_count_from_the_start_of_the_first_week() -> None:
    """dateutil counts from DTSTART, a Wednesday, in the first week alone."""
    rule = "DTSTART:20260107T090000\nRRULE:FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=1"
    assert days(rule, 2) == ["2026-01-12", "2026-01-19"]


def test_a_week_number_alone_takes_the_weekday_of_the_start() -> None:
    """dateutil takes all seven days of the week."""
    assert days("DTSTART:20260101T090000\nRRULE:FREQ=YEARLY;BYWEEKNO=20", 3) == [
        "2026-05-14",
        "2027-05-20",
        "2028-05-18",
    ]


@pytest.mark.parametrize("number", [1, 52, 53, -1, -52, -53])
def test_week_numbers_are_those_of_iso_8601(number: int) -> None:
    """dateutil has 1 and 2 January 2022 in week 53; they lie in week 52 of 2021."""
    rule = f"DTSTART:19900101T090000\nRRULE:FREQ=YEARLY;BYWEEKNO={number};BYDAY=MO,TU,WE,TH,FR,SA,SU;UNTIL=20501231"
    expected = []
    day = date(1990, 1, 1)
    while day.year <= 2050:
        year, week, _ = day.isocalendar()
        if number in (week, week - 1 - date(year, 12, 28).isocalendar().week):
            expected.append(day.isoformat())
        day += timedelta(days=1)
    assert days(rule, 1_000) == expected


def test_the_zone() -> None:
    rule = "RRULE:FREQ=DAILY"
    assert read_rrule(rule, None).tz == "UTC"
    assert read_rrule(rule, "Europe/Berlin").tz == "Europe/Berlin"
    assert read_rrule(f"DTSTART:20260101T090000Z\n{rule}", None).tz == "UTC"
    assert read_rrule(f"DTSTART;TZID=Europe/Berlin:20260101T090000\n{rule}", None).tz == "Europe/Berlin"
    assert read_rrule(f'DTSTART;TZID="Europe/Berlin":20260101T090000\n{rule}', "Europe/Berlin").tz == "Europe/Berlin"
    for start, tz in (
        ("DTSTART;TZID=Europe/Berlin:20260101T090000", "Asia/Tokyo"),
        ("DTSTART:20260101T090000Z", "Asia/Tokyo"),
    ):
        with pytest.raises(ScheduleError, match="but tz is Asia/Tokyo"):
            read_rrule(f"{start}\n{rule}", tz)


def test_times_of_other_zones_are_moved_to_the_wall_clock_of_the_rule() -> None:
    text = (
        "DTSTART;TZID=Europe/Berlin:20260101T090000\nRRULE:FREQ=DAILY;UNTIL=20260701T070000Z\n"
        "EXDATE:20260102T080000Z\nEXDATE;TZID=America/New_York:20260103T030000\nRDATE:20260701T120000,20260101T080000Z"
    )
    assert read_rrule(text, None).body == (
        "DTSTART=20260101T090000;FREQ=DAILY;UNTIL=20260701T090000;"
        "RDATE=20260101T090000,20260701T120000;EXDATE=20260102T090000,20260103T090000"
    )


@pytest.mark.parametrize(
    "text",
    [
        "DTSTART:20260105T090000\nRRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH",
        "DTSTART:20260105T090000\r\nRRULE:FREQ=WEEKLY;INT\r\n ERVAL=2;BYDAY=MO,TH\r\n",
        "dtstart:20260105t090000\\nrrule:freq=weekly;byday=th,mo,+0mo;interval=02".replace("+0mo", "mo"),
        "\n  DTSTART;VALUE=DATE-TIME:20260105T090000\n  RRULE:BYDAY=TH, MO;INTERVAL=2;FREQ=WEEKLY;WKST=MO;\n",
        "DTSTART=20260105T090000;FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH",
    ],
)
def test_one_way_to_write_it(text: str) -> None:
    assert read_rrule(text, None).body == "DTSTART=20260105T090000;FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH"


def test_the_start_of_the_week_is_kept_only_where_it_matters() -> None:
    assert read_rrule("FREQ=WEEKLY;WKST=SU;BYDAY=MO", None).body == "FREQ=WEEKLY;BYDAY=MO"
    for rule in (
        "FREQ=WEEKLY;INTERVAL=2;WKST=SU",
        "FREQ=WEEKLY;WKST=SU;BYDAY=MO,SU;BYSETPOS=1",
        "FREQ=YEARLY;WKST=SU;BYWEEKNO=1",
    ):
        assert read_rrule(rule, None).body == rule


def test_a_day_as_start_is_midnight() -> None:
    parts = read_rrule("DTSTART;VALUE=DATE:20260105\nRRULE:FREQ=DAILY\nEXDATE;VALUE=DATE:20260106", None)
    assert parts.body == "DTSTART=20260105T000000;FREQ=DAILY;EXDATE=20260106T000000"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no FREQ"),
        ("RRULE:", "has no FREQ"),
        ("DTSTART:20260101T090000", "has no FREQ"),
        ("FREQ=HALFYEARLY", "'FREQ=HALFYEARLY' is not a frequency"),
        ("FREQ=DAILY;INTERVAL=0", "'INTERVAL=0' is out of range"),
        ("FREQ=DAILY;INTERVAL=-1", "'INTERVAL=-1' is out of range"),
        ("FREQ=DAILY;COUNT=0", "'COUNT=0' is out of range"),
        ("FREQ=DAILY;COUNT=10001", "'COUNT=10001' is out of range"),
        ("FREQ=DAILY;COUNT=5;UNTIL=20270101T000000Z", "'COUNT=5' stands together with UNTIL"),
        ("FREQ=DAILY;BYHOUR=24", "'BYHOUR=24' has '24', which is out of range"),
        ("FREQ=DAILY;BYHOUR=-1", "'BYHOUR=-1' has '-1', which is out of range"),
        ("FREQ=DAILY;BYSECOND=60", "'BYSECOND=60' has '60', which is out of range"),
        ("FREQ=MONTHLY;BYMONTHDAY=0", "has '0', which is out of range"),
        ("FREQ=MONTHLY;BYMONTHDAY=-32", "has '-32', which is out of range"),
        ("FREQ=YEARLY;BYMONTH=13", "has '13', which is out of range"),
        ("FREQ=YEARLY;BYMONTH=٣", "has '٣', which is out of range"),
        ("FREQ=MONTHLY;BYDAY=XX", "has 'XX', which is not a weekday"),
        ("FREQ=MONTHLY;BYDAY=0MO", "has '0MO', which is not a weekday"),
        ("FREQ=MONTHLY;BYDAY=6MO", "counts beyond the fifth"),
        ("FREQ=WEEKLY;BYDAY=2MO", "counts weekdays"),
        ("FREQ=YEARLY;BYWEEKNO=3;BYDAY=2MO", "counts weekdays"),
        ("FREQ=MONTHLY;BYWEEKNO=3", "'BYWEEKNO=3' needs FREQ=YEARLY"),
        ("FREQ=DAILY;BYYEARDAY=3", "does not go with FREQ=DAILY"),
        ("FREQ=WEEKLY;BYMONTHDAY=3", "does not go with FREQ=WEEKLY"),
        ("FREQ=MONTHLY;BYSETPOS=1", "'BYSETPOS=1' stands alone"),
        ("FREQ=DAILY;X-MINE=1", "'X-MINE=1' is not a part of a rule that we know"),
        ("FREQ=YEARLY;BYEASTER=0", "'BYEASTER=0' is not a part"),
        ("FREQ=DAILY;COUNT", "'COUNT' has no value"),
        ("FREQ=DAILY;FREQ=WEEKLY", "'FREQ=WEEKLY' is a second FREQ"),
        ("RRULE:FREQ=DAILY\nRRULE:FREQ=WEEKLY", "is a second FREQ"),
        ("DTSTART:20260101T090000\nDTSTART:20260101T090000\nRRULE:FREQ=DAILY", "is a second DTSTART"),
        ("FREQ=DAILY\nEXRULE:FREQ=WEEKLY", "'EXRULE:FREQ=WEEKLY' is no longer part"),
        ("BEGIN:VEVENT\nRRULE:FREQ=DAILY", "'BEGIN:VEVENT' is not a line of a rule"),
        ("DTSTART:2026-01-01T09:00:00\nRRULE:FREQ=DAILY", "is not a time"),
        ("DTSTART:20260230T090000\nRRULE:FREQ=DAILY", "is not a time of the calendar"),
        ("DTSTART:18991231T090000\nRRULE:FREQ=DAILY", "is out of bounds"),
        ("DTSTART;TZID=Mars/Base:20260101T090000\nRRULE:FREQ=DAILY", "'Mars/Base' is not a known time zone"),
        ("DTSTART;TZID=Europe/Berlin:20260101T090000Z\nRRULE:FREQ=DAILY", "both a zone and a Z"),
        ("DTSTART;FOO=1:20260101T090000\nRRULE:FREQ=DAILY", "has the parameter 'FOO=1'"),
        ("DTSTART:20260101T090000\nRRULE:FREQ=DAILY\nEXDATE;VALUE=DATE:20260102", "names a day, but DTSTART a time"),
        ("DTSTART:20260101T090000\nRRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "would never fire"),
        ("DTSTART:20260101T090000\nRRULE:FREQ=DAILY;UNTIL=20251231T000000", "would never fire"),
        ("DTSTART:20260101T090000\nRRULE:FREQ=DAILY;COUNT=1\nEXDATE:20260101T090000", "would never fire"),
        ("DTSTART:20260101T090000\nRRULE:FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=29", "would never fire"),
        ("DTSTART:20260101T090000\nRRULE:FREQ=SECONDLY;INTERVAL=60;BYSECOND=7", "would never fire"),
        ("FREQ=DAILY;" + "X" * 20_000, "above the bound"),
        ("FREQ=DAILY\nRDATE:" + ",".join(["20260101T090000"] * 501), "is one of 501 dates"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        read_rrule(text, None)
    assert caught.value.field == "schedule.rrule"
    assert message in caught.value.message
    assert caught.value.fix


@pytest.mark.parametrize(
    ("rule", "keeps_pace"),
    [
        ("FREQ=HOURLY", True),
        ("FREQ=HOURLY;BYHOUR=2", False),
        ("FREQ=MINUTELY;INTERVAL=15", True),
        ("FREQ=MINUTELY;BYHOUR=2", True),
        ("FREQ=MINUTELY;BYHOUR=2;BYMINUTE=30", False),
        ("FREQ=DAILY;BYHOUR=1,2,3", False),
        ("FREQ=WEEKLY", False),
    ],
)
def test_which_rules_keep_pace(rule: str, keeps_pace: bool) -> None:
    assert RulePattern(with_start(rule, 0)).keeps_pace is keeps_pace


def test_rules_without_a_start_share_texts() -> None:
    created = wall("20260715T123456")
    assert with_start("FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0", created) == (
        "DTSTART=19700101T000000;FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0"
    )
    fortnightly = with_start("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYHOUR=9;BYMINUTE=0;BYSECOND=0", created)
    assert fortnightly == "DTSTART=19691229T000000;FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYHOUR=9;BYMINUTE=0;BYSECOND=0"
    assert RulePattern(fortnightly).next_wall(created) == wall("20260727T090000")
    assert with_start("FREQ=MONTHLY", created) == (
        "DTSTART=19700101T000000;FREQ=MONTHLY;BYMONTHDAY=15;BYHOUR=12;BYMINUTE=34;BYSECOND=56"
    )


def test_a_count_without_a_start_counts_after_creation() -> None:
    body = with_start("FREQ=DAILY;COUNT=3", wall("20260715T123456"))
    assert [f"{at:%d %H:%M:%S}" for at in times(RulePattern(body), 0, 9)] == [
        "16 12:34:56",
        "17 12:34:56",
        "18 12:34:56",
    ]


def test_what_creation_implies_may_never_fire() -> None:
    with pytest.raises(ScheduleError, match="would never fire"):
        with_start("FREQ=YEARLY;BYMONTH=2", wall("20260730T120000"))


def test_added_times_outlive_the_rule() -> None:
    text = "DTSTART:20260101T090000\nRRULE:FREQ=DAILY;COUNT=2\nRDATE:20250101T000000,20260102T090000,20270101T000000"
    assert days(text, 9) == ["2025-01-01", "2026-01-01", "2026-01-02", "2027-01-01"]
    assert RulePattern(read_rrule(text, None).body).previous_wall(2**40) == wall("20270101T000000")


def test_before_the_first_and_after_the_last() -> None:
    pattern = RulePattern("DTSTART=20260101T090000;FREQ=DAILY;COUNT=2")
    first, last = wall("20260101T090000"), wall("20260102T090000")
    assert pattern.previous_wall(first) is None
    assert pattern.next_wall(first - 1) == first
    assert pattern.previous_wall(first + 1) == first
    assert pattern.next_wall(last) is None
    assert pattern.next_wall(last - 1) == last
    assert pattern.previous_wall(2**40) == last
    assert RulePattern("DTSTART=20260101T090000;FREQ=YEARLY").next_wall(2**40) is None
    assert RulePattern("DTSTART=20260101T090000;FREQ=YEARLY;BYMONTH=1;BYSETPOS=1").next_wall(2**40) is None


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=SECONDLY;INTERVAL=60;BYSECOND=7",
        "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30;BYHOUR=3",
        "FREQ=SECONDLY;INTERVAL=7;BYDAY=MO;BYHOUR=1,8,15,22;BYMINUTE=0,7,14,21,28,35;BYSECOND=0,7,14,21,28,35",
        "FREQ=MINUTELY;INTERVAL=120;BYHOUR=1,3,5,7",
        "FREQ=HOURLY;INTERVAL=24;BYHOUR=4",
        "FREQ=DAILY;INTERVAL=7;BYDAY=TU",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;BYSETPOS=1",
    ],
)
def test_what_never_fires_is_refused_in_time(rule: str) -> None:
    with pytest.raises(ScheduleError, match="would never fire"):
        read_rrule(f"DTSTART:20260105T000000\nRRULE:{rule}", None)


@pytest.mark.timeout(10)
def test_stepping_back_ends_at_the_start() -> None:
    pattern = RulePattern("DTSTART=20260101T000000;FREQ=SECONDLY")
    at_s: int | None = wall("20260101T001000")
    for _ in range(600):
        assert at_s is not None
        at_s = pattern.previous_wall(at_s)
    assert at_s == wall("20260101T000000")
    assert pattern.previous_wall(at_s) is None


@pytest.mark.timeout(10)
def test_a_rule_with_millions_of_times_in_a_period() -> None:
    def every(stop: int) -> str:
        return ",".join(map(str, range(stop)))

    body = f"DTSTART=20260101T000000;FREQ=YEARLY;BYMONTH=1,12;BYMONTHDAY=1,31;BYHOUR={every(24)};BYMINUTE={every(60)}"
    assert RulePattern(f"{body};BYSECOND={every(60)}").previous_wall(wall("20270101T000000")) == wall("20261231T235959")
    picked = RulePattern(f"{body};BYSECOND={every(60)};BYSETPOS=-1")
    assert picked.next_wall(wall("20260101T000000")) == wall("20261231T235959")
