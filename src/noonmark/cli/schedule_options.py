"""The options that say when, shared by the commands that take a schedule, and the schedule that they mean."""

import functools
import inspect
from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

import msgspec
import typer

from noonmark.errors import InvalidInput
from noonmark.schedule import ScheduleError, read_schedule
from noonmark.schedule.spec import At, Cron, Every, Interval, Manual, Now, Rrule, ScheduleSpec, Times
from noonmark.schedule.zones import canonical_zone, zone

_WHEN, _BOUNDS = "When", "Bounds and exclusions"


class Excluded(StrEnum):
    SKIP = "skip"
    MOVE = "move"


class Gap(StrEnum):
    AUTO = "auto"
    SKIP = "skip"
    AFTER = "after"
    SHIFT = "shift"


class Overlap(StrEnum):
    AUTO = "auto"
    FIRST = "first"
    SECOND = "second"
    BOTH = "both"


def _text(flag: str, metavar: str, help: str, panel: str = _WHEN) -> Any:
    return Annotated[str | None, typer.Option(flag, metavar=metavar, help=help, rich_help_panel=panel)]


def _texts(flag: str, metavar: str, help: str, panel: str = _WHEN) -> Any:
    return Annotated[list[str] | None, typer.Option(flag, metavar=metavar, help=help, rich_help_panel=panel)]


def _flag(flag: str, help: str) -> Any:
    return Annotated[bool, typer.Option(flag, help=help, rich_help_panel=_WHEN)]


def _choice(kind: type[StrEnum], flag: str, help: str) -> Any:
    return Annotated[kind | None, typer.Option(flag, help=help, rich_help_panel=_BOUNDS)]


FORMS: dict[str, Any] = {
    "schedule": _text("--schedule", "TEXT", 'Any form, or English: "every weekday at 9:30".'),
    "every": _text("--every", "PERIOD", "At a fixed rate: 30s, 5m, 1h30m, PT5M."),
    "delay": _text("--delay", "PERIOD", "So long after the run before ended."),
    "cron": _text("--cron", "EXPR", 'By the clock: "0 1 * * *".'),
    "rrule": _text("--rrule", "RULE", "By RFC 5545: FREQ=MONTHLY;BYDAY=-1FR."),
    "iso": _text("--iso", "INTERVAL", "ISO 8601: R/2030-01-01T00:00Z/PT5M."),
    "at": _texts("--at", "ISO", "Once: 2030-01-31T09:00:00+01:00. Again for more times."),
    "now": _flag("--now", "Once, right away."),
    "manual": _flag("--manual", "Only when triggered."),
}
PARTS: dict[str, Any] = {
    "tz": _text("--tz", "ZONE", "Time zone, such as Europe/Zurich; UTC by default."),
    "start": _text("--start", "ISO", "Not before this time.", _BOUNDS),
    "end": _text("--end", "ISO", "Not after this time.", _BOUNDS),
    "max_runs": Annotated[
        int | None, typer.Option("--max-runs", min=1, help="At most so many times.", rich_help_panel=_BOUNDS)
    ],
    "exclude": _texts("--exclude", "RULE", 'Not then: "holidays DE-BY", sat-sun, 22:00-06:00; repeatable.', _BOUNDS),
    "only": _texts("--only", "RULE", "Only then; written as --exclude, repeatable.", _BOUNDS),
    "when_excluded": _choice(Excluded, "--when-excluded", "Leave an excluded time out, or move it on."),
    "gap": _choice(Gap, "--gap", "Times that the clock skips when it goes forward."),
    "overlap": _choice(Overlap, "--overlap", "Times that the clock shows twice."),
}


class When:
    """The options of a schedule that were given on the command line."""

    def __init__(self, **given: Any) -> None:
        self._forms = {name: given[name] for name in FORMS if given.get(name)}
        self._parts = {name: given[name] for name in PARTS if given.get(name) is not None and given[name] != []}

    @property
    def given(self) -> bool:
        return bool(self._forms or self._parts)

    @property
    def names_a_form(self) -> bool:
        return bool(self._forms)

    @property
    def tz(self) -> str | None:
        return self._parts.get("tz")

    def reading(self, text: str) -> ScheduleSpec:
        """The schedule that a string says, with the given parts."""
        return self.applied_to(read_schedule(text, self.tz), own_zone=True)

    def spec(self) -> ScheduleSpec | None:
        """The one schedule that was asked for, or None."""
        if len(self._forms) > 1:
            flags = ", ".join(f"--{name}" for name in FORMS)
            raise InvalidInput("schedule", "more than one was given", f"use one of {flags}")
        if not self._forms:
            if self._parts:
                field = _flag_of(next(iter(self._parts)))
                raise InvalidInput(field, "there is no schedule that it belongs to", "add one, such as --cron")
            return None
        [(form, value)] = self._forms.items()
        return self.reading(value) if form == "schedule" else self.applied_to(self._form(form, value))

    def applied_to(self, spec: ScheduleSpec, *, own_zone: bool = False) -> ScheduleSpec:
        """The schedule with the given parts. `own_zone` says that it has read the zone already."""
        changes: dict[str, Any] = {}
        for name, value in self._parts.items():
            if name == "tz" and (own_zone or isinstance(spec, At)):
                continue
            if name not in spec.__struct_fields__:
                kind = type(spec).__struct_config__.tag
                raise InvalidInput(_flag_of(name), f"a schedule of the kind {kind!r} has no such part", "leave it out")
            changes[name] = _value(name, value, self.tz)
        changed = msgspec.structs.replace(spec, **changes)
        if isinstance(changed, Every) and "tz" in changes and not (changed.exclude or changed.only):
            raise InvalidInput("--tz", "a period is the same in every time zone", "leave it out")
        return changed

    def _form(self, form: str, value: Any) -> ScheduleSpec:
        match form:
            case "every":
                return Every(every=value)
            case "delay":
                return Every(every=value, pace="delay")
            case "cron":
                return Cron(cron=value)
            case "rrule":
                return Rrule(rrule=value)
            case "iso":
                return Interval(iso=value)
            case "at":
                times = tuple(read_time("--at", text, self.tz) for text in value)
                return At(at=times[0]) if len(times) == 1 else Times(times=times)
            case "now":
                return Now()
        return Manual()


def takes_when(options: dict[str, Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Gives a command these options in the place of its argument `when`, which holds the given ones."""

    def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def run(*arguments: Any, **named: Any) -> Any:
            when = When(**{name: named.pop(name) for name in options})
            return command(*arguments, when=when, **named)

        first, *others = inspect.signature(command).parameters.values()
        parameters = [first]
        for parameter in others:
            if parameter.name == "when":
                parameters += [_parameter(name, kind) for name, kind in options.items()]
            else:
                parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return run

    return with_options


def read_time(field: str, text: str, tz: str | None = None) -> datetime:
    fix = "write it as 2030-01-31T09:00:00+01:00, or with Z for UTC"
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(field, f"{text!r} is not a time", fix) from None
    if moment.tzinfo is not None:
        return moment
    if tz is None:
        raise InvalidInput(field, f"{text!r} has no time zone", fix)
    try:
        return moment.replace(tzinfo=zone(canonical_zone(tz)))
    except ScheduleError as error:
        error.field = "--tz"
        raise


def _value(name: str, value: Any, tz: str | None) -> Any:
    match name:
        case "start" | "end":
            return read_time(_flag_of(name), value, tz)
        case "exclude" | "only":
            return tuple(value)
        case "when_excluded" | "gap" | "overlap":
            return value.value
    return value


def _flag_of(name: str) -> str:
    return "--" + name.replace("_", "-")


def _parameter(name: str, kind: Any) -> inspect.Parameter:
    default = False if name in ("now", "manual") else None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
