"""The day fields of cron for the days that were said."""

from collections.abc import Collection
from typing import NoReturn

from noonmark.schedule.english.fields import DayFields, numbers
from noonmark.schedule.english.said import Said, SaidDays
from noonmark.schedule.english.tokens import Reader
from noonmark.schedule.english.words import MONTH_LENGTHS, MONTH_NAMES, QUARTER_ENDS, QUARTER_STARTS, ordinal

_DAYS_FIX = "say on which days: 'every day at 9:30', 'every weekday at 9:30'"


def refuse(reader: Reader, said: Said, clause: str, message: str, fix: str) -> NoReturn:
    """Points at the word that opened the clause."""
    reader.wrong(said.tokens[clause], message, fix)


def day_fields(reader: Reader, said: Said, unit: str | None) -> list[DayFields]:
    """One for each set of months that has its own days."""
    days = said.days
    check_unit(reader, said, unit)
    if days.annual:
        return _annual(reader, said)
    counted_in = said.period or unit
    if counted_in in ("quarter", "year") and not said.months:
        return [_fields(part, months) for part, months in by_period(reader, said, counted_in)]
    if not days and counted_in in ("month", "quarter", "year"):
        days = SaidDays(dates={1})
    check_lengths(reader, said)
    return [_fields(days, said.months)]


def check_unit(reader: Reader, said: Said, unit: str | None) -> None:
    """Refuses days that do not go with the unit of the step."""
    days = said.days
    if not days and unit is None:
        clause = next((name for name in ("times", "months", "period") if name in said.tokens), None)
        if clause is None:
            reader.confused(_DAYS_FIX)
        refuse(reader, said, clause, f"{said.tokens[clause].written!r} names no days", _DAYS_FIX)
    if unit == "week" and (days.of_month() or days.annual or said.period or not days.weekdays):
        message = "a week has no such day" if days else "the day of the week is not said"
        refuse(
            reader,
            said,
            "days" if days else next(iter(said.tokens)),
            message,
            "name a day of the week: 'weekly on monday'",
        )
    if (unit in ("month", "quarter", "year") or said.period) and days.weekdays and not days.of_month():
        fix = "write 'every monday', or 'the first monday of each month'"
        refuse(reader, said, "days", "which one is meant is not said", fix)
    if said.period and not days.of_month() and unit not in ("month", "quarter", "year"):
        refuse(reader, said, "period", "no day of it is named", "write 'the first day of each month' or the like")
    if said.period and unit not in (None, said.period):
        refuse(reader, said, "period", f"it is said for each {unit} and for each {said.period}", "say one of them")
    if said.period and said.months:
        refuse(reader, said, "period", "the months are named already", "leave one of the two out")


def check_lengths(reader: Reader, said: Said) -> None:
    """Each named month has each date."""
    for date in sorted(said.days.dates | said.days.nearest):
        for month in sorted(said.months):
            if date > MONTH_LENGTHS[month - 1]:
                message = f"{MONTH_NAMES[month - 1]} has no {ordinal(date)}"
                refuse(reader, said, "months", message, "leave it out, or write 'the last day'")
    for before in said.days.before_last:
        if any(before >= MONTH_LENGTHS[month - 1] for month in said.months):
            refuse(reader, said, "months", f"not each month has {before} days before its last", "count less far back")


def by_period(reader: Reader, said: Said, period: str) -> list[tuple[SaidDays, tuple[int, ...]]]:
    """Days of a quarter or year that lie in its first month, and in its last."""
    days = said.days or SaidDays(dates={1})
    fifths = {(weekday, n) for weekday, n in days.nth if n == 5}
    if days.dates - {1} or days.nearest or fifths or days.weekdays or any(abs(n) > 15 for n in days.working):
        fix = "name the months: 'the 15th of january, april, july and october'"
        refuse(reader, said, "days", f"in which month of the {period} is not said", fix)
    first = SaidDays(dates=days.dates)
    first.nth = {(weekday, n) for weekday, n in days.nth if n > 0}
    first.working = {n for n in days.working if n > 0}
    last = SaidDays(before_last=days.before_last)
    last.nth, last.working = days.nth - first.nth, days.working - first.working
    starts, ends = (QUARTER_STARTS, QUARTER_ENDS) if period == "quarter" else ((1,), (12,))
    return [(part, months) for part, months in ((first, starts), (last, ends)) if part]


def _annual(reader: Reader, said: Said) -> list[DayFields]:
    if said.months or said.period not in (None, "year") or said.days.of_month() or said.days.weekdays:
        fix = "separate two schedules with ';'"
        refuse(reader, said, "days", "dates of a year and other days do not mix", fix)
    months_of: dict[int, set[int]] = {}
    for month, date in sorted(said.days.annual):
        months_of.setdefault(date, set()).add(month)
    dates_of: dict[frozenset[int], set[int]] = {}
    for date, months in months_of.items():
        dates_of.setdefault(frozenset(months), set()).add(date)
    return [_fields(SaidDays(dates=dates), months) for months, dates in dates_of.items()]


def _fields(days: SaidDays, months: Collection[int]) -> DayFields:
    date = [numbers(days.dates)] if days.dates else []
    date += [f"{near}W" for near in sorted(days.nearest | (days.working & {1}))]
    date += [f"L-{before}" if before else "L" for before in sorted(days.before_last)]
    date += ["LW"] if -1 in days.working else []
    # With any other day beside it, a star would no longer stand for all days.
    every_day = len(days.weekdays) == 7 and not days.of_month()
    weekday = [numbers(days.weekdays)] if days.weekdays and not every_day else []
    weekday += [f"{day}L" if n == -1 else f"{day}#{n}" for day, n in sorted(days.nth, key=_nth_order)]
    month = "*" if len(months) in (0, 12) else numbers(months)
    return DayFields(",".join(date) or "*", month, ",".join(weekday) or "*")


def _nth_order(nth: tuple[int, int]) -> tuple[int, int]:
    weekday, n = nth
    return weekday, n % 7
