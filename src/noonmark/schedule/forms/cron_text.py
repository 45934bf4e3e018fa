"""Reads cron expressions: one canonical text, or an error that names the field and what it allows.

An expression has 5 fields (minute, hour, day-of-month, month, day-of-week) or 6 with seconds first. Vixie's rule joins
the two day fields: if neither starts with a star, a day matches if *either* matches, otherwise if *both* match. So
`0 0 13 * 5` fires on each 13th and each Friday, and `0 0 */2 * 1` on Mondays with an odd date.
"""

from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.forms.cron_days import month_days, month_lengths
from noonmark.schedule.forms.cron_fields import FIELDS, BadTerm, Field, read_field

_MAX_LENGTH = 256
_MAX_EXPRESSIONS = 16
_ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}


def canonical_cron(expression: str, key: str | None = None) -> str:
    """The one text of expressions that are separated by semicolons, which fire whenever one of them does.

    Upper case, single spaces, numbers for names, no leading zeros. The key is `tenant/name` of the job: each H becomes
    a number that depends on nothing but the key and the field. Without a key, H stays.
    """
    count = expression.count(";") + 1
    if count > _MAX_EXPRESSIONS:
        message = f"{count} expressions are above the bound of {_MAX_EXPRESSIONS}"
        raise ScheduleError("schedule.cron", message, "split them into several jobs")
    if count == 1:
        return _canonical(expression, key, "")
    parts = enumerate(expression.split(";"), start=1)
    return "; ".join(dict.fromkeys(_canonical(part, key, f"expression {number}: ") for number, part in parts))


def _canonical(expression: str, key: str | None, which: str) -> str:
    _check_length(expression, which)
    words = _ALIASES.get(expression.strip().lower(), expression).split()
    if len(words) == 7:
        message = f"{which}{expression.strip()!r} has 7 fields, as Quartz writes a year"
        raise ScheduleError("schedule.cron", message, "leave out the year and bound the schedule by `start` and `end`")
    if len(words) not in (5, 6) or words[0].startswith("@"):
        message = f"{which}{expression.strip()!r} is not a cron expression"
        aliases = ", ".join(_ALIASES)
        fix = f"write 5 fields (minute hour day-of-month month day-of-week), 6 with seconds first, or one of {aliases}"
        raise ScheduleError("schedule.cron", message, fix)
    texts = [_field(field, word, key, which) for field, word in zip(FIELDS[-len(words) :], words, strict=True)]
    _check_dates(texts[-3], texts[-2], texts[-1], which)
    canonical = " ".join(texts)
    _check_length(canonical, which)
    return canonical


def _field(field: Field, word: str, key: str | None, which: str) -> str:
    try:
        # Some letters outside of ASCII have an upper case inside of it.
        terms = list(read_field(field, word.upper() if word.isascii() else word, key))
    except BadTerm as error:
        message = f"{which}the {field.name} field {word!r} is not valid: {error}"
        fix = f"{field.name} allows {field.allows}, with *, H, lists (1,5), ranges (1-5) and steps (*/5)"
        raise ScheduleError("schedule.cron", message, fix) from None
    return ",".join(dict.fromkeys(term.text for term in terms))


def _check_dates(day: str, month: str, weekday: str, which: str) -> None:
    days = month_days(day, weekday)
    if not any(days.mask(length, first) for length in month_lengths(month) for first in range(7)):
        on = "" if weekday == "*" else f" on day {weekday} of the week"
        message = f"{which}no date matches day {day} of month {month}{on}, so it would never fire"
        raise ScheduleError("schedule.cron", message, "use a day that the month has, or L for its last day")


def _check_length(expression: str, which: str) -> None:
    if len(expression) > _MAX_LENGTH:
        message = f"{which}{len(expression)} characters is above the bound of {_MAX_LENGTH}"
        raise ScheduleError("schedule.cron", message, "split it into several expressions with ;")
