"""The times of an hour that an RFC 5545 rule leaves, given that its day and hour match."""

from collections.abc import Sequence
from math import gcd

from noonmark.schedule.forms.rule_parts import RuleParts

UNIT_S = {"HOURLY": 3_600, "MINUTELY": 60, "SECONDLY": 1}


class HourClock:
    """INTERVAL counts hours, minutes or seconds from the start; a unit that it counts fires at each of its tails."""

    __slots__ = ("_interval", "_per_hour", "_start_unit", "_tails", "_unit_s", "_units", "_wanted")

    def __init__(self, rule: RuleParts, start_s: int) -> None:
        # By the day, each matching hour fires alike: as if hourly, without an interval.
        self._unit_s = UNIT_S.get(rule.freq, 3_600)
        self._interval = 1 if rule.by_the_day else rule.interval
        self._per_hour = 3_600 // self._unit_s
        self._start_unit = start_s // self._unit_s
        units: Sequence[int] = (0,)
        tails = [0]
        if rule.freq == "SECONDLY":
            units = [
                minute * 60 + second for minute in rule.minutes or range(60) for second in rule.seconds or range(60)
            ]
        elif rule.freq == "MINUTELY":
            units, tails = rule.minutes or range(60), list(rule.seconds)
        else:
            tails = [minute * 60 + second for minute in rule.minutes for second in rule.seconds]
        if rule.positions and not rule.by_the_day:
            picked = {position - 1 if position > 0 else len(tails) + position for position in rule.positions}
            tails = [tails[index] for index in sorted(picked) if 0 <= index < len(tails)]
        # What the interval reaches in no hour at all would be searched for in vain.
        reach = gcd(self._interval, self._per_hour)
        self._units = tuple(unit for unit in units if (unit - self._start_unit) % reach == 0)
        self._wanted = None if len(units) == self._per_hour else frozenset(self._units)
        self._tails = tuple(tails)

    @property
    def silent(self) -> bool:
        """No hour has any times."""
        return not (self._units and self._tails)

    def times_in(self, hour: int) -> Sequence[int]:
        """The times of the hour with this number since 1970."""
        base_s, unit_s = hour * 3_600, self._unit_s
        first = (self._start_unit - hour * self._per_hour) % self._interval
        reached: Sequence[int] = range(first, self._per_hour, self._interval)
        if self._wanted is None and len(self._tails) == 1:
            return range(base_s + first * unit_s + self._tails[0], base_s + 3_600, self._interval * unit_s)
        if self._wanted is not None:
            if len(reached) < len(self._units):
                reached = [unit for unit in reached if unit in self._wanted]
            else:
                reached = [unit for unit in self._units if unit in reached]
        return [base_s + unit * unit_s + tail for unit in reached for tail in self._tails]

    def days_without(self, day: int, step: int) -> int:
        """How many days, this one first, are passed over in a direction by an interval longer than a day."""
        per_day = 24 * self._per_hour
        if step > 0:
            return (self._start_unit - day * per_day) % self._interval // per_day
        return ((day + 1) * per_day - 1 - self._start_unit) % self._interval // per_day
