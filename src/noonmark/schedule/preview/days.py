"""Days on which a schedule does not fire, though its owner may think so, and the other way round."""

from collections.abc import Iterator
from datetime import date

from noonmark.schedule.preview.context import PreviewContext
from noonmark.schedule.preview.model import Notice
from noonmark.schedule.preview.words import and_text, month_text
from noonmark.schedule.spec import Cron

_ENOUGH = 20
"""Firing days from which something can be said about the week."""
_WEEKEND = {5, 6}
_SHORT_MONTHS = {2, 4, 6, 9, 11}


def weekends(context: PreviewContext) -> Iterator[Notice]:
    if len(context.firing_days) < _ENOUGH:
        return
    weekdays = {day.weekday() for day in context.firing_days}
    if len(weekdays) > 1 and not weekdays & _WEEKEND:
        yield Notice("never_on_weekends", "never fires on weekends")
    if weekdays == _WEEKEND:
        yield Notice("only_on_weekends", "fires on weekends only")


def short_months(context: PreviewContext) -> Iterator[Notice]:
    days = context.firing_days
    if len(days) < _ENOUGH or any(day.day < 29 for day in days) or _names_months(context):
        return
    if all((day.month, day.day) == (2, 29) for day in days):
        yield Notice("leap_years_only", "fires in leap years only, on 29 February")
        return
    skipped = _skipped_months(days)
    if not skipped or not {month for _, month in skipped} <= _SHORT_MONTHS:
        return
    lowest = min(day.day for day in days)
    if {month for _, month in skipped} == {2}:
        when = "in years that are no leap years" if lowest == 29 else "in every year"
        yield Notice("short_months", f"skips February {when}, as it has no {lowest}th (L is the last day of a month)")
        return
    months = and_text([month_text(month) for month in sorted({month for _, month in skipped})])
    ordinal = "31st" if lowest == 31 else f"{lowest}th"
    yield Notice("short_months", f"skips {months}, which have no {ordinal} (L is the last day of a month)")


def cron_days(context: PreviewContext) -> Iterator[Notice]:
    """Vixie's rule: two restricted fields of days are joined by OR, unless one of them begins with a star."""
    if not isinstance(context.plain, Cron):
        return
    for expression in context.plain.cron.split(";"):
        *_, day, _, weekday = expression.split()
        if not day.startswith("*") and not weekday.startswith("*"):
            yield Notice(
                "day_or_weekday",
                f"fires on days of the month {day} and on days of the week {weekday} as well: cron joins the two "
                "fields by OR (to have both hold, move one of them to `only`)",
            )
        elif "*" not in (day, weekday):
            yield Notice(
                "day_and_weekday",
                f"fires only when day of the month {day} and day of the week {weekday} both hold: cron joins the two "
                "fields by AND if one begins with a star",
            )


def _names_months(context: PreviewContext) -> bool:
    """Who writes the months out knows which of them are short."""
    if not isinstance(context.plain, Cron):
        return False
    return any(expression.split()[-2] not in ("*", "2") for expression in context.plain.cron.split(";"))


def _skipped_months(days: list[date]) -> set[tuple[int, int]]:
    fired = {(day.year, day.month) for day in days}
    first, last = days[0].year * 12 + days[0].month, days[-1].year * 12 + days[-1].month
    every = {((month - 1) // 12, (month - 1) % 12 + 1) for month in range(first, last + 1)}
    return every - fired
