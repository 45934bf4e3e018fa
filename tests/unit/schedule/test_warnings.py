"""What a preview warns of: each warning where it holds, and none where it does not."""

from datetime import UTC, datetime

import pytest

from noonmark.schedule.preview import preview
from noonmark.schedule.spec import Cron, English, Every, Rrule, ScheduleSpec, Times, instant_us

NOW = instant_us(datetime(2026, 1, 10, 12, tzinfo=UTC))
NEW_YORK, BERLIN, LORD_HOWE = "America/New_York", "Europe/Berlin", "Australia/Lord_Howe"


def told(spec: ScheduleSpec, **options) -> dict[str, str]:
    found = preview(spec, now_us=NOW, **options)
    codes = [notice.code for notice in found.warnings]
    assert len(set(codes)) == len(codes)
    return {notice.code: notice.message for notice in found.warnings}


def daylight(spec: ScheduleSpec) -> dict[str, str]:
    return {code.removeprefix("daylight_"): text for code, text in told(spec).items() if code.startswith("daylight_")}


def test_extra_fires_of_an_overlap():
    assert daylight(Cron("*/30 1 * * *", tz=NEW_YORK)) == {
        "extra": "fires 4 times on Sunday 1 November 2026 instead of 2 because of daylight saving: the clock shows "
        "01:00 and 01:30 twice (see `overlap`: first or second fire once)"
    }
    assert (
        "fires 8 times on Sunday 1 November 2026 instead of 4" in daylight(Cron("*/15 1 * * *", tz=NEW_YORK))["extra"]
    )
    assert daylight(Cron("30 1 * * *", tz=NEW_YORK, overlap="both")).keys() == {"extra"}


def test_a_fixed_time_of_an_overlap_is_told():
    assert daylight(Cron("30 1 * * *", tz=NEW_YORK)) == {
        "once": "the clock shows 01:30 twice on Sunday 1 November 2026 because of daylight saving: fires the first "
        "time only (see `overlap`: first, second or both)"
    }
    assert "fires the second time only" in daylight(Cron("30 1 * * *", tz=NEW_YORK, overlap="second"))["once"]


def test_moved_fires_of_a_gap():
    assert daylight(Cron("30 2 * * *", tz=BERLIN)) == {
        "moved": "02:30 does not exist on Sunday 29 March 2026 because of daylight saving: fires at 03:00 instead "
        "(see `gap`: skip, after or shift)",
        "once": daylight(Cron("30 2 * * *", tz=BERLIN))["once"],
    }
    shifted = daylight(Cron("15,30 2 * * *", tz=BERLIN, gap="shift"))["moved"]
    assert "02:15 and 02:30 do not exist" in shifted
    assert "fires at 03:15 and 03:30 instead" in shifted


def test_missing_fires_of_a_gap():
    assert "does not fire on Sunday 29 March 2026" in daylight(Cron("30 2 * * *", tz=BERLIN, gap="skip"))["missing"]
    missing = daylight(Cron("0 */2 * * *", tz=BERLIN))["missing"]
    assert "fires 11 times on Sunday 29 March 2026 instead of 12" in missing


@pytest.mark.parametrize(
    "spec",
    [
        Cron("30 2 * * *"),
        Cron("30 12 * * *", tz=BERLIN),
        Cron("30 2 * * 1", tz=BERLIN),
        Cron("0 * * * *", tz=BERLIN),
        Cron("*/7 * * * *", tz=BERLIN),
        Cron("* * * * * *", tz=BERLIN),
        Cron("30 2 * * *", tz="Asia/Tokyo"),
        Cron("30 2 * * *", tz=BERLIN, end=datetime(2026, 3, 1, tzinfo=UTC)),
        Every("1h"),
    ],
)
def test_no_word_of_daylight_saving_where_it_does_nothing(spec):
    assert daylight(spec) == {}


def test_half_an_hour_at_lord_howe():
    assert "the clock shows 01:45 twice on Sunday 5 April 2026" in daylight(Cron("45 1 * * *", tz=LORD_HOWE))["once"]
    assert daylight(Cron("15 1 * * *", tz=LORD_HOWE)) == {}


def test_a_gap_that_ends_at_midnight():
    """Greenland's clock goes from 23:00 on Saturday to 00:00 on Sunday."""
    moved = daylight(Cron("30 23 * * *", tz="America/Nuuk"))["moved"]
    assert "23:30 does not exist on Saturday 28 March 2026" in moved
    assert "fires at 00:00 instead" in moved


def test_weekends():
    assert told(Cron("30 9 * * 1-5"))["never_on_weekends"] == "never fires on weekends"
    assert "only_on_weekends" in told(Cron("30 9 * * 0,6"))
    assert "never_on_weekends" in told(Cron("0 9 * * *", exclude=("sat-sun",)))
    for expression in ("30 9 * * *", "30 9 * * 1", "30 9 1 * *", "0 0 1 1 *"):
        assert not {"never_on_weekends", "only_on_weekends"} & told(Cron(expression)).keys()


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("0 0 31 * *", "skips February, April, June, September and November, which have no 31st"),
        ("0 0 30 * *", "skips February in every year, as it has no 30th"),
        ("0 0 29 * *", "skips February in years that are no leap years, as it has no 29th"),
        ("0 0 29-31 * *", "skips February in years that are no leap years"),
    ],
)
def test_short_months(expression, said):
    assert told(Cron(expression))["short_months"].startswith(said)


def test_months_that_are_not_short():
    for expression in ("0 0 28 * *", "0 0 L * *", "0 0 31 1,3,5 *", "0 0 1,31 * *"):
        assert "short_months" not in told(Cron(expression))


def test_leap_years():
    found = told(Cron("0 0 29 2 *"))
    assert "leap years only" in found["leap_years_only"]
    assert "29 February 2028" in found["long_silence"]
    assert "short_months" not in found


def test_two_fields_of_days():
    assert "as well: cron joins the two fields by OR" in told(Cron("0 0 13 * 5"))["day_or_weekday"]
    assert "by AND" in told(Cron("0 0 */2 * 5"))["day_and_weekday"]
    for expression in ("0 0 13 * *", "0 0 * * 5", "0 0 13 * ?"):
        assert not {"day_or_weekday", "day_and_weekday"} & told(Cron(expression)).keys()


def test_uneven_steps():
    said = told(Cron("*/7 * * * *"))["uneven_steps"]
    assert "the last step before it is 4 minutes long instead of 7" in said
    assert "is 4 hours long instead of 5" in told(Cron("0 */5 * * *"))["uneven_steps"]
    assert "may be a day apart" in told(Cron("0 0 */2 * *"))["uneven_steps"]
    for expression in ("*/15 * * * *", "0 */6 * * *", "*/20 * * * * *"):
        assert "uneven_steps" not in told(Cron(expression))


def test_frequency():
    assert "fires every second" in told(Cron("* * * * * *"))["very_frequent"]
    assert "30 times in a minute" in told(Every("2s"))["very_frequent"]
    assert "very_frequent" not in told(Every("10s"))


def test_jitter_beyond_the_wait():
    assert "longer than the 5 minutes between" in told(Every("5m"), jitter_s=600)["jitter_overlaps"]
    assert "jitter_overlaps" not in told(Every("5m"), jitter_s=300)


def test_bounds():
    assert told(Cron("0 9 * * *", tz=BERLIN, max_runs=2))["ends"] == (
        "fires for the last time at 09:00 on Monday 12 January 2026"
    )
    assert "ends" not in told(Cron("0 9 * * *"))


def test_times_in_the_past():
    moments = tuple(datetime(year, 1, 1, tzinfo=UTC) for year in (2020, 2021, 2027, 2028))
    assert told(Times(moments))["past_times"] == "2 of its times are in the past and will not fire"
    assert "past_times" not in told(Times(moments[2:]))


def test_what_is_counted_from_creation():
    assert "(an anchor sets" in told(Every("1h"))["counted_from_creation"]
    assert "(DTSTART sets" in told(Rrule("FREQ=WEEKLY;INTERVAL=2"))["counted_from_creation"]
    assert told(English("every 2 weeks on monday at 18:00"))["counted_from_creation"].endswith("taken as now")
    assert "counted_from_creation" not in told(Every("1h", anchor=datetime(2026, 1, 1, tzinfo=UTC)))
    assert "counted_from_creation" not in told(Rrule("DTSTART:20260101T090000Z\nRRULE:FREQ=WEEKLY;INTERVAL=2"))


def test_a_day_without_a_time_is_midnight():
    assert "midnight" in told(English("every monday"))
    assert "midnight" not in told(English("every monday at 9"))
    assert "midnight" not in told(English("every monday at midnight"))


def test_h_without_a_name():
    assert "hash_without_name" in told(Cron("H 9 * * *"))
    assert "hash_without_name" not in told(Cron("H 9 * * *"), key="1/nightly")


def test_excluded_days_are_named():
    said = told(Cron("0 9 * * *", tz=BERLIN, exclude=("2026-01-15/2026-01-17",)))["excluded"]
    assert said.startswith("leaves out 3 of 56 fires in the next 8 weeks: ")
    assert said.endswith("3 times from Thursday 15 January 2026")


def test_holidays_are_named_and_moves_told():
    moving = Cron("0 9 * * 5", tz=BERLIN, exclude=("holidays DE", "sat-sun"), when_excluded="move")
    now_us = instant_us(datetime(2026, 12, 23, 12, tzinfo=UTC))
    found = preview(moving, now_us=now_us, count=3)
    assert [(fire.local[:16], fire.note and fire.note[:48]) for fire in found.fires] == [
        ("2026-12-28T09:00", "moved from 09:00 on Friday 25 December 2026: hol"),
        ("2027-01-04T09:00", "moved from 09:00 on Friday 1 January 2027: holid"),
        ("2027-01-08T09:00", None),
    ]
    said = next(notice.message for notice in found.warnings if notice.code == "moved")
    assert "Friday 25 December 2026" in said
    assert "the first to 09:00 on Monday 28 December 2026" in said
