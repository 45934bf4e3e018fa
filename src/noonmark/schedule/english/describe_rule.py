"""Rules of RFC 5545 in words."""

from datetime import timedelta
from itertools import product

from noonmark.schedule.english.describe_days import days_phrase
from noonmark.schedule.english.said import SaidDays
from noonmark.schedule.english.times import clock_text
from noonmark.schedule.english.words import listed, ordinal
from noonmark.schedule.forms.rule_parts import EPOCH, RuleParts

_UNITS = {
    "YEARLY": "year",
    "MONTHLY": "month",
    "WEEKLY": "week",
    "DAILY": "day",
    "HOURLY": "hour",
    "MINUTELY": "minute",
    "SECONDLY": "second",
}
_WORKDAYS = tuple((weekday, 0) for weekday in range(5))
_MAX_LISTED = 24


def rule_sentence(parts: RuleParts) -> str:
    parts = parts if parts.start_s is None else parts.explicit(parts.start_s)
    days, others = _days(parts)
    where = days_phrase(days, parts.months, of_each=False)
    times = _times(parts)
    unit = _UNITS[parts.freq]
    if days.working and parts.interval == 1 and parts.freq == "MONTHLY":
        words = f"{times[0].upper()}{times[1:]} {days_phrase(days, parts.months)}"
    else:
        pace = unit if parts.interval == 1 else f"{parts.interval} {unit}s"
        words = " ".join(filter(None, (f"Every {pace}", where, times)))
    return "".join([words, *(f", {other}" for other in others)])


def rule_bounds(parts: RuleParts) -> str:
    """Its start, its end and the times that were added or taken away."""
    words = ""
    if parts.start_s is not None:
        first = min(_seconds(parts.explicit(parts.start_s)), default=None)
        time = "" if parts.start_s % 86_400 == first else f" at {clock_text(parts.start_s % 86_400)}"
        words += f", starting {_date(parts.start_s)}{time}"
    if parts.until_s is not None:
        time = "" if parts.until_s % 86_400 == 86_399 else f" at {clock_text(parts.until_s % 86_400)}"
        words += f", until {_date(parts.until_s)}{time}"
    words += f", {parts.count} times" if parts.count is not None else ""
    words += f", also at {_moments(parts.extra_s)}" if parts.extra_s else ""
    return words + (f", but not at {_moments(parts.removed_s)}" if parts.removed_s else "")


def _days(parts: RuleParts) -> tuple[SaidDays, list[str]]:
    """The days that have words in the grammar, and the rest in other words."""
    days, others = SaidDays(), []
    for weekday, nth in parts.week_days:
        if nth in (0, 1, 2, 3, 4, 5, -1) and not (nth and parts.freq == "YEARLY" and not parts.months):
            if nth:
                days.nth.add(((weekday + 1) % 7, nth))
            else:
                days.weekdays.add((weekday + 1) % 7)
        else:
            span = "month" if parts.freq == "MONTHLY" or parts.months else "year"
            others.append(f"on the {_from_end(nth)} {_weekday(weekday)} of the {span}")
    days.dates = {date for date in parts.month_days if date > 0}
    days.before_last = {-date - 1 for date in parts.month_days if date < 0}
    positions = parts.positions
    if positions and parts.week_days == _WORKDAYS and not parts.month_days and all(abs(n) <= 20 for n in positions):
        days.weekdays, days.working = set(), set(positions)
        positions = ()
    if days.weekdays and days.of_month():
        others.append(f"if that is {days_phrase(SaidDays(weekdays=days.weekdays), ()).removeprefix('on ')}")
        days.weekdays = set()
    others += [f"in week {listed(map(str, parts.week_numbers))} of the year"] if parts.week_numbers else []
    others += [f"on day {listed(map(str, parts.year_days))} of the year"] if parts.year_days else []
    others += [f"only the {listed(map(_from_end, positions))} of these"] if positions else []
    return days, others


def _times(parts: RuleParts) -> str:
    found = _seconds(parts)
    if 0 < len(found) <= _MAX_LISTED:
        return f"at {listed(map(clock_text, found))}"
    fields = (("hour", parts.hours), ("minute", parts.minutes), ("second", parts.seconds))
    given = [f"at {name} {listed(map(str, values))}" for name, values in fields if values]
    if parts.by_the_day and not parts.hours:
        given.append("at the time of day of its creation")
    return " ".join(given)


def _seconds(parts: RuleParts) -> list[int]:
    """The times of a day, if the rule names them all."""
    seconds = parts.seconds or (0,)
    return sorted(h * 3_600 + m * 60 + s for h, m, s in product(parts.hours, parts.minutes, seconds))


def _from_end(number: int) -> str:
    if number == -1:
        return "last"
    return ordinal(number) if number > 0 else f"{ordinal(-number)} to last"


def _weekday(weekday: int) -> str:
    return days_phrase(SaidDays(weekdays={(weekday + 1) % 7}), ()).removeprefix("on ")


def _date(wall_s: int) -> str:
    return (EPOCH + timedelta(seconds=wall_s)).date().isoformat()


def _moments(walls_s: tuple[int, ...]) -> str:
    if len(walls_s) > 3:
        return f"{len(walls_s)} times"
    return listed(f"{_date(wall_s)} {clock_text(wall_s % 86_400)}" for wall_s in walls_s)
