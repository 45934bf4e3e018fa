"""The next fires, by the clock of the zone, with what the changes of that clock do to them."""

from collections.abc import Sequence
from datetime import UTC, datetime

from noonmark.schedule.preview.clock_changes import ClockChange, changes
from noonmark.schedule.preview.context import PreviewContext
from noonmark.schedule.preview.exclusions import moved_note
from noonmark.schedule.preview.model import Fire
from noonmark.schedule.preview.words import SECOND_US, and_text, clock_text, local_time, wall_text
from noonmark.schedule.spec import ScheduleSpec

_DAY_S = 86_400
_MANY = 100


def fires_at(spec: ScheduleSpec, times_us: Sequence[int], *, created_us: int, key: str) -> tuple[Fire, ...]:
    """Known times of a schedule that a job has had since it was created."""
    context = PreviewContext(spec, now_us=created_us, jitter_s=0.0, key=key, tz=None)
    return tuple(_fire(context, at_us) for at_us in times_us)


def fires(context: PreviewContext, count: int) -> tuple[Fire, ...]:
    return tuple(_fire(context, at_us) for at_us in context.coming[:count])


def utc(at_us: int) -> datetime:
    whole = datetime.fromtimestamp(at_us // SECOND_US, UTC)
    return whole.replace(microsecond=at_us % SECOND_US)


def _fire(context: PreviewContext, at_us: int) -> Fire:
    local = local_time(at_us, context.where)
    note = moved_note(context, at_us)
    if note is None and context.walls is not None:
        note = _note(context, at_us // SECOND_US, local)
    return Fire(at=utc(at_us), local=local.isoformat(), zone=local.tzname() or "", note=note)


def _note(context: PreviewContext, at_s: int, local: datetime) -> str | None:
    for change in changes(context.where, at_s - _DAY_S, at_s + _DAY_S):
        wall_s = at_s + (change.before_s if at_s < change.at_s else change.after_s)
        if not change.forward and change.start_s <= wall_s < change.end_s:
            which = "first" if at_s < change.at_s else "second"
            return f"the clock shows {clock_text(local)} twice: the {which} time"
        if change.forward and at_s >= change.at_s and (moved := _moved(context, change, at_s, wall_s)):
            return f"the clock goes forward: moved from {moved}"
    return None


def _moved(context: PreviewContext, change: ClockChange, at_s: int, wall_s: int) -> str | None:
    """The times without a place on the clock that this fire stands for."""
    assert context.walls is not None
    if context.walls.next_after(wall_s * SECOND_US - 1) == wall_s * SECOND_US:
        return None
    if at_s == change.at_s:
        lost = context.walls.between(change.start_s * SECOND_US - 1, change.end_s * SECOND_US - 1, _MANY)
    else:
        shifted_us = (wall_s - change.length_s) * SECOND_US
        lost = [shifted_us] if context.walls.next_after(shifted_us - 1) == shifted_us else []
    texts = [wall_text(lost_us // SECOND_US) for lost_us in lost]
    return and_text(texts if len(texts) <= 4 else [*texts[:3], "others"]) if texts else None
