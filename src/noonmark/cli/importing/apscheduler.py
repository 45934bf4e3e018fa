"""Jobs of APScheduler 3: those of a scheduler object, or a list of what `add_job` is called with, in Python or JSON."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from noonmark.cli.importing.celery import Unknown
from noonmark.cli.importing.found import Found
from noonmark.cli.importing.python import attribute_of, load
from noonmark.errors import InvalidInput
from noonmark.model.job import Misfire
from noonmark.schedule.spec import At, Cron, Every, ScheduleSpec

_FIELDS = ("year", "month", "day", "week", "day_of_week", "hour", "minute", "second")
_LEAST = {"month": "1", "day": "1", "week": "*", "day_of_week": "*", "hour": "0", "minute": "0", "second": "0"}
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NTH = re.compile(r"(1st|2nd|3rd|4th|5th|last)\s+(mon|tue|wed|thu|fri|sat|sun)")
_UNITS = ("weeks", "days", "hours", "minutes", "seconds")
_LISTS = ("JOBS", "SCHEDULER_JOBS", "jobs")
_CARRIED = {"id", "name", "func", "args", "kwargs", "trigger", "misfire_grace_time", "coalesce", "max_instances",
            "timezone", "jitter", "start_date", "end_date", "run_date", *_FIELDS, *_UNITS}  # fmt: skip


def import_apscheduler(target: str, found: Found, tz: str) -> None:
    for position, job in enumerate(_jobs(target)):
        name = str(_get(job, "id") or _get(job, "name") or f"job-{position + 1}")
        try:
            _add(found, name, job, tz)
        except Unknown as error:
            found.leave(name, str(error), "write this one by hand")
    if found.jobs:
        found.note(target, "max_instances: runs of a job may overlap here", "guard the task if it must not")


def _jobs(target: str) -> list[Any]:
    if target.endswith(".json"):
        try:
            listed = json.loads(Path(target).read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise InvalidInput(
                target, f"cannot read it: {error}", "a JSON list of what add_job is called with"
            ) from None
    else:
        module, attribute = load(target)
        if attribute:
            listed = attribute_of(module, attribute, target)
        else:
            values = [getattr(module, name) for name in _LISTS if hasattr(module, name)]
            values += [value for value in vars(module).values() if callable(getattr(value, "get_jobs", None))]
            listed = next((value for value in values if not isinstance(value, type)), None)
    if callable(getattr(listed, "get_jobs", None)):
        listed = listed.get_jobs()
    if isinstance(listed, dict):
        listed = [{"id": name, **job} for name, job in listed.items()]
    if not isinstance(listed, list):
        fix = "name it: module:scheduler or module:JOBS"
        raise InvalidInput(target, "no scheduler and no list of jobs was found in it", fix)
    return listed


def _get(job: Any, name: str) -> Any:
    return job.get(name) if isinstance(job, dict) else getattr(job, name, None)


def _add(found: Found, name: str, job: Any, tz: str) -> None:
    args, kwargs = _get(job, "args") or (), _get(job, "kwargs") or {}
    if args and kwargs:
        raise Unknown("it has args and kwargs; an input is a list or an object: give all arguments by name")
    trigger = _get(job, "trigger")
    settings = _settings(trigger) if not isinstance(trigger, str) and trigger is not None else dict(job)
    kind = settings.pop("trigger", trigger) or "date"
    schedule = _schedule(kind, settings, tz)
    grace = _get(job, "misfire_grace_time")
    misfire = Misfire(
        policy="all" if _get(job, "coalesce") is False else "once", window_s=None if grace is None else float(grace)
    )
    if isinstance(job, dict):
        for option in sorted(set(job) - _CARRIED):
            found.note(name, f"{option!r} has no counterpart", f"it was {job[option]!r}")
    found.add(
        name,
        name,
        _task(job),
        schedule,
        input=list(args) or dict(kwargs) or None,
        misfire=misfire,
        jitter_s=float(settings.get("jitter") or 0),
    )


def _task(job: Any) -> str:
    func = _get(job, "func_ref") or _get(job, "func")
    if callable(func):
        return f"{func.__module__}.{func.__qualname__}"
    if not isinstance(func, str):
        raise Unknown("it names no function")
    return func.replace(":", ".")


def _settings(trigger: Any) -> dict[str, Any]:
    """A trigger object as the arguments of its constructor."""
    kind = type(trigger).__name__
    common = {name: getattr(trigger, name, None) for name in ("timezone", "start_date", "end_date", "jitter")}
    match kind:
        case "CronTrigger":
            return {"trigger": "cron", **common, **{field.name: str(field) for field in trigger.fields}}
        case "IntervalTrigger":
            return {"trigger": "interval", **common, "seconds": trigger.interval.total_seconds()}
        case "DateTrigger":
            return {"trigger": "date", "run_date": trigger.run_date}
    raise Unknown(f"a {kind} has no counterpart")


def _schedule(kind: str, settings: dict[str, Any], tz: str) -> ScheduleSpec:
    zone = str(settings.get("timezone") or tz)
    bounds: dict[str, Any] = {
        name: _time(settings[given], zone)
        for name, given in (("start", "start_date"), ("end", "end_date"))
        if settings.get(given)
    }
    match kind:
        case "interval":
            period = timedelta(**{unit: settings[unit] for unit in _UNITS if settings.get(unit)})
            seconds = period.total_seconds()
            every: str | float = f"{int(seconds)}s" if seconds.is_integer() else seconds
            return Every(every=every, anchor=bounds.get("start"), **bounds)
        case "date":
            run_date = settings.get("run_date")
            if not run_date:
                raise Unknown("it runs once when the scheduler starts: use `schedule: now`")
            return At(at=_time(run_date, zone))
        case "cron":
            return _cron({name: settings[name] for name in _FIELDS if settings.get(name) is not None}, zone, bounds)
    raise Unknown(f"the trigger {kind!r} is not known")


def _cron(given: dict[str, Any], zone: str, bounds: dict[str, Any]) -> Cron:
    """A field that is left out is `*` if a finer one was given before any coarser, else the least value."""
    fields: dict[str, str] = {}
    given_yet = False
    for name in _FIELDS:
        given_yet = given_yet or name in given
        fields[name] = str(given[name]).lower() if name in given else (_LEAST[name] if given_yet else "*")
    if fields["week"] != "*":
        raise Unknown(f"week={fields['week']} has no counterpart: use an RRULE with BYWEEKNO")
    if fields["year"] != "*":
        bounds = bounds | _year(fields["year"], zone)
    day, week_day = fields["day"], _week_day(fields["day_of_week"])
    only: tuple[str, ...] = ()
    if nth := [_NTH.fullmatch(part.strip()) for part in day.split(",")]:
        if all(nth):
            if week_day != "*":
                raise Unknown(f"day={day!r} with day_of_week={week_day!r} has no counterpart")
            day, week_day = "*", ",".join(_nth(match) for match in nth if match)
        elif any(nth):
            raise Unknown(f"day={day!r} mixes dates and days of the week")
    day = "L" if day == "last" else day
    if day != "*" and week_day != "*":
        # Both must match there; in cron either would do.
        only, week_day = tuple(week_day.split(",")), "*"
    second = [] if fields["second"] == "0" else [fields["second"]]
    text = " ".join([*second, fields["minute"], fields["hour"], day, fields["month"], week_day])
    return Cron(cron=text, tz=zone, only=only, **bounds)


def _week_day(text: str) -> str:
    """Numbers count from Monday there, from Sunday in cron: days are named instead."""
    if text == "*":
        return text
    named = re.sub(r"(?<![0-9/])([0-6])(?![0-9])", lambda match: _DAYS[int(match[1])], text)
    if not re.fullmatch(r"[a-z,-]+", named):
        raise Unknown(f"day_of_week={text!r} is not understood")
    return named


def _nth(match: re.Match[str]) -> str:
    number = (_DAYS.index(match[2]) + 1) % 7
    return f"{number}L" if match[1] == "last" else f"{number}#{match[1][0]}"


def _year(text: str, zone: str) -> dict[str, datetime]:
    years = re.fullmatch(r"(\d{4})(?:-(\d{4}))?", text)
    if years is None:
        raise Unknown(f"year={text!r} has no counterpart")
    here = ZoneInfo(zone)
    first, last = int(years[1]), int(years[2] or years[1])
    return {"start": datetime(first, 1, 1, tzinfo=here), "end": datetime(last, 12, 31, 23, 59, 59, tzinfo=here)}


def _time(moment: Any, zone: str) -> datetime:
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError:
            raise Unknown(f"{moment!r} is not a time") from None
    if not isinstance(moment, datetime):
        raise Unknown(f"{moment!r} is not a time")
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=ZoneInfo(zone))
    return aware.astimezone(UTC).replace(microsecond=0)
