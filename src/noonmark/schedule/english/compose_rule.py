"""A rule of RFC 5545 for what cron cannot count: every 2 weeks, every 3 months, the second working day."""

from datetime import UTC, datetime
from typing import Any

import msgspec

from noonmark.schedule.english.compose_days import by_period, check_lengths, check_unit, refuse
from noonmark.schedule.english.moments import instant
from noonmark.schedule.english.said import Day, Said, SaidDays
from noonmark.schedule.english.tokens import Reader
from noonmark.schedule.forms.rrule import RulePattern
from noonmark.schedule.forms.rule_parts import EPOCH, RuleParts
from noonmark.schedule.zones import zone

_FREQUENCIES: dict[str, Any] = {"day": "DAILY", "week": "WEEKLY", "month": "MONTHLY", "year": "YEARLY"}
_WORKDAYS = tuple((weekday, 0) for weekday in range(5))


def rule_parts(reader: Reader, said: Said, count: int, unit: str, start: Day | None, tz: str) -> RuleParts:
    """With a start, its first time is the first that matches from then on."""
    if unit != "week" or said.days:
        check_unit(reader, said, said.step.unit if said.step else None)
    values = {"tz": tz, "freq": _FREQUENCIES[unit], "interval": count, **_times(reader, said)}
    values |= _days(reader, said, unit, start)
    if "positions" in values and len(values["hours"]) * len(values["minutes"]) > 1:
        refuse(reader, said, "times", "a counted working day has one time", "make one job for each time")
    parts = RuleParts(**values)
    if start is not None:
        parts = msgspec.structs.replace(parts, start_s=_first_s(reader, said, parts, start))
    return parts


def wall_s(moment: datetime, tz: str) -> int:
    """By the wall clock, like all times of a rule."""
    return int((moment.astimezone(zone(tz)).replace(tzinfo=UTC) - EPOCH).total_seconds())


def _times(reader: Reader, said: Said) -> dict[str, Any]:
    times = said.times or [0]
    hours, minutes, seconds = (
        tuple(sorted({at_s // size % span for at_s in times})) for size, span in ((3_600, 24), (60, 60), (1, 60))
    )
    if len(hours) * len(minutes) * len(seconds) != len(times):
        message = "times with different minutes cannot be counted together"
        refuse(reader, said, "times", message, "make one job for each time")
    return {"hours": hours, "minutes": minutes, "seconds": seconds}


def _days(reader: Reader, said: Said, unit: str, start: Day | None) -> dict[str, Any]:
    days, months = said.days, tuple(sorted(said.months))
    if unit == "day" and days:
        refuse(reader, said, "days", "every so many days is not on certain days", "leave out the days, or the number")
    if unit == "day":
        return {"months": months}
    if unit == "week":
        return {"months": months, "week_days": _weekdays(reader, said, start)}
    if months and unit == "month" and said.step and said.step.number > 1:
        refuse(reader, said, "months", "every so many months is not in certain months", "leave one of the two out")
    if days.annual:
        return _annual(reader, said)
    counted_in = said.period or (said.step.unit if said.step else unit)
    if counted_in in ("quarter", "year") and not months:
        found = by_period(reader, said, counted_in)
        if len(found) > 1:
            refuse(reader, said, "days", "its first and its last month do not mix", "make one job for each")
        days, months = found[0]
    check_lengths(reader, said)
    return {"months": months, **_of_month(reader, said, days or SaidDays(dates={1}))}


def _weekdays(reader: Reader, said: Said, start: Day | None) -> tuple[tuple[int, int], ...]:
    if said.days.weekdays:
        return tuple(sorted(((weekday - 1) % 7, 0) for weekday in said.days.weekdays))
    if start is None:
        fix = "name a day of the week, or a date to start from: 'every 2 weeks on monday'"
        refuse(reader, said, "step", "the day of the week is not said", fix)
    return ((start.day.weekday(), 0),)


def _annual(reader: Reader, said: Said) -> dict[str, Any]:
    months, dates = (tuple(sorted({pair[at] for pair in said.days.annual})) for at in (0, 1))
    other = said.months or said.days.of_month() or said.days.weekdays or said.period
    if other or len(months) * len(dates) != len(said.days.annual):
        refuse(reader, said, "days", "these days cannot be counted together", "make one job for each")
    return {"months": months, "month_days": dates}


def _of_month(reader: Reader, said: Said, days: SaidDays) -> dict[str, Any]:
    fix = "make one job for each kind of day"
    if days.nearest or days.weekdays or bool(days.dates or days.before_last) + bool(days.nth) + bool(days.working) > 1:
        refuse(reader, said, "days", "such days cannot be counted together", fix)
    if days.working and said.step and said.step.unit == "year" and len(said.months) > 1:
        refuse(reader, said, "days", "the working days of several months cannot be counted by the year", fix)
    if days.working:
        return {"week_days": _WORKDAYS, "positions": tuple(sorted(days.working))}
    if days.nth:
        return {"week_days": tuple(sorted(((weekday - 1) % 7, n) for weekday, n in days.nth))}
    return {"month_days": tuple(sorted(days.dates | {-before - 1 for before in days.before_last}))}


def _first_s(reader: Reader, said: Said, parts: RuleParts, start: Day) -> int:
    wall = datetime.combine(start.day, datetime.min.time(), UTC)
    start_s = int((wall - EPOCH).total_seconds()) + (start.time_s or 0)
    if start.offset_s is not None:
        moment = instant(start, parts.tz)
        assert moment is not None
        start_s = wall_s(moment, parts.tz)
    counting = msgspec.structs.replace(parts, interval=1, start_s=start_s)
    found = RulePattern(counting.body).next_wall(start_s - 1)
    if found is None:
        refuse(reader, said, "days", "no such day comes", "check the days and months")
    return found
