"""Celery's beat schedule. Its objects are recognised by their attributes, so that only the source needs Celery."""

import re
from collections.abc import Iterable
from datetime import timedelta
from types import ModuleType
from typing import Any

from noonmark.cli.importing.found import Found
from noonmark.cli.importing.python import attribute_of, load
from noonmark.errors import InvalidInput
from noonmark.schedule.spec import Cron, Every, ScheduleSpec, Solar

_SCHEDULES = ("beat_schedule", "CELERY_BEAT_SCHEDULE", "CELERYBEAT_SCHEDULE")
_ZONES = ("timezone", "CELERY_TIMEZONE")
_SUN = {"dawn_civil": "dawn", "sunrise": "sunrise", "solar_noon": "noon", "sunset": "sunset", "dusk_civil": "dusk"}
_FIELDS = (("minute", range(60)), ("hour", range(24)), ("day_of_month", range(1, 32)), ("month_of_year", range(1, 13)))
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_PLAIN = re.compile(r"[0-9*,/-]+")


class Unknown(Exception):
    """Says why an entry gives no job."""


def import_celery(target: str, found: Found) -> None:
    module, attribute = load(target)
    holder = attribute_of(module, attribute, target) if attribute else module
    entries, tz = _find(holder, target)
    for name, entry in entries.items():
        try:
            _add(found, str(name), entry, tz)
        except Unknown as error:
            found.leave(str(name), str(error), "write this one by hand")


def _find(holder: Any, target: str) -> tuple[dict[Any, Any], str]:
    """The schedule and its zone: of a module, a Celery app, a configuration or the dict itself."""
    if isinstance(holder, dict) and any(isinstance(entry, dict) and "task" in entry for entry in holder.values()):
        return holder, "UTC"
    candidates = [holder, getattr(holder, "conf", None)]
    if isinstance(holder, ModuleType):
        candidates += [value.conf for value in vars(holder).values() if hasattr(value, "conf")]
    for candidate in candidates:
        for name in _SCHEDULES:
            entries = _get(candidate, name)
            if isinstance(entries, dict) and entries:
                zones = (_get(candidate, zone) for zone in _ZONES)
                return entries, next((str(zone) for zone in zones if zone), "UTC")
    fix = "name the app or the dict: module:app"
    raise InvalidInput(target, "no beat schedule was found in it", fix)


def _get(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, dict) else getattr(holder, name, None)


def _add(found: Found, name: str, entry: Any, tz: str) -> None:
    if not isinstance(entry, dict) or not isinstance(entry.get("task"), str):
        raise Unknown("the entry names no task")
    args, kwargs = entry.get("args") or (), entry.get("kwargs") or {}
    if args and kwargs:
        raise Unknown("it has args and kwargs; an input is a list or an object: give all arguments by name")
    schedule = read_schedule_object(entry.get("schedule"), tz)
    fields = _options(found, name, entry.get("options") or {})
    found.add(name, name, entry["task"], schedule, input=list(args) or dict(kwargs) or None, **fields)


def _options(found: Found, name: str, options: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for option, value in options.items():
        match option, value:
            case "queue", str():
                fields["queue"] = value
            case "expires", timedelta():
                fields["start_deadline_s"] = value.total_seconds()
            case "expires", int() | float():
                fields["start_deadline_s"] = float(value)
            case "time_limit", int() | float():
                fields["timeout_s"] = float(value)
            case "priority", int() if 0 <= value <= 9:
                fields["priority"] = value
                found.note(name, f"priority {value} was kept: 9 comes first", "with Redis as the broker 0 came first")
            case _:
                found.note(name, f"the option {option!r} has no counterpart", f"it was {value!r}")
    return fields


def read_schedule_object(schedule: Any, tz: str) -> ScheduleSpec:
    match schedule:
        case bool():
            raise Unknown(f"{schedule!r} is no schedule")
        case int() | float():
            return Every(every=_seconds(timedelta(seconds=schedule)))
        case timedelta():
            return Every(every=_seconds(schedule))
    if hasattr(schedule, "_orig_minute"):
        own = getattr(schedule, "tz", None)
        return _crontab(schedule, str(own) if own is not None and _names_a_zone(own) else tz)
    if hasattr(schedule, "event") and hasattr(schedule, "lat"):
        return _solar(schedule)
    if isinstance(every := getattr(schedule, "run_every", None), timedelta):
        return Every(every=_seconds(every))
    raise Unknown(f"a schedule of type {type(schedule).__name__} is not known")


def _names_a_zone(zone: Any) -> bool:
    return "/" in str(zone) or str(zone) == "UTC"


def _crontab(schedule: Any, tz: str) -> Cron:
    """Celery fires on days that match the day of the month and that of the week; cron, on those that match either."""
    fields = [_field(schedule, name, every) for name, every in _FIELDS]
    days = _expanded(schedule, "day_of_week", range(7))
    if days == set(range(7)):
        return Cron(cron=" ".join([*fields, "*"]), tz=tz)
    if fields[2] != "*":
        return Cron(cron=" ".join([*fields, "*"]), tz=tz, only=tuple(_DAYS[day] for day in sorted(days)))
    return Cron(cron=" ".join([*fields, ",".join(map(str, sorted(days)))]), tz=tz)


def _field(schedule: Any, name: str, every: range) -> str:
    if isinstance(written := getattr(schedule, f"_orig_{name}"), str) and _PLAIN.fullmatch(written):
        return written
    values = _expanded(schedule, name, every)
    return "*" if values == set(every) else ",".join(map(str, sorted(values)))


def _expanded(schedule: Any, name: str, every: range) -> set[int]:
    values = getattr(schedule, name)
    found = set(values) if isinstance(values, Iterable) and not isinstance(values, str) else {values}
    if not all(isinstance(value, int) and value in every for value in found):
        raise Unknown(f"{name}={values!r} is not understood")
    return found


def _solar(schedule: Any) -> Solar:
    event = _SUN.get(schedule.event)
    if event is None:
        raise Unknown(f"the sun's event {schedule.event!r} is not known here: use one of {', '.join(_SUN)}")
    return Solar(solar=event, latitude=float(schedule.lat), longitude=float(schedule.lon))  # type: ignore[arg-type]


def _seconds(period: timedelta) -> str | float:
    seconds = period.total_seconds()
    return f"{int(seconds)}s" if seconds.is_integer() else seconds
