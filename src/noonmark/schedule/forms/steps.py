"""Steps of a calendar duration from a start: 31 January, 28 February, 31 March."""

from calendar import monthrange
from datetime import UTC, datetime, timedelta

from noonmark.schedule.forms.duration import Duration, duration_text, read_duration

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MONTH_S = 2_629_746  # of 30.436875 days, the mean of 400 years
_LAST_S = 7_258_118_400  # 2200-01-01T00:00:00


class StepsPattern:
    """At start + k * step for k ≥ 0 up to 2199: first the months, then the rest.

    Each time is counted from the start, so that a day lost to a short month comes back in a longer one.
    """

    __slots__ = ("_fixed_s", "_mean_s", "_months", "_start", "_start_s")
    keeps_pace = False

    def __init__(self, body: str) -> None:
        """From what `steps_body` wrote."""
        start, _, text = body.partition("/")
        step = read_duration(text)
        if step is None or not (step.months or step.fixed_s):
            raise ValueError(f"{body!r} is not a start and a step")
        self._start = datetime.fromisoformat(start).replace(tzinfo=UTC)
        self._start_s = (self._start - _EPOCH) // timedelta(seconds=1)
        self._months, self._fixed_s = step.months, step.fixed_s
        self._mean_s = step.months * _MONTH_S + step.fixed_s

    def next_wall(self, after_s: int) -> int | None:
        if after_s < self._start_s:
            return self._start_s
        if after_s >= _LAST_S:
            return None
        # The estimate is wrong by one or two, as few months are of mean length.
        k = max((after_s - self._start_s) // self._mean_s - 1, 0)
        while (wall_s := self._at(k)) <= after_s:
            k += 1
        while k and (before_s := self._at(k - 1)) > after_s:
            k, wall_s = k - 1, before_s
        return wall_s if wall_s < _LAST_S else None

    def previous_wall(self, before_s: int) -> int | None:
        if before_s <= self._start_s:
            return None
        before_s = min(before_s, _LAST_S)
        k = (before_s - self._start_s) // self._mean_s + 1
        while (wall_s := self._at(k)) >= before_s:
            k -= 1
        while (after_s := self._at(k + 1)) < before_s:
            k, wall_s = k + 1, after_s
        return wall_s

    def _at(self, k: int) -> int:
        year, month = divmod(self._start.year * 12 + self._start.month - 1 + k * self._months, 12)
        day = min(self._start.day, monthrange(year, month + 1)[1])
        moved = self._start.replace(year=year, month=month + 1, day=day) - _EPOCH
        return moved.days * 86_400 + moved.seconds + k * self._fixed_s


def steps_body(start: datetime, step: Duration) -> str:
    """`2026-01-31T09:00:00/P1M`: the start by the wall clock, and the step."""
    return f"{start:%Y-%m-%dT%H:%M:%S}/{duration_text(step)}"
