"""Refuses a schedule that cannot be meant, before anything is stored."""

from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.recurrence import intern, recurrence
from noonmark.schedule.spec import At, ScheduleSpec, instant_us

MAX_JITTER_S = 86_400
MAX_OPEN = 64
"""So many occurrences may be inside their jitter window at once; each costs a slice of every tick."""


def validate(spec: ScheduleSpec, now_us: int, jitter_s: float = 0) -> None:
    """Raises a ScheduleError that names the field, what is wrong and what to write instead."""
    if not 0 <= jitter_s <= MAX_JITTER_S:
        raise ScheduleError("jitter_s", f"{jitter_s} is out of bounds", f"use 0 to {MAX_JITTER_S} (one day)")
    if isinstance(spec, At):
        _check_at(spec, now_us)
    text = intern(spec, now_us, jitter_s)
    if text is None:
        return
    recurring = recurrence(text)
    first_us = recurring.next_after(now_us)
    if first_us is None:
        raise ScheduleError("schedule.cron", "no time matches, so it would never fire", "check the day and hour fields")
    open_us = recurring.between(first_us - 1, first_us - 1 + recurring.jitter_us, MAX_OPEN + 1)
    if len(open_us) > MAX_OPEN:
        message = f"more than {MAX_OPEN} occurrences fall within the jitter of {jitter_s} s"
        raise ScheduleError("jitter_s", message, "use a jitter shorter than the time between two occurrences")


def _check_at(spec: At, now_us: int) -> None:
    if spec.at.utcoffset() is None:
        raise ScheduleError("schedule.at", "the time has no zone", "add an offset, such as Z or +02:00")
    if instant_us(spec.at) < now_us:
        raise ScheduleError("schedule.at", f"{spec.at.isoformat()} is in the past", "use a later time, or kind 'now'")
