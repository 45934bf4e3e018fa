"""Occurrences of a cron expression by the wall clock of a zone.

cronsim reads the expression and steps over wall-clock times that know no zone; this module alone maps them to instants,
because cronsim's own mapping depends on where a search begins (overlaps, Lord Howe's half hour, changes at midnight).
The rule is Debian's:

- *Fixed times* (5 fields, and neither minute nor hour starts with a star): in a gap they fire right after it, and
  several of them only once; in an overlap they fire once, the first time.
- *Wildcards* (all others) fire at each instant whose wall clock matches, so a gap has none and an overlap has both.
"""

from datetime import datetime, timedelta

from cronsim import CronSim

from noonmark.schedule.cron_text import parse
from noonmark.schedule.zones import last_change, next_change, offset_s, wall_to_instants, zone

_SECOND_US = 1_000_000
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - a wall-clock time of no zone
_FIRST_S, _LAST_S = -2_208_988_800, 32_503_680_000  # the years 1900 to 2999
_HORIZON_S = 50 * 366 * 86_400  # as far as cronsim looks


class CronRecurrence:
    __slots__ = ("_fields", "_fixed", "_zone", "jitter_us")

    def __init__(self, expression: str, tz: str, jitter_us: int = 0) -> None:
        self.jitter_us = jitter_us
        self._fields = vars(parse(expression))
        self._zone = None if tz == "UTC" else zone(tz)
        fields = expression.split()
        self._fixed = len(fields) == 5 and not fields[0].startswith("*") and not fields[1].startswith("*")

    def next_after(self, t_us: int) -> int | None:
        after_s = max(t_us // _SECOND_US, _FIRST_S)
        found_s = self._next(after_s) if after_s < _LAST_S else None
        return None if found_s is None else found_s * _SECOND_US

    def previous_before(self, t_us: int) -> int | None:
        before_s = min(-(-t_us // _SECOND_US), _LAST_S)
        found_s = self._previous(before_s) if before_s > _FIRST_S else None
        return None if found_s is None else found_s * _SECOND_US

    def between(self, after_us: int, until_us: int, limit: int) -> list[int]:
        found: list[int] = []
        at_us = self.next_after(after_us)
        while at_us is not None and at_us <= until_us and len(found) < limit:
            found.append(at_us)
            at_us = self.next_after(at_us)
        return found

    def last_between(self, after_us: int, until_us: int, limit: int) -> list[int]:
        found: list[int] = []
        at_us = self.previous_before(until_us + 1)
        while at_us is not None and at_us > after_us and len(found) < limit:
            found.append(at_us)
            at_us = self.previous_before(at_us)
        return found[::-1]

    def _next(self, after_s: int) -> int | None:
        where, end_s = self._zone, after_s + _HORIZON_S
        if where is None:
            return self._step(after_s, 1)
        if self._fixed:
            wall_s = self._step(after_s + offset_s(where, after_s), 1)
            while wall_s is not None:  # in the second half of an overlap, some of the next wall times have passed
                if (at_s := self._fixed_instant(wall_s)) > after_s:
                    return at_s
                wall_s = self._step(wall_s, 1)
            return None
        from_s = after_s + 1
        while from_s <= end_s:  # one stretch of constant offset after the other
            offset = offset_s(where, from_s)
            wall_s = self._step(from_s - 1 + offset, 1)
            if wall_s is None:
                return None
            change_s = next_change(where, from_s, min(wall_s - offset, end_s))
            if change_s is None:
                return wall_s - offset if wall_s - offset <= end_s else None
            from_s = change_s
        return None

    def _previous(self, before_s: int) -> int | None:
        where, end_s = self._zone, before_s - _HORIZON_S
        if where is None:
            return self._step(before_s, -1)
        if self._fixed:
            wall_s = self._step(self._latest_wall(before_s), -1)
            while wall_s is not None:  # the wall times of a gap all fire at its end
                if (at_s := self._fixed_instant(wall_s)) < before_s:
                    return at_s
                wall_s = self._step(wall_s, -1)
            return None
        to_s = before_s - 1
        while to_s >= end_s:
            offset = offset_s(where, to_s)
            wall_s = self._step(to_s + 1 + offset, -1)
            if wall_s is None:
                return None
            change_s = last_change(where, max(wall_s - offset, end_s), to_s)
            if change_s is None:
                return wall_s - offset if wall_s - offset >= end_s else None
            to_s = change_s - 1
        return None

    def _fixed_instant(self, wall_s: int) -> int:
        assert self._zone is not None
        first_s, second_s = wall_to_instants(self._zone, wall_s)
        if first_s <= second_s:
            return first_s
        change_s = next_change(self._zone, second_s, first_s)
        return first_s if change_s is None else change_s

    def _latest_wall(self, at_s: int) -> int:
        """The latest wall time that the clock has shown by an instant: in an overlap's second half, the hour's end."""
        assert self._zone is not None
        wall_s = at_s + offset_s(self._zone, at_s)
        first_s, second_s = wall_to_instants(self._zone, wall_s)
        return wall_s + (second_s - first_s) if first_s < second_s == at_s else wall_s

    def _step(self, wall_s: int, direction: int) -> int | None:
        """The nearest matching wall time after (1) or before (-1) another, with no zone; parsed fields are shared."""
        stepper = CronSim.__new__(CronSim)
        vars(stepper).update(self._fields, dt=_EPOCH + timedelta(seconds=wall_s), tick_direction=direction)
        found = next(stepper, None)
        return None if found is None else (found - _EPOCH) // timedelta(seconds=1)
