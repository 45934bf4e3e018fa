"""Puts together what was said: a cron where cron can say it, otherwise a rule, a period or a single time."""

from datetime import datetime
from typing import Any

from noonmark.schedule.english.compose_days import day_fields, refuse
from noonmark.schedule.english.compose_rule import rule_parts, wall_s
from noonmark.schedule.english.compose_times import MAX_EXPRESSIONS, fixed_clocks, is_even, pace_s, stepped_clocks
from noonmark.schedule.english.moments import instant
from noonmark.schedule.english.parser import START_FIX, read_part
from noonmark.schedule.english.said import Day, Extras, Said
from noonmark.schedule.english.tokens import FIELD, Reader
from noonmark.schedule.english.words import SECONDS
from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.spec import At, Cron, Every, Manual, Now, Rrule, ScheduleSpec
from noonmark.schedule.zones import canonical_zone

_CLOCK = ("times", "minutes", "seconds", "window")
_DAYS = ("days", "months", "period", "often")


def read_english(text: str, tz: str | None = None) -> ScheduleSpec:
    """The schedule that a sentence says, or a ScheduleError that points at the word; never a guess."""
    reader, extras = Reader(text), Extras()
    parts = [read_part(reader, extras)]
    while reader.skip(";"):
        parts.append(read_part(reader, extras))
    if not all(said.tokens for said in parts):
        if reader.sentence and any(extras.tokens):
            raise ScheduleError(FIELD, f'"{reader.sentence}" does not say when', START_FIX)
        reader.confused(START_FIX)
    where = _zone(reader, extras, tz)
    if len(parts) == 1:
        return _single(reader, parts[0], extras, where)
    return Cron("; ".join(_joined(reader, parts, extras)), where, **_bounds(reader, extras, where))


def _zone(reader: Reader, extras: Extras, tz: str | None) -> str:
    given = None if tz is None else canonical_zone(tz)
    if given and extras.zone and given != extras.zone:
        reader.wrong(extras.tokens["zone"], f"the sentence says {extras.zone}, but tz is {given}", "say one of them")
    return extras.zone or given or "UTC"


def _single(reader: Reader, said: Said, extras: Extras, tz: str) -> ScheduleSpec:
    if said.at_once or said.manual:
        _alone(reader, said, extras, "at_once" if said.at_once else "manual", allowed=("often",))
        return Now() if said.at_once else Manual()
    if said.moment is not None:
        return At(_once(reader, said, said.moment, extras, tz))
    if said.delay or said.counted:
        return _every(reader, said, extras, tz)
    pace = pace_s(said.step)
    if pace is not None and not is_even(pace) and said.window is None and said.step:
        _only_step(reader, said)
        return Every(said.step.text, tz=tz, **_bounds(reader, extras, tz))
    if (rule := _rule_unit(said)) is not None:
        for clause in ("window", "minutes", "seconds"):
            if clause in said.tokens:
                refuse(reader, said, clause, "a pace in days has times", "write 'at 9:00'")
        _check_times(reader, said, extras)
        parts, bounds = rule_parts(reader, said, *rule, extras.start, tz), _bounds(reader, extras, tz)
        if parts.start_s is not None and bounds["end"] and wall_s(bounds["end"], tz) < parts.start_s:
            reader.wrong(extras.tokens["end"], "it ends before its first time", "write a later date")
        return Rrule(parts.body, tz, **bounds | {"start": None})
    return Cron("; ".join(_joined(reader, [said], extras)), tz, **_bounds(reader, extras, tz))


def _joined(reader: Reader, parts: list[Said], extras: Extras) -> list[str]:
    """The expressions of parts that fire whenever one of them does."""
    found: list[str] = []
    for said in parts:
        for clause in ("at_once", "manual", "moment", "delay", "counted"):
            if clause in said.tokens:
                refuse(reader, said, clause, "this cannot be joined with another schedule", "make one job for each")
        pace = pace_s(said.step)
        if (pace is not None and not is_even(pace) and said.window is None) or _rule_unit(said) is not None:
            clause = "step" if said.step else "days"
            refuse(reader, said, clause, "this cannot be joined with another schedule", "make one job for each")
        found += _expressions(reader, said, extras)
    found = list(dict.fromkeys(found))
    if len(found) > MAX_EXPRESSIONS:
        message = f"it takes {len(found)} cron expressions, more than {MAX_EXPRESSIONS}"
        reader.wrong(next(iter(parts[-1].tokens.values())), message, "say fewer times, or make several jobs")
    return found


def _expressions(reader: Reader, said: Said, extras: Extras) -> list[str]:
    pace = pace_s(said.step)
    if pace is None:
        unit = _often(reader, said) if said.often else said.step.unit if said.step else None
        days = day_fields(reader, said, unit)
        _check_times(reader, said, extras)
        return [clock.expression(day) for day in days for clock in fixed_clocks(reader, said)]
    if said.often:
        refuse(reader, said, "often", "how often is said twice", "say one of them")
    window = said.window
    if window and window.last_s < window.first_s and said.days:
        fix = "write one part up to 23:59 and one from 0:00 on the days after, separated by ';'"
        refuse(reader, said, "window", "the night belongs to two days", fix)
    days = day_fields(reader, said, None if said.days else "day")
    return [clock.expression(day) for day in days for clock in stepped_clocks(reader, said, pace)]


def _rule_unit(said: Said) -> tuple[int, str] | None:
    """Every so many of which unit, for a rule."""
    if said.step and said.step.number > 1 and said.step.unit in ("day", "week", "month", "year"):
        return said.step.number, said.step.unit
    if said.days.working - {1, -1} and (said.step is None or said.step.unit in ("month", "quarter", "year")):
        return 1, "month"
    return None


def _often(reader: Reader, said: Said) -> str | None:
    assert said.often
    count, unit = said.often
    days = said.days
    if unit == "once" or said.step:
        fix = "write a date, such as 'on 2026-12-24 at 18:00', or 'once a day'"
        refuse(
            reader, said, "often", "this does not say how often" if unit == "once" else "how often is said twice", fix
        )
    named = {
        "day": len(said.times) or 1,
        "week": len(days.weekdays),
        "month": len(days.dates) + len(days.before_last) + len(days.nth) + len(days.working) + len(days.nearest) or 1,
        "year": len(days.annual) or 1,
    }[unit]
    if named != count:
        word = "times" if unit == "day" else "days"
        examples = {"day": "at 8:00 and 20:00", "week": "on monday and thursday", "month": "on the 1st and 15th"}
        fix = f"say them: 'twice a {unit} {examples.get(unit, 'on 1 january and 1 july')}'"
        refuse(reader, said, "often", f"{count} {word} a {unit} are announced, but not {count} are named", fix)
    return unit


def _once(reader: Reader, said: Said, day: Day, extras: Extras, tz: str) -> datetime:
    _alone(reader, said, extras, "moment", allowed=("times", "often"))
    if said.times and (day.time_s is not None or len(said.times) > 1):
        refuse(reader, said, "times", "a date has one time", "make one job for each, or use the kind 'times'")
    if said.times:
        day = day._replace(time_s=said.times[0])
    found = instant(day, tz)
    if found is None:
        refuse(reader, said, "moment", f"the clocks of {tz} skip that time", "write a time before or after the change")
    return found


def _every(reader: Reader, said: Said, extras: Extras, tz: str) -> Every:
    clause = "delay" if said.delay else "counted"
    if said.step is None or said.step.unit not in SECONDS:
        refuse(reader, said, clause, "the period is not said", "write 'every 5 minutes after the previous run ended'")
    if said.delay and said.counted:
        refuse(reader, said, "counted", "a delay is counted from the run before", "leave it out")
    _only_step(reader, said)
    for extra in ("exclude", "only", "move") if said.delay else ():
        if extra in extras.tokens:
            message = "a delay is counted from the end of the run before, so its times are not known ahead"
            reader.wrong(extras.tokens[extra], message, "leave it out")
    anchor = None if said.anchor is None else instant(said.anchor, tz)
    if said.anchor and anchor is None:
        refuse(reader, said, "counted", f"the clocks of {tz} skip that time", "write a time before or after the change")
    pace: Any = "delay" if said.delay else "rate"
    return Every(said.step.text, anchor, pace, tz, **_bounds(reader, extras, tz))


def _only_step(reader: Reader, said: Said) -> None:
    for clause in (*_CLOCK, *_DAYS):
        if clause in said.tokens:
            fix = (
                "use a step that divides the hour or the day, name hours ('between 9:00 and 17:00'), or say 'only on …'"
            )
            refuse(reader, said, clause, "such a pace is counted without regard to days and hours", fix)


def _alone(reader: Reader, said: Said, extras: Extras, clause: str, allowed: tuple[str, ...]) -> None:
    if said.often and said.often != (1, "once"):
        refuse(reader, said, "often", "a single time has no pace", "leave it out")
    for name, token in (said.tokens | extras.tokens).items():
        if name not in (clause, "zone", *allowed):
            reader.wrong(token, f"{token.written!r} does not go with a single time", "leave it out")


def _check_times(reader: Reader, said: Said, extras: Extras) -> None:
    """`every monday until 2026-12-31 at 9:00`: the time belongs to the end, though perhaps it was not meant to."""
    for name, day in (("start", extras.start), ("end", extras.end)):
        if day and day.time_s is not None and not said.times:
            token = extras.tokens[name]
            message = f"the time after the date says when the schedule {name}s, not when it fires"
            reader.wrong(token, message, f"write the time of the day before {token.written!r}")


def _bounds(reader: Reader, extras: Extras, tz: str) -> dict[str, Any]:
    found: dict[str, Any] = {"max_runs": extras.max_runs}
    for name, day in (("start", extras.start), ("end", extras.end)):
        found[name] = None if day is None else instant(day, tz, last=name == "end")
        if day and found[name] is None:
            fix = "write a time before or after the change"
            reader.wrong(extras.tokens[name], f"the clocks of {tz} skip that time", fix)
    if found["start"] and found["end"] and found["end"] < found["start"]:
        reader.wrong(extras.tokens["end"], "it ends before it starts", "write a later date")
    if extras.move and not (extras.exclude or extras.only):
        reader.wrong(extras.tokens["move"], "nothing is left out that could move", "add 'except on …'")
    found |= {"exclude": tuple(extras.exclude), "only": tuple(extras.only)}
    return found | {"when_excluded": "move" if extras.move else "skip"}
