"""Reads a cron expression: one canonical text, or an error that names the field and what it allows."""

import re
from datetime import datetime

from cronsim import CronSim, CronSimError

from noonmark.schedule.errors import ScheduleError

_MAX_LENGTH = 256
_ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_MONTHS = {
    name: str(number)
    for number, name in enumerate(
        ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"), start=1
    )
}
_DAYS = {name: str(number) for number, name in enumerate(("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"))}
_ALLOWED = {
    "second": "0-59",
    "minute": "0-59",
    "hour": "0-23",
    "day-of-month": "1-31, L (last day) or LW (last weekday)",
    "month": "1-12 or JAN-DEC",
    "day-of-week": "0-7 (0 and 7 are Sunday) or SUN-SAT, 5L (last Friday), 5#2 (second Friday)",
}
_START = datetime(2000, 1, 1)  # noqa: DTZ001 - a wall-clock time of no zone


def canonical_cron(expression: str) -> str:
    """Upper case, single spaces, numbers for names, no leading zeros; 7 for Sunday becomes 0, */1 becomes *."""
    if len(expression) > _MAX_LENGTH:
        message = f"{len(expression)} characters is above the bound of {_MAX_LENGTH}"
        raise ScheduleError("schedule.cron", message, "split it into several jobs")
    fields = _ALIASES.get(expression.strip().lower(), expression).upper().split()
    if len(fields) not in (5, 6) or fields[0].startswith("@"):
        message = f"{expression!r} is not a cron expression"
        fix = (
            f"write 5 fields (minute hour day-of-month month day-of-week), 6 with seconds first, or one of {_aliases()}"
        )
        raise ScheduleError("schedule.cron", message, fix)
    fields = [re.sub(r"[0-9]+", lambda digits: str(int(digits[0])), field) for field in fields]
    fields = ["*" if field == "*/1" else field for field in fields]
    _check(fields)
    fields[-2] = _with_numbers(fields[-2], _MONTHS)
    fields[-1] = ",".join("0" if term == "7" else term for term in _with_numbers(fields[-1], _DAYS).split(","))
    return " ".join(fields)


def parse(expression: str, at: datetime = _START) -> CronSim:
    return CronSim(expression, at)


def _with_numbers(field: str, names: dict[str, str]) -> str:
    return re.sub(r"[A-Z]{3}", lambda name: names.get(name[0], name[0]), field)


def _aliases() -> str:
    return ", ".join(_ALIASES)


def _check(fields: list[str]) -> None:
    try:
        parse(" ".join(fields))
    except CronSimError as error:
        raise _explained(fields, str(error)) from None


def _explained(fields: list[str], reason: str) -> ScheduleError:
    names = list(_ALLOWED)[-len(fields) :]
    name = reason.removeprefix("Bad ")
    if name not in names:
        return ScheduleError("schedule.cron", reason.lower(), "write 5 or 6 fields")
    text = fields[names.index(name)]
    if name == "day-of-month" and _parses([*fields[:-2], "*", fields[-1]]):
        message = f"no date matches day {text} of month {fields[-2]}, so it would never fire"
        return ScheduleError("schedule.cron", message, "use a day that the month has, or L for its last day")
    fix = f"{name} allows {_ALLOWED[name]}, with * and lists (1,5), ranges (1-5) and steps (*/5)"
    return ScheduleError("schedule.cron", f"the {name} field {text!r} is not valid", fix)


def _parses(fields: list[str]) -> bool:
    try:
        parse(" ".join(fields))
    except CronSimError:
        return False
    return True
