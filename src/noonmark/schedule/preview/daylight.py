"""What a schedule does on days on which the clock is changed, beside what it would do by an even clock."""

from collections.abc import Iterator
from itertools import pairwise

from noonmark.schedule.preview.clock_changes import ClockChange, changes
from noonmark.schedule.preview.context import PreviewContext
from noonmark.schedule.preview.model import Notice
from noonmark.schedule.preview.words import SECOND_US, and_text, clock_text, day_text, local_time, times_text, wall_text

_DAY_S = 86_400
_HORIZON_S = 400 * _DAY_S
_DENSE = 4000
"""Above so many fires a day nobody misses or minds a few."""


class _ChangeDay:
    """The fires of one such day: those that the even clock has, and those that happen."""

    def __init__(self, context: PreviewContext, change: ClockChange) -> None:
        assert context.walls is not None
        assert context.recurrence is not None
        self.change = change
        self.where = context.where
        self.from_s = change.start_s // _DAY_S * _DAY_S
        self.to_s = max(self.from_s + _DAY_S, change.end_s + 1)
        even = context.walls.between(self.from_s * SECOND_US - 1, self.to_s * SECOND_US - 1, _DENSE)
        self.even = [at_us // SECOND_US for at_us in even]
        offsets = change.before_s, change.after_s
        self.begins_us = (self.from_s - max(offsets)) * SECOND_US
        self.over_us = (self.to_s - min(offsets)) * SECOND_US
        happen = context.recurrence.between(self.begins_us - 1, self.over_us - 1, 2 * _DENSE)
        self.actual = [at_s for at_us in happen if self.from_s <= self.wall(at_s := at_us // SECOND_US) < self.to_s]
        self.touched = [wall_s for wall_s in self.even if change.start_s <= wall_s < change.end_s]

    def wall(self, at_s: int) -> int:
        return at_s + (self.change.before_s if at_s < self.change.at_s else self.change.after_s)

    @property
    def text(self) -> str:
        return day_text(local_time(self.change.at_s * SECOND_US - 1, self.where))

    @property
    def touched_text(self) -> str:
        if len(self.touched) <= 3:
            return and_text([wall_text(wall_s) for wall_s in self.touched])
        return f"{wall_text(self.change.start_s)} to {wall_text(self.change.end_s)}"

    @property
    def steady(self) -> bool:
        """No wait is longer than the change, all day: then the pace is what matters, not the times."""
        around = [*self.even, self.even[0] + _DAY_S]
        return all(later - earlier <= self.change.length_s for earlier, later in pairwise(around))


def daylight(context: PreviewContext) -> Iterator[Notice]:
    """Each kind of effect once, on the first day that has it."""
    noticed: set[str] = set()
    for day in _days(context):
        notice = _forward(day) if day.change.forward else _back(day)
        if notice is not None and notice.code not in noticed:
            noticed.add(notice.code)
            yield notice


def _days(context: PreviewContext) -> Iterator[_ChangeDay]:
    if context.walls is None or context.recurrence is None:
        return
    now_s = context.now_us // SECOND_US
    begins_us = max(context.now_us, context.timed.start_us or 0)
    last_us = context.last_us
    for change in changes(context.where, now_s, now_s + _HORIZON_S):
        day = _ChangeDay(context, change)
        whole = day.begins_us > begins_us and (last_us is None or day.over_us <= last_us)
        if whole and day.touched and len(day.even) < _DENSE:
            yield day


def _forward(day: _ChangeDay) -> Notice | None:
    known = set(day.even)
    moved = [at_s for at_s in day.actual if day.wall(at_s) not in known]
    lost = f"{day.touched_text} {'does' if len(day.touched) == 1 else 'do'} not exist on {day.text}"
    because = f"because of {day.change.cause}"
    if moved:
        fires = and_text([clock_text(local_time(at_s * SECOND_US, day.where)) for at_s in moved[:3]])
        fires += " and later" if len(moved) > 3 else ""
        return Notice("daylight_moved", f"{lost} {because}: fires at {fires} instead (see `gap`: skip, after or shift)")
    if day.steady:
        return None
    if not day.actual:
        message = f"does not fire on {day.text} {because}: {day.touched_text} left out that day"
    else:
        message = (
            f"fires {times_text(len(day.actual))} on {day.text} instead of {len(day.even)} {because}: "
            f"{day.touched_text} left out that day"
        )
    return Notice("daylight_missing", f"{message} (see `gap`: after or shift fire later)")


def _back(day: _ChangeDay) -> Notice | None:
    inside = [at_s for at_s in day.actual if day.change.start_s <= day.wall(at_s) < day.change.end_s]
    if len(inside) > len(day.touched):
        if day.steady:
            return None
        message = (
            f"fires {times_text(len(day.actual))} on {day.text} instead of {len(day.even)} because of "
            f"{day.change.cause}: the clock shows {day.touched_text} twice (see `overlap`: first or second fire once)"
        )
        return Notice("daylight_extra", message)
    if not inside:
        return None
    which = "first" if inside[0] < day.change.at_s else "second"
    message = (
        f"the clock shows {day.touched_text} twice on {day.text} because of {day.change.cause}: fires the {which} "
        "time only (see `overlap`: first, second or both)"
    )
    return Notice("daylight_once", message)
