"""A rule of RFC 5545 as values, and the one line that says it."""

from datetime import UTC, datetime, timedelta
from typing import Literal

import msgspec

Frequency = Literal["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY"]
WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class RuleParts(msgspec.Struct, frozen=True, kw_only=True):
    """What RRULE, DTSTART, EXDATE and RDATE say; times are seconds of the wall clock of the zone."""

    tz: str = "UTC"
    start_s: int | None = None
    freq: Frequency
    interval: int = 1
    count: int | None = None
    until_s: int | None = None
    week_start: int = 0
    months: tuple[int, ...] = ()
    week_numbers: tuple[int, ...] = ()
    year_days: tuple[int, ...] = ()
    month_days: tuple[int, ...] = ()
    week_days: tuple[tuple[int, int], ...] = ()
    """Weekday (0 is Monday) and its position in the month or year; 0 is each."""
    hours: tuple[int, ...] = ()
    minutes: tuple[int, ...] = ()
    seconds: tuple[int, ...] = ()
    positions: tuple[int, ...] = ()
    extra_s: tuple[int, ...] = ()
    removed_s: tuple[int, ...] = ()

    @property
    def by_the_day(self) -> bool:
        """The unit of the frequency is a day or longer."""
        return self.freq not in ("HOURLY", "MINUTELY", "SECONDLY")

    @property
    def keeps_pace(self) -> bool:
        """As a cron expression with `*` for the minute or the hour: no hour is named, or each minute of one counts."""
        any_minute = self.freq in ("MINUTELY", "SECONDLY") and not self.minutes
        return not self.by_the_day and (any_minute or not self.hours)

    @property
    def body(self) -> str:
        """One line, its parts in a fixed order, without the zone and without what is the default or has no effect."""
        return _body(self)

    def explicit(self, start_s: int) -> "RuleParts":
        """The same rule with each value that RFC 5545 takes from the start written out."""
        start = EPOCH + timedelta(seconds=start_s)
        implied: dict[str, tuple[object, ...]] = {}
        if not (self.year_days or self.month_days or self.week_days):
            if self.freq == "WEEKLY" or self.week_numbers:
                implied["week_days"] = ((start.weekday(), 0),)
            elif self.freq in ("YEARLY", "MONTHLY"):
                implied["month_days"] = (start.day,)
                if self.freq == "YEARLY" and not self.months:
                    implied["months"] = (start.month,)
        if self.by_the_day and not self.hours:
            implied["hours"] = (start.hour,)
        if (self.by_the_day or self.freq == "HOURLY") and not self.minutes:
            implied["minutes"] = (start.minute,)
        if self.freq != "SECONDLY" and not self.seconds:
            implied["seconds"] = (start.second,)
        return msgspec.structs.replace(self, **implied)


def _body(parts: RuleParts) -> str:
    listed: list[tuple[str, str]] = [
        ("DTSTART", "" if parts.start_s is None else moment_text(parts.start_s)),
        ("FREQ", parts.freq),
        ("INTERVAL", "" if parts.interval == 1 else str(parts.interval)),
        ("COUNT", "" if parts.count is None else str(parts.count)),
        ("UNTIL", "" if parts.until_s is None else moment_text(parts.until_s)),
        ("WKST", WEEKDAYS[parts.week_start] if _week_start_matters(parts) else ""),
        ("BYMONTH", _numbers(parts.months)),
        ("BYWEEKNO", _numbers(parts.week_numbers)),
        ("BYYEARDAY", _numbers(parts.year_days)),
        ("BYMONTHDAY", _numbers(parts.month_days)),
        ("BYDAY", ",".join(f"{nth or ''}{WEEKDAYS[weekday]}" for weekday, nth in parts.week_days)),
        ("BYHOUR", _numbers(parts.hours)),
        ("BYMINUTE", _numbers(parts.minutes)),
        ("BYSECOND", _numbers(parts.seconds)),
        ("BYSETPOS", _numbers(parts.positions)),
        ("RDATE", ",".join(map(moment_text, parts.extra_s))),
        ("EXDATE", ",".join(map(moment_text, parts.removed_s))),
    ]
    return ";".join(f"{name}={value}" for name, value in listed if value)


def moment_text(wall_s: int) -> str:
    """A time of the wall clock as 20260131T090000."""
    return (EPOCH + timedelta(seconds=wall_s)).strftime("%Y%m%dT%H%M%S")


def _week_start_matters(parts: RuleParts) -> bool:
    weekly = parts.freq == "WEEKLY" and (parts.interval > 1 or bool(parts.positions))
    return parts.week_start != 0 and (weekly or bool(parts.week_numbers))


def _numbers(values: tuple[int, ...]) -> str:
    return ",".join(map(str, values))
