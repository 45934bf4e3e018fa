"""What is left out, and the bounds, in words."""

from datetime import UTC, datetime

from noonmark.schedule.calendar.days import Dates, Months, Weekdays, Yearly, date_of
from noonmark.schedule.calendar.days import Days as CalendarDays
from noonmark.schedule.calendar.public_holidays import PublicHolidays
from noonmark.schedule.calendar.rules import DayRule, HourRule, WindowRule, read_rule
from noonmark.schedule.english.describe_days import months_phrase, weekdays_phrase
from noonmark.schedule.english.moments import moment_text
from noonmark.schedule.english.times import clock_text
from noonmark.schedule.english.words import MONTH_NAMES, counted, listed
from noonmark.schedule.spec import Recurring, WallClock

_GAP = {
    "skip": "leaving out times that the clocks skip",
    "after": "running times that the clocks skip right after the change",
    "shift": "shifting times that the clocks skip by the length of the change",
}
_OVERLAP = {
    "first": "running times that the clocks repeat the first time only",
    "second": "running times that the clocks repeat the second time only",
    "both": "running times that the clocks repeat both times",
}


def extras_phrase(spec: Recurring, tz: str) -> str:
    """Each clause with a comma before it."""
    words = ""
    if spec.start is not None:
        words += f", starting {moment_text(spec.start, tz)}"
    if spec.end is not None:
        words += f", until {moment_text(spec.end, tz, last=True)}"
    if spec.max_runs is not None:
        words += f", at most {counted(spec.max_runs, 'time')}"
    for name in ("exclude", "only"):
        rules: tuple[str, ...] = getattr(spec, name)
        if rules:
            phrases = listed(_rule_phrase(rule, f"schedule.{name}[{at}]") for at, rule in enumerate(rules))
            words += f", {'except' if name == 'exclude' else 'only'} {phrases}"
    if spec.when_excluded == "move":
        words += ", moved to the next allowed time"
    if isinstance(spec, WallClock):
        words += f", {_GAP[spec.gap]}" if spec.gap != "auto" else ""
        words += f", {_OVERLAP[spec.overlap]}" if spec.overlap != "auto" else ""
    return words


def _rule_phrase(text: str, field: str) -> str:
    match read_rule(text, field):
        case DayRule(days):
            return _days_phrase(days) or "between 00:00 and 24:00"
        case HourRule(days, start_s, end_s):
            hours = f"between {clock_text(start_s)} and {clock_text(end_s % 86_400)}"
            return f"{_days_phrase(days)} {hours}".lstrip()
        case WindowRule(start_s, end_s, instants):
            form = "%Y-%m-%dT%H:%M:%SZ" if instants else "%Y-%m-%d at %H:%M:%S"
            return f"between {_wall(start_s):{form}} and {_wall(end_s):{form}}"


def _days_phrase(days: CalendarDays) -> str:
    match days:
        case PublicHolidays():
            return f"on holidays in {str(days).removeprefix('holidays ')}"
        case Weekdays(chosen):
            return weekdays_phrase({(weekday + 1) % 7 for weekday in chosen})
        case Months(chosen):
            return f"in {months_phrase([month + 1 for month in chosen])}"
        case Dates(first, last):
            return f"{date_of(first)}" if first == last else f"from {date_of(first)} to {date_of(last)}"
        case Yearly(first, last):
            ends = [f"{date} {MONTH_NAMES[month - 1]}" for month, date in (first, last)]
            return f"on {ends[0]}" if first == last else f"from {ends[0]} to {ends[1]}"
    return str(days)


def _wall(wall_s: int) -> datetime:
    return datetime.fromtimestamp(wall_s, UTC)
