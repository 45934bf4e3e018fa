"""Refuses a schedule that cannot be meant, before anything is stored."""

from noonmark.schedule.bounds import MAX_RUNS
from noonmark.schedule.calendar.filtered import Filtered
from noonmark.schedule.canonical import canonical
from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.pattern import Recurrence
from noonmark.schedule.recurrence import Timing, bounded, recurrence, timing
from noonmark.schedule.spec import At, Every, Recurring, ScheduleSpec, instant_us

MAX_JITTER_S = 86_400
MAX_OPEN = 64
"""So many occurrences may be inside their jitter window at once; each costs a slice of every tick."""


def validate(spec: ScheduleSpec, now_us: int, jitter_s: float = 0, key: str = "") -> None:
    """Raises a ScheduleError that names the field, what is wrong and what to write instead."""
    if not 0 <= jitter_s <= MAX_JITTER_S:
        raise ScheduleError("jitter_s", f"{jitter_s} is out of bounds", f"use 0 to {MAX_JITTER_S} (one day)")
    plain = canonical(spec, key=key)
    if isinstance(plain, At):
        _check_at(plain, now_us)
    if not isinstance(plain, Recurring):
        return
    timed = timing(plain, key=key, created_us=now_us, jitter_s=jitter_s)
    _check_bounds(plain, timed, now_us)
    if isinstance(plain, Every) and plain.pace == "delay":
        _check_delay(plain, jitter_s)
        return
    assert timed.text is not None
    if isinstance(shared := recurrence(timed.text), Filtered):
        shared.check(now_us)
    recurring = bounded(timed, now_us)
    assert recurring is not None
    _check_fires(recurring, plain, now_us, jitter_s)


def _check_at(spec: At, now_us: int) -> None:
    if spec.at.utcoffset() is None:
        raise ScheduleError("schedule.at", "the time has no zone", "add an offset, such as Z or +02:00")
    if instant_us(spec.at) < now_us:
        raise ScheduleError("schedule.at", f"{spec.at.isoformat()} is in the past", "use a later time, or kind 'now'")


def _check_bounds(spec: Recurring, timed: Timing, now_us: int) -> None:
    if spec.max_runs is not None and not 1 <= spec.max_runs <= MAX_RUNS:
        raise ScheduleError("schedule.max_runs", f"{spec.max_runs} is out of bounds", f"use 1 to {MAX_RUNS}")
    if spec.end is not None and instant_us(spec.end) <= now_us:
        raise ScheduleError("schedule.end", f"{spec.end.isoformat()} is in the past", "use a later time")
    if timed.start_us is not None and timed.end_us is not None and timed.end_us < timed.start_us:
        raise ScheduleError("schedule.end", "it ends before it starts", "use a time after the start")
    if spec.when_excluded == "move" and not (spec.exclude or spec.only):
        message = "there is nothing to move away from"
        raise ScheduleError("schedule.when_excluded", message, "add exclude or only, or leave it out")


def _check_delay(spec: Every, jitter_s: float) -> None:
    for name, given in (("anchor", spec.anchor), ("exclude", spec.exclude), ("only", spec.only)):
        if given:
            message = "a delay is counted from the end of the run before, so its times are not known ahead"
            raise ScheduleError(f"schedule.{name}", message, "leave it out, or use the pace 'rate'")
    if jitter_s:
        raise ScheduleError("jitter_s", "runs that wait for each other need no jitter", "leave it out")


def _check_fires(recurring: Recurrence, spec: Recurring, now_us: int, jitter_s: float) -> None:
    first_us = recurring.next_after(now_us)
    if first_us is None:
        tag = type(spec).__struct_config__.tag
        fix = "check its days and hours, its bounds and what it excludes"
        raise ScheduleError(f"schedule.{tag}", "no time to come matches, so it would never fire", fix)
    open_us = recurring.between(first_us - 1, first_us - 1 + recurring.jitter_us, MAX_OPEN + 1)
    if len(open_us) > MAX_OPEN:
        message = f"more than {MAX_OPEN} occurrences fall within the jitter of {jitter_s} s"
        raise ScheduleError("jitter_s", message, "use a jitter shorter than the time between two occurrences")
