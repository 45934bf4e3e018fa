"""Days in words, such that the grammar reads them back."""

from collections.abc import Callable, Collection, Iterable

from noonmark.schedule.english.said import SaidDays
from noonmark.schedule.english.words import (
    MONTH_NAMES,
    WEEKDAY_NAMES,
    WEEKEND,
    WORKDAYS,
    counted,
    listed,
    ordinal,
    ordinal_word,
)
from noonmark.schedule.forms.cron_fields import DAY, MONTH, WEEKDAY, MonthDay, WeekdayOfMonth, read_field


def days_phrase(days: SaidDays, months: Collection[int], *, of_each: bool = True) -> str:
    """`on the 1st and 15th of each month`, `on weekdays in January`, ` in July`; nothing for every day."""
    dates = month_items(days)
    words = listed(f"on {item}" for item in dates) if dates else ""
    if days.weekdays:
        words += f" or {weekdays_phrase(days.weekdays)}" if dates else weekdays_phrase(days.weekdays)
    if 0 < len(months) < 12:
        return f"{words} {'of' if dates and not days.weekdays else 'in'} {months_phrase(months)}".lstrip()
    return f"{words} of each month" if dates and not days.weekdays and of_each else words


def month_items(days: SaidDays) -> list[str]:
    """Each kind of day that is named by its place in the month."""
    items = [f"the {listed(_ranges(sorted(days.dates), ordinal))}"] if days.dates else []
    if 0 in days.before_last:
        items.append("the last day")
    items += [f"the {ordinal_word(before + 1)} to last day" for before in sorted(days.before_last - {0})]
    items += [f"the weekday nearest the {ordinal(date)}" for date in sorted(days.nearest)]
    if days.working:
        items.append(f"the {listed(_from_either_end(n) for n in sorted(days.working, key=_last_to_the_end))} weekday")
    for weekday in sorted({weekday for weekday, _ in days.nth}):
        places = sorted((n for day, n in days.nth if day == weekday), key=_last_to_the_end)
        items.append(f"the {listed(map(_from_either_end, places))} {WEEKDAY_NAMES[weekday]}")
    return items


def weekdays_phrase(weekdays: Collection[int]) -> str:
    if set(weekdays) in (WORKDAYS, WEEKEND):
        return "on weekdays" if 1 in weekdays else "on weekends"
    from_monday = sorted((weekday - 1) % 7 for weekday in weekdays)
    return f"on {listed(_ranges(from_monday, lambda weekday: WEEKDAY_NAMES[(weekday + 1) % 7]))}"


def months_phrase(months: Collection[int]) -> str:
    return listed(MONTH_NAMES[month - 1] for month in sorted(months))


def cron_days_phrase(date: str, month: str, weekday: str) -> str:
    """The three day fields of a canonical expression; nothing for every day."""
    months = {value for term in read_field(MONTH, month) for value in term.values}
    if "H" in date + month + weekday:
        return _own_days(date, month, weekday, months)
    days = SaidDays()
    others = _read_dates(days, date) if date != "*" else []
    if weekday != "*":
        _read_weekdays(days, weekday)
    if len(days.weekdays) == 7 and not days.nth and date == "*":
        days = SaidDays()
    either = date[0] != "*" != weekday[0]
    if not others and (either or date == "*" or weekday == "*"):
        return days_phrase(days, months)
    return _both(days, others, months, either=either)


def _both(days: SaidDays, others: list[str], months: Collection[int], *, either: bool) -> str:
    """What the grammar has no words for: days that two fields must agree on, and days near the end of a month."""
    by_weekday = SaidDays(weekdays=days.weekdays, nth=days.nth)
    by_date = SaidDays(dates=days.dates, before_last=days.before_last, nearest=days.nearest, working=days.working)
    dates = listed(f"on {item}" for item in [*month_items(by_date), *others])
    if not by_weekday:
        named = f"of {months_phrase(months)}" if len(months) < 12 else "of each month"
        return f"{dates} {named}"
    named = f" in {months_phrase(months)}" if len(months) < 12 else ""
    if either:
        return f"{dates} or {days_phrase(by_weekday, (), of_each=False)}{named}"
    which = [WEEKDAY_NAMES[weekday] for weekday in sorted(by_weekday.weekdays, key=lambda weekday: (weekday - 1) % 7)]
    which += [item.removeprefix("the ") for item in month_items(SaidDays(nth=by_weekday.nth))]
    return f"{dates}{named}, if that is a {listed(which, 'or')}"


def _read_dates(days: SaidDays, text: str) -> list[str]:
    """Fills in the dates; what `SaidDays` cannot hold is returned in words."""
    others: list[str] = []
    for term in read_field(DAY, text):
        match term.special:
            case None:
                days.dates |= set(term.values)
            case MonthDay(number, False, _):
                days.working |= {1} if number == 1 else set()
                days.nearest |= {number} - {1}
            case MonthDay(0, True, True):
                days.working.add(-1)
            case MonthDay(number, True, False):
                days.before_last.add(number)
            case MonthDay(number, True, True):
                others.append(f"the weekday nearest to {counted(number, 'day')} before the last day")
    return others


def _read_weekdays(days: SaidDays, text: str) -> None:
    for term in read_field(WEEKDAY, text):
        if isinstance(term.special, WeekdayOfMonth):
            days.nth.add((term.special.weekday, term.special.nth or -1))
        days.weekdays |= set(term.values)


def _own_days(date: str, month: str, weekday: str, months: Collection[int]) -> str:
    """An H that no key has resolved yet."""
    parts = []
    if "H" in date:
        parts.append("on a day of the month of the job's own")
    elif date != "*":
        parts.append(cron_days_phrase(date, "*", "*"))
    if "H" in weekday:
        parts.append("on a day of the week of the job's own")
    elif weekday != "*":
        parts.append(cron_days_phrase("*", "*", weekday) or "on any day")
    words = (" or " if date[0] != "*" != weekday[0] else ", if that is ").join(parts)
    if "H" in month:
        return f"{words} in a month of the job's own".lstrip()
    return f"{words} in {months_phrase(months)}".lstrip() if len(months) < 12 else words


def _ranges(ordered: list[int], name: Callable[[int], str]) -> Iterable[str]:
    """Three or more in a row as `1st to 7th`."""
    start = 0
    for at in range(1, len(ordered) + 1):
        if at < len(ordered) and ordered[at] == ordered[at - 1] + 1:
            continue
        if at - start > 2:
            yield f"{name(ordered[start])} to {name(ordered[at - 1])}"
        else:
            yield from map(name, ordered[start:at])
        start = at


def _from_either_end(number: int) -> str:
    if number == -1:
        return "last"
    return ordinal_word(number) if number > 0 else f"{ordinal_word(-number)} to last"


def _last_to_the_end(number: int) -> tuple[bool, int]:
    return number < 0, number
