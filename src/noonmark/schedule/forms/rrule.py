"""Rules of RFC 5545: RRULE with DTSTART, RDATE and EXDATE."""

import msgspec

from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.forms.rule_hours import UNIT_S
from noonmark.schedule.forms.rule_parts import RuleParts
from noonmark.schedule.forms.rule_pattern import RulePattern
from noonmark.schedule.forms.rule_text import FIELD, parse_rule
from noonmark.schedule.forms.rule_times import DAY_S, Periods

__all__ = ["RuleParts", "RulePattern", "read_rrule", "with_start"]

_BEFORE_ALL_S = -(2**40)
_NEVER_FIX = "check that the day exists in the month, and that UNTIL, EXDATE and INTERVAL leave a time"


def read_rrule(text: str, tz: str | None) -> RuleParts:
    """The parts of a rule, or a ScheduleError; a rule that would never fire is one."""
    parts = parse_rule(text, tz)
    if parts.start_s is not None:
        _check_fires(parts, text)
    return parts


def with_start(body: str, created_wall_s: int) -> str:
    """The body with a DTSTART, counted from creation if it has none.

    The time of creation sets the phase: what it implies is written out, and the start moves back to 1970 by whole
    intervals, so that jobs created in different years share a text. With COUNT, it is the first time after creation.
    """
    parts = parse_rule(body, "UTC")
    if parts.start_s is not None:
        return body
    explicit = parts.explicit(created_wall_s)
    start_s: int | None = _phase_s(explicit, created_wall_s)
    if parts.count is not None:
        endless = msgspec.structs.replace(explicit, start_s=start_s, count=None, extra_s=(), removed_s=())
        start_s = RulePattern(endless.body).next_wall(created_wall_s)
    started = msgspec.structs.replace(explicit, start_s=start_s)
    _check_fires(started, body)
    return started.body


def _phase_s(rule: RuleParts, at_s: int) -> int:
    """The first second of the earliest period since 1970 that is a whole number of intervals away."""
    if not rule.by_the_day:
        unit_s = UNIT_S[rule.freq]
        return at_s // unit_s % rule.interval * unit_s
    periods = Periods(rule)
    first = periods.of(0)
    return periods.first_day(first + (periods.of(at_s // DAY_S) - first) % rule.interval) * DAY_S


def _check_fires(parts: RuleParts, text: str) -> None:
    if parts.start_s is None or RulePattern(parts.body).next_wall(_BEFORE_ALL_S) is None:
        raise ScheduleError(FIELD, f"{text[:60]!r} would never fire", _NEVER_FIX)
