"""One way to write each schedule: what was understood, and what equal schedules have in common."""

from typing import Any, TypeVar, assert_never

import msgspec

from noonmark.schedule.calendar.rules import canonical_rule
from noonmark.schedule.english import read_english
from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.forms.cron_text import canonical_cron
from noonmark.schedule.forms.interval import canonical_interval
from noonmark.schedule.forms.period import offset_s, period_s, period_text
from noonmark.schedule.forms.rrule import read_rrule
from noonmark.schedule.spec import (
    At,
    Cron,
    English,
    Every,
    Interval,
    Manual,
    Now,
    Recurring,
    Rrule,
    ScheduleSpec,
    Solar,
    Times,
    WallClock,
)
from noonmark.schedule.zones import canonical_zone

MAX_RULES = 32
S = TypeVar("S", bound=Recurring)


def canonical(spec: ScheduleSpec, *, key: str | None = None) -> ScheduleSpec:
    """English becomes the schedule that it stands for; with a key (`tenant/name`) the H of a cron becomes numbers."""
    match spec:
        case Now() | At() | Manual():
            return spec
        case English():
            return canonical(_understood(spec), key=key)
        case Cron():
            return _with(spec, cron=canonical_cron(spec.cron, key), tz=canonical_zone(spec.tz))
        case Every():
            return _with(spec, every=period_text(period_s(spec.every)), tz=canonical_zone(spec.tz))
        case Rrule():
            parts = read_rrule(spec.rrule, spec.tz)
            return _with(spec, rrule=parts.body, tz=canonical_zone(parts.tz))
        case Interval():
            tz = canonical_zone(spec.tz)
            return _with(spec, iso=canonical_interval(spec.iso, tz), tz=tz)
        case Times():
            return _with(spec, times=tuple(sorted(set(spec.times))), tz=canonical_zone(spec.tz))
        case Solar():
            return _with(spec, offset=offset_s(spec.offset), tz=canonical_zone(spec.tz))
    assert_never(spec)


def _with(spec: S, **changes: Any) -> S:
    return msgspec.structs.replace(
        spec, exclude=_rules("exclude", spec.exclude), only=_rules("only", spec.only), **changes
    )


def _rules(name: str, rules: tuple[str, ...]) -> tuple[str, ...]:
    if len(rules) > MAX_RULES:
        fix = "a range of dates or a calendar of holidays says more with less"
        raise ScheduleError(f"schedule.{name}", f"{len(rules)} rules are more than {MAX_RULES}", fix)
    return tuple(dict.fromkeys(canonical_rule(rule, f"schedule.{name}[{i}]") for i, rule in enumerate(rules)))


def _understood(spec: English) -> ScheduleSpec:
    """What the sentence says, with what the other fields add to it."""
    found = read_english(spec.english, spec.tz)
    added = {
        name: getattr(spec, name)
        for name in (*Recurring.__struct_fields__, "gap", "overlap")
        if getattr(spec, name) != getattr(_DEFAULTS, name)
    }
    if not added:
        return found
    if not isinstance(found, Recurring):
        name = next(iter(added))
        raise ScheduleError(f"schedule.{name}", "the sentence names a single time", f"leave {name} out")
    for name, value in added.items():
        if name in ("exclude", "only"):
            added[name] = getattr(found, name) + value
        elif name in ("gap", "overlap") and not isinstance(found, WallClock):
            raise ScheduleError(f"schedule.{name}", "the sentence does not name times of a wall clock", "leave it out")
        elif getattr(found, name) not in (None, "skip", "auto", value):
            raise ScheduleError(f"schedule.{name}", "the sentence says something else", "say it in one place")
    return msgspec.structs.replace(found, **added)


_DEFAULTS = English("")
