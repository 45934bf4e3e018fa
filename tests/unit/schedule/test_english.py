"""What sentences mean, and what is said of those that mean nothing."""

from datetime import UTC, datetime

import pytest

from noonmark.schedule.canonical import canonical
from noonmark.schedule.english import describe, read_english
from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.spec import At, Cron, Every, Manual, Now, Rrule, ScheduleSpec

BERLIN = "Europe/Berlin"


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def rule(text: str) -> Rrule:
    """At one or more hours of UTC: `FREQ=DAILY;INTERVAL=2 @12`."""
    body, _, hours = text.partition(" @")
    return Rrule(f"{body};BYHOUR={hours};BYMINUTE=0;BYSECOND=0", "UTC")


# The table of docs/schedules.md.
EXAMPLES: list[tuple[str, ScheduleSpec]] = [
    ("every weekday at 9:30", Cron("30 9 * * 1-5")),
    ("every 15 minutes between 9 and 17 on weekdays", Cron("*/15 9-16 * * 1-5; 0 17 * * 1-5")),
    ("the last friday of each month at noon", Cron("0 12 * * 5L")),
    ("first business day of the quarter at 8am", Cron("0 8 1W 1,4,7,10 *")),
    ("every 2 weeks on monday and thursday at 18:00", rule("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH @18")),
    ("every day at 9:30 and 17:00", Cron("30 9 * * *; 0 17 * * *")),
    ("at 8am and 6pm on mon, wed and fri", Cron("0 8,18 * * 1,3,5")),
    ("on the 1st and 15th of every month at 6", Cron("0 6 1,15 * *")),
    ("the second tuesday of january and july at 10:15", Cron("15 10 * 1,7 2#2")),
    ("last day of the month at 23:55", Cron("55 23 L * *")),
    ("third to last day of the month at 8:00", Cron("0 8 L-2 * *")),
    ("the weekday nearest the 15th of each month at 8:00", Cron("0 8 15W * *")),
    ("on the 13th or on friday at noon", Cron("0 12 13 * 5")),
    ("yearly on 25 december at 8", Cron("0 8 25 12 *")),
    ("hourly", Cron("0 * * * *")),
    ("every hour at minute 20", Cron("20 * * * *")),
    ("every 10 minutes", Cron("*/10 * * * *")),
    ("every 30 seconds", Cron("*/30 * * * * *")),
    ("every 90 minutes", Every("90m")),
    ("every 45 minutes between 9 and 12", Cron("0,45 9 * * *; 30 10 * * *; 15 11 * * *; 0 12 * * *")),
    ("every 10 minutes counted from 2026-01-05 at 8:05", Every("10m", at("2026-01-05T08:05Z"))),
    ("every 5 minutes after the previous run ended", Every("5m", pace="delay")),
    ("every other day at noon", rule("FREQ=DAILY;INTERVAL=2 @12")),
    ("every 3 months on the 1st at 8", rule("FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=1 @8")),
    (
        "the second business day of each month at 8:00",
        Rrule("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=8;BYMINUTE=0;BYSECOND=0;BYSETPOS=2", "UTC"),
    ),
    (
        "every other friday at 17:00 starting 2026-01-05",
        rule("DTSTART=20260109T170000;FREQ=WEEKLY;INTERVAL=2;BYDAY=FR @17"),
    ),
    ("at 9:00 on weekdays; at 11:00 on weekends", Cron("0 9 * * 1-5; 0 11 * * 0,6")),
    ("on 2026-12-24 at 18:00 in Europe/Berlin", At(at("2026-12-24T18:00+01:00"))),
    ("every monday at 9 (Europe/Berlin)", Cron("0 9 * * 1", BERLIN)),
    ("daily at 7:00 until 2026-12-31, at most 5 times", Cron("0 7 * * *", end=at("2026-12-31T23:59:59Z"), max_runs=5)),
    (
        "daily at 7:00 except on weekends and on holidays in DE-BY",
        Cron("0 7 * * *", exclude=("sat-sun", "holidays DE-BY")),
    ),
    ("hourly except between 22:00 and 6:00", Cron("0 * * * *", exclude=("22:00-06:00",))),
    (
        "monthly on the 1st at 8:00 except on weekends, moved to the next allowed time",
        Cron("0 8 1 * *", exclude=("sat-sun",), when_excluded="move"),
    ),
    ("now", Now()),
    ("only when triggered", Manual()),
]

MORE: list[tuple[str, ScheduleSpec]] = [
    ("daily at midnight", Cron("0 0 * * *")),
    ("every day at 12am", Cron("0 0 * * *")),
    ("every day at 12:30pm", Cron("30 12 * * *")),
    ("every day at 12 p.m.", Cron("0 12 * * *")),
    ("every day at 9 o'clock", Cron("0 9 * * *")),
    ("Every Day At 9:30.", Cron("30 9 * * *")),
    ("every day at 9:30:15", Cron("15 30 9 * * *")),
    ("every day at 9:30:15 and 10:00", Cron("15 30 9 * * *; 0 10 * * *")),
    ("at 5 on weekdays", Cron("0 5 * * 1-5")),
    ("9:30 every weekday", Cron("30 9 * * 1-5")),
    ("8am on mondays", Cron("0 8 * * 1")),
    ("weekly on sunday at 3:15", Cron("15 3 * * 0")),
    ("every monday", Cron("0 0 * * 1")),
    ("monday to thursday at 8", Cron("0 8 * * 1-4")),
    ("fri-mon at 8:00", Cron("0 8 * * 0,1,5,6")),
    ("on mon, tue, wed, thu, fri, sat and sun at 8", Cron("0 8 * * *")),
    ("every weekend at 10", Cron("0 10 * * 0,6")),
    ("every business day at 10", Cron("0 10 * * 1-5")),
    ("twice a week on monday and thursday at 9", Cron("0 9 * * 1,4")),
    ("twice a day at 8 and 20", Cron("0 8,20 * * *")),
    ("3 times a day at 8, 12 and 18", Cron("0 8,12,18 * * *")),
    ("once a day at 8", Cron("0 8 * * *")),
    ("monthly", Cron("0 0 1 * *")),
    ("monthly on the 15th at 8:00", Cron("0 8 15 * *")),
    ("every month on the last friday at 8", Cron("0 8 * * 5L")),
    ("quarterly", Cron("0 0 1 1,4,7,10 *")),
    ("every quarter on the first day at 6am", Cron("0 6 1 1,4,7,10 *")),
    ("last weekday of the quarter at 17:00", Cron("0 17 LW 3,6,9,12 *")),
    ("first and last day of the quarter at 6", Cron("0 6 1 1,4,7,10 *; 0 6 L 3,6,9,12 *")),
    ("second monday of each quarter at 6", Cron("0 6 * 1,4,7,10 1#2")),
    ("yearly", Cron("0 0 1 1 *")),
    ("last friday of the year at noon", Cron("0 12 * 12 5L")),
    ("every january 1st at 00:00", Cron("0 0 1 1 *")),
    ("on 1 january and 1 july at 8", Cron("0 8 1 1,7 *")),
    ("on the 1st of january and the 1st of july at 8", Cron("0 8 1 1,7 *")),
    ("on december 24th and january 1 at 8", Cron("0 8 1 1 *; 0 8 24 12 *")),
    ("on the 29th of february at 8", Cron("0 8 29 2 *")),
    ("last weekday of the month at 17:00", Cron("0 17 LW * *")),
    ("third from last day of the month", Cron("0 0 L-2 * *")),
    ("3 days before the last day of the month", Cron("0 0 L-3 * *")),
    ("the first and third monday of the month at 9", Cron("0 9 * * 1#1,1#3")),
    ("the first and last friday of the month at 9", Cron("0 9 * * 5#1,5L")),
    ("the 1st, 15th and last day of the month", Cron("0 0 1,15,L * *")),
    ("the 1st to 7th of each month at 9", Cron("0 9 1-7 * *")),
    ("on the 15th and on the second tuesday of each month", Cron("0 0 15 * 2#2")),
    ("every second tuesday of the month at 9", Cron("0 9 * * 2#2")),
    ("every day in january at 8", Cron("0 8 * 1 *")),
    ("weekdays in june to august at 8", Cron("0 8 * 6-8 1-5")),
    ("every minute", Cron("* * * * *")),
    ("every second", Cron("* * * * * *")),
    ("every second, at most 5 times", Cron("* * * * * *", max_runs=5)),
    ("every second and fourth monday at 9", Cron("0 9 * * 1#2,1#4")),
    ("every 60 minutes", Cron("0 * * * *")),
    ("every 2 hours", Cron("0 */2 * * *")),
    ("every 120 minutes", Cron("0 */2 * * *")),
    ("every half hour", Cron("*/30 * * * *")),
    ("every quarter of an hour", Cron("*/15 * * * *")),
    ("every fifteen minutes", Cron("*/15 * * * *")),
    ("every 2 hours at minute 20", Cron("20 */2 * * *")),
    ("every hour at minutes 0 to 10 and 30", Cron("0-10,30 * * * *")),
    ("at minute 20 of every hour", Cron("20 * * * *")),
    ("every minute at second 15", Cron("15 * * * * *")),
    ("every hour on weekends", Cron("0 * * * 0,6")),
    ("every hour from 8am to 6pm on weekdays", Cron("0 8-18 * * 1-5")),
    ("every hour 8:00-18:00", Cron("0 8-18 * * *")),
    ("every 2 hours between 9 and 17", Cron("0 9-17/2 * * *")),
    ("every hour at minute 20 between 9 and 17", Cron("20 9-16 * * *")),
    ("every 15 minutes between 9:30 and 17:10", Cron("30,45 9 * * *; */15 10-16 * * *; 0 17 * * *")),
    ("every 15 minutes between 9:10 and 11:00", Cron("10,25,40,55 9,10 * * *")),
    ("every minute between 22:00 and 2:00", Cron("* 0,1,22,23 * * *; 0 2 * * *")),
    ("every 30 seconds between 9 and 10", Cron("*/30 * 9 * * *; 0 10 * * *")),
    ("every 10 minutes on the 1st of each month", Cron("*/10 * 1 * *")),
    ("every 7 minutes", Every("7m")),
    ("every 24 hours", Every("24h")),
    ("every 5 hours", Every("5h")),
    ("every 1 hour and 30 minutes", Every("1h30m")),
    ("every 1 day 12 hours", Every("1d12h")),
    ("every 15 minutes counted from creation", Every("15m")),
    ("every week, counted from creation", Every("1w")),
    ("every 7 minutes only on weekdays", Every("7m", only=("mon-fri",))),
    ("5 minutes after each run ends", Every("5m", pace="delay")),
    ("every 1h30m after the last run finished, 3 times", Every("1h30m", pace="delay", max_runs=3)),
    ("every other week on friday at 17:00", rule("FREQ=WEEKLY;INTERVAL=2;BYDAY=FR @17")),
    ("every fortnight on sunday at 5", rule("FREQ=WEEKLY;INTERVAL=2;BYDAY=SU @5")),
    ("every 2 weeks at 5:00 starting 2026-01-07", rule("DTSTART=20260107T050000;FREQ=WEEKLY;INTERVAL=2;BYDAY=WE @5")),
    (
        "every 2 weeks on mon at 5 and 7 starting 2026-01-05 at 6:00",
        rule("DTSTART=20260105T070000;FREQ=WEEKLY;INTERVAL=2;BYDAY=MO @5,7"),
    ),
    ("every 2 months on the last day at 8", rule("FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=-1 @8")),
    ("every 2 months on the second tuesday at 8", rule("FREQ=MONTHLY;INTERVAL=2;BYDAY=2TU @8")),
    ("every 2 years on 1 march at 8", rule("FREQ=YEARLY;INTERVAL=2;BYMONTH=3;BYMONTHDAY=1 @8")),
    (
        "quarterly on the third business day at 9",
        Rrule("FREQ=MONTHLY;BYMONTH=1,4,7,10;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0;BYSETPOS=3", "UTC"),
    ),
    ("at 2026-12-24 18:00", At(at("2026-12-24T18:00Z"))),
    ("once at 2026-12-24T18:00+02:00", At(at("2026-12-24T16:00Z"))),
    ("once at 2026-12-24 18:00Z", At(at("2026-12-24T18:00Z"))),
    ("at 2026-12-24T18:00-05:00", At(at("2026-12-24T23:00Z"))),
    ("2026-12-24", At(at("2026-12-24T00:00Z"))),
    ("at 6pm on 2026-12-24", At(at("2026-12-24T18:00Z"))),
    ("on 2026-10-25 at 2:30 in Europe/Berlin", At(at("2026-10-25T00:30Z"))),
    ("right away", Now()),
    ("manually", Manual()),
    ("on demand", Manual()),
    ("every monday at 9 in europe/berlin", Cron("0 9 * * 1", BERLIN)),
    ("every monday at 9 UTC", Cron("0 9 * * 1")),
    ("every monday at 9 in Asia/Calcutta", Cron("0 9 * * 1", "Asia/Kolkata")),
    (
        "every monday at 9 starting 2026-03-08 in America/Havana",
        Cron("0 9 * * 1", "America/Havana", start=at("2026-03-08T05:00Z")),
    ),
    (
        "hourly from 2026-01-05 to 2026-02-01 at 12:00",
        Cron("0 * * * *", start=at("2026-01-05T00:00Z"), end=at("2026-02-01T12:00Z")),
    ),
    (
        "hourly between 2026-01-05 and 2026-02-01",
        Cron("0 * * * *", start=at("2026-01-05T00:00Z"), end=at("2026-02-01T23:59:59Z")),
    ),
    ("until 2026-10-25 every day in Europe/Berlin", Cron("0 0 * * *", BERLIN, end=at("2026-10-25T22:59:59Z"))),
    ("hourly for ten times", Cron("0 * * * *", max_runs=10)),
    ("daily except sunday at 9", Cron("0 9 * * *", exclude=("sun",))),
    ("daily except 2026-12-24 at 9", Cron("0 9 * * *", exclude=("2026-12-24",))),
    ("daily except from 2026-12-24 to 2027-01-02", Cron("0 0 * * *", exclude=("2026-12-24/2027-01-02",))),
    ("daily except from 24 december to 2 january", Cron("0 0 * * *", exclude=("12-24/01-02",))),
    ("daily except in july and august", Cron("0 0 * * *", exclude=("jul-aug",))),
    ("hourly except on weekends between 22:00 and 6:00", Cron("0 * * * *", exclude=("sat-sun 22:00-06:00",))),
    ("hourly except on weekends and 22:00-6:00", Cron("0 * * * *", exclude=("sat-sun", "22:00-06:00"))),
    ("hourly except holidays in US and FR", Cron("0 * * * *", exclude=("holidays US", "holidays FR"))),
    (
        "daily at 9 only on holidays in US or the next allowed day",
        Cron("0 9 * * *", only=("holidays US",), when_excluded="move"),
    ),
    (
        "hourly except between 2026-12-24 at 18:00 and 2026-12-25 at 6:00",
        Cron("0 * * * *", exclude=("2026-12-24T18:00/2026-12-25T06:00",)),
    ),
]


@pytest.mark.parametrize(("sentence", "spec"), EXAMPLES + MORE)
def test_understood(sentence: str, spec: ScheduleSpec) -> None:
    assert read_english(sentence) == spec
    assert read_english(describe(spec)) == spec


@pytest.mark.parametrize("sentence", [sentence for sentence, spec in EXAMPLES if isinstance(spec, Cron | Rrule)])
def test_is_canonical(sentence: str) -> None:
    assert canonical(read_english(sentence)) == read_english(sentence)


REFUSED = [
    ("every fortnightish at 9", "I do not understand 'fortnightish' (word 2 of", "did you mean 'fortnightly'?"),
    ("every mondy at 9", "I do not understand 'mondy' (word 2 of", "did you mean 'monday'?"),
    ("every monday and tusday at 9", "I do not understand 'tusday' (word 4 of", "did you mean 'tuesday'?"),
    ("evry monday", "I do not understand 'evry' (word 1 of", "did you mean 'every'?"),
    ("tomorrow at 9", "I do not understand 'tomorrow' (word 1 of", "write how often"),
    ("every day at nine", "'nine' cannot stand here (word 4 of", "'9:30'"),
    ("every day at", "ends too early after 'at' (word 3 of", "write a time"),
    ("every", "ends too early after 'every' (word 1 of", "'15 minutes'"),
    ("", "no word was given", "write how often"),
    ("every day;", "ends too early after ';'", "write how often"),
    ("until 2026-12-31", "does not say when", "write how often"),
    ("every monday at 25:00", "there is no time '25:00' (word 4 of", "hours go to 23"),
    ("every monday at 9:75", "there is no time '9:75'", "minutes to 59"),
    ("every monday at 930", "'930' is not a time", "'9:30'"),
    ("every day at 24:00", "there is no time '24:00'", "0:00"),
    ("every day at 13pm", "there is no hour 13 pm", "leave out 'pm'"),
    ("every day at 0am", "there is no hour 0 am", "1 to 12"),
    ("at 8 and 9 pm on mondays", "'8' stands beside a time with am or pm", "'8am', '8pm' or '8:00'"),
    ("the 32nd of each month", "no month has a 32nd day (word 2 of", "1st to 31st"),
    ("the 0th of each month", "no month has a 0th day", "1st to 31st"),
    ("on the 31st of february", "February has no 31st (word 5 of", "'the last day'"),
    ("on 30 february", "February has no day 30", "1 to 29"),
    ("the sixth monday of the month", "no month has a 6th Monday", "count to the fifth"),
    ("the second to last monday of the month", "only the last one", "'last'"),
    ("the last weekends of the month", "'weekends' is more than one day", "'saturday'"),
    ("the first weekend of the month", "'weekend' is more than one day", "'saturday'"),
    ("every 0 minutes", "every 0 minutes is no pace (word 2 of", "at least 1"),
    ("every 0m", "every 0m is no pace", "at least 1"),
    ("every 9999999 weeks", "9999999 weeks are too many", "at most ten years"),
    ("every 2 quarters", "2 quarters are too many", "every 6 months"),
    ("every 30 minutes 1 hour", "from the largest to the smallest", "'1 hour and 30 minutes'"),
    ("every 15 minutes at 9", "a pace within the day has no time of the day (word 4 of", "between 9:00 and 17:00"),
    ("every hour at 20", "a pace within the day", "at minute 20"),
    ("every 7 minutes on weekdays", "without regard to days and hours (word 4 of", "only on"),
    ("every 10 minutes at minute 5", "minutes belong to a pace in hours", "every hour at minute 20"),
    ("every minute at second 75", "75 is out of range", "0 to 59"),
    ("every 15 minutes between 22:00 and 2:00 on weekdays", "the night belongs to two days (word 4 of", "';'"),
    ("every 15 minutes between 9 and 5", "leads over midnight (word 7 of", "'9am and 5pm'"),
    ("every 15 minutes between 9 and 5pm", "'9' stands beside a time with am or pm", "'9am', '9pm' or '9:00'"),
    ("every 15 minutes between 9 and 9", "the hours end where they begin", "two different times"),
    ("every hour at minute 20 between 9:30 and 10:10", "no time lies between them", "longer hours"),
    ("every 7 minutes between 0:00 and 23:00", "an uneven step gives 198 times a day", "shorter hours"),
    ("every 61 minutes between 0:00 and 23:00", "it takes 23 cron expressions", "fewer times"),
    ("between 9 and 17 on weekdays", "'between' needs a pace", "every 15 minutes between"),
    ("at 9:30", "'at' names no days", "every day at 9:30"),
    ("every january at 9", "names no days", "every day"),
    ("at 9 at 10 every day", "says the time again, after 'at' (word 3 of", "say it once"),
    ("every monday on tuesday", "says the days again", "';'"),
    ("at 8 on monday and at 9 on tuesday", "'at' cannot stand here (word 6 of", "';'"),
    ("on monday and the 15th", "joins a day of the week and a day of the month (word 5 of", "'or'"),
    ("on friday the 13th", "a day of the week on a certain date", "'or'"),
    ("every second tuesday at 9", "'every second tuesday' can mean two things", "'every 2 weeks on tuesday'"),
    ("every 3rd day", "can mean two things", "'every 3 days'"),
    ("biweekly on monday", "'biweekly' can mean two things (word 1 of", "'twice a week'"),
    ("weekly", "the day of the week is not said", "'weekly on monday'"),
    ("every 2 weeks at 18:00", "the day of the week is not said", "'every 2 weeks on monday'"),
    ("every month on monday", "which one is meant is not said", "'the first monday of each month'"),
    ("every 2 days on monday", "not on certain days", "leave out"),
    ("every 2 weeks on monday at 9:30 and 17:00", "different minutes", "one job for each"),
    ("every 2 years on the first business day of may and june", "by the year", "one job"),
    ("15th of the quarter", "in which month of the quarter", "name the months"),
    ("twice a day at 8", "2 times a day are announced", "at 8:00 and 20:00"),
    ("once at 9 every day", "does not say how often", "once a day"),
    ("5 minutes", "'5' stands alone", "every"),
    ("daily 9", "'9' cannot stand here", "'at 9'"),
    ("every 2 weeks on monday starting 2026-01-05 at 8:00", "says when the schedule starts", "before 'starting'"),
    (
        "every monday until 2026-12-31 at 9:00",
        "says when the schedule ends, not when it fires (word 3 of",
        "before 'until'",
    ),
    ("the thirty-first to last day of february", "not each month has 30 days before its last", "less far"),
    ("starting 01/02/2026 every day", "'01/02/2026' could be day or month (word 2 of", "2026-12-24"),
    ("on 24.12.2026 at 9", "could be day or month", "2026-12-24"),
    (
        "at 2026-12-24 18:00-05:00",
        "a time with an offset and two times look alike (word 3 of",
        "2026-12-24T18:00-05:00",
    ),
    ("on 25 december 2026 at 8", "with the year 2026", "2026-12-25"),
    ("every day at 9 until 2026-02-30", "there is no '2026-02-30'", "the calendar has"),
    ("on 0001-01-01", "the year 1 is out of bounds", "1970"),
    ("hourly starting 2026-02-01 until 2026-01-01", "it ends before it starts (word 4 of", "later"),
    ("every 2 years on 1 may starting 2026-06-01 until 2026-12-31", "it ends before its first time", "later"),
    ("on 2026-03-29 at 2:30 in Europe/Berlin", "the clocks of Europe/Berlin skip that time", "before or after"),
    ("hourly starting 2026-03-29 at 2:30 in Europe/Berlin", "the clocks of Europe/Berlin skip", "before or after"),
    ("every monday in Berlin", "'Berlin' is not a known time zone (word 4 of", "did you mean 'Europe/Berlin'?"),
    ("every monday in Europe/Berln", "'Europe/Berln' is not a known time zone", "did you mean 'Europe/Berlin'?"),
    ("every monday UTC (Europe/Berlin)", "says the time zone again", "say it once"),
    ("every monday for 0 times", "0 runs are out of bounds", "1 to 10000"),
    ("hourly except on holidays", "ends too early after 'holidays'", "holidays in DE"),
    ("hourly except on holidays in XX", "'XX' is not a country", "DE-BY"),
    ("hourly except on tomorrow", "I do not understand 'tomorrow'", "on weekends"),
    ("hourly except 2026-12-24T18:00", "is a single time", "2026-12-24"),
    ("hourly moved to the next allowed time", "nothing is left out", "except on"),
    ("every 5 minutes after the previous run ended except on weekends", "not known ahead (word 9 of", "leave it out"),
    ("every month after each run ends", "the period is not said", "every 5 minutes"),
    ("now at 9", "'at' does not go with a single time (word 2 of", "leave it out"),
    ("on 2026-12-24 at 18:00 except on weekends", "'except' does not go with a single time", "leave it out"),
    ("at 8 and 9 on 2026-12-24", "a date has one time", "kind 'times'"),
    ("every 7 minutes; at 9 every day", "cannot be joined", "one job for each"),
]


@pytest.mark.parametrize(("sentence", "message", "fix"), REFUSED)
def test_refused_with_the_word_and_what_to_write(sentence: str, message: str, fix: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        read_english(sentence)
    assert caught.value.field == "schedule.english"
    assert message in caught.value.message
    assert fix in (caught.value.fix or "")


def test_the_whole_sentence_is_quoted() -> None:
    with pytest.raises(ScheduleError) as caught:
        read_english("  every   fortnightish\tat 9 ")
    assert caught.value.message == "I do not understand 'fortnightish' (word 2 of \"every fortnightish at 9\")"


def test_zone_beside_the_sentence() -> None:
    assert read_english("every monday at 9", BERLIN) == Cron("0 9 * * 1", BERLIN)
    assert read_english("every monday at 9 (Europe/Berlin)", BERLIN) == Cron("0 9 * * 1", BERLIN)
    assert read_english("every 2 days at 9", BERLIN).tz == BERLIN  # type: ignore[union-attr]
    assert read_english("on 2026-07-01 at 9", BERLIN) == At(datetime(2026, 7, 1, 7, tzinfo=UTC))
    with pytest.raises(ScheduleError, match=r"says UTC, but tz is Europe/Berlin \(word 5 of"):
        read_english("every monday at 9 UTC", BERLIN)
    with pytest.raises(ScheduleError, match="not a known time zone"):
        read_english("every monday at 9", "Atlantis")


def test_too_long() -> None:
    with pytest.raises(ScheduleError, match="more than 300"):
        read_english("every day at 9 " + "and 10 " * 50)
