"""A schedule with everything that the parts of a preview ask about it."""

from datetime import date, timedelta
from functools import cached_property

from noonmark.schedule.calendar.filtered import Filtered
from noonmark.schedule.canonical import canonical
from noonmark.schedule.pattern import Recurrence
from noonmark.schedule.preview.model import MAX_FIRES
from noonmark.schedule.preview.words import SECOND_US, local_time
from noonmark.schedule.recurrence import bounded, recurrence, timing
from noonmark.schedule.spec import At, Interval, Now, Rrule, ScheduleSpec, Times, WallClock, once_at_us
from noonmark.schedule.validation import validate
from noonmark.schedule.zones import canonical_zone, zone

FAR_US = 7_258_118_400 * SECOND_US
"""The year 2200, beyond what any schedule is asked about."""
_FIRING_DAYS = 60
_BY_WALL_CLOCK = ("cron:", "rrule:", "steps:")
_OF_FILTER = ("exclude=", "only=", "tz=")


class PreviewContext:
    def __init__(self, spec: ScheduleSpec, *, now_us: int, jitter_s: float, key: str, tz: str | None) -> None:
        """Refuses what a job could not have either."""
        validate(spec, now_us, jitter_s, key)
        self.written = spec
        self.plain = canonical(spec, key=key or None)
        self.timed = timing(spec, key=key, created_us=now_us, jitter_s=jitter_s)
        self.recurrence = bounded(self.timed, now_us)
        self.now_us = now_us
        self.jitter_s = jitter_s
        self.key = key
        self.tz = self._zone_name(tz)
        self.where = zone(self.tz)

    @cached_property
    def coming(self) -> list[int]:
        """The next fires, as many as a preview may show; of a fixed delay the first alone can be known."""
        if self.recurrence is not None:
            return self.recurrence.between(self.now_us, FAR_US, MAX_FIRES)
        if self.timed.delay_us is not None:
            starts_us = self.timed.start_us or 0
            return [starts_us if starts_us > self.now_us else self.now_us + self.timed.delay_us]
        once_us = once_at_us(self.plain, self.now_us)
        return [] if once_us is None else [once_us]

    @cached_property
    def firing_days(self) -> list[date]:
        """The next days in the zone on which it fires."""
        days: list[date] = []
        at_us = self._next_after(self.now_us)
        while at_us is not None and len(days) < _FIRING_DAYS:
            local = local_time(at_us, self.where)
            if not days or local.date() > days[-1]:
                days.append(local.date())
            midnight = local.replace(hour=0, minute=0, second=0) + timedelta(days=1)
            at_us = self._next_after(max(at_us, int(midnight.timestamp()) * SECOND_US - 1))
        return days

    @property
    def ends(self) -> bool:
        bounds = (self.timed.end_us, self.timed.max_runs)
        return isinstance(self.plain, Now | At | Times) or any(bound is not None for bound in bounds) or self._counted

    @property
    def last_us(self) -> int | None:
        if not self.ends:
            return None
        if self.recurrence is None:
            return self.coming[-1] if self.coming else None
        return self.recurrence.previous_before(FAR_US)

    @cached_property
    def walls(self) -> Recurrence | None:
        """Its times by a clock that is never changed; None if it does not go by the clock of a zone."""
        text = self.timed.text
        if text is None or not text.startswith(_BY_WALL_CLOCK):
            return None
        body, _, jitter, *options = text.split("|")
        kept = [option for option in options if not option.startswith(("gap=", "overlap="))]
        return recurrence("|".join([body, "UTC", jitter, *kept]))

    @cached_property
    def filtered(self) -> Filtered | None:
        """Without its bounds; None if it excludes nothing."""
        found = None if self.timed.text is None else recurrence(self.timed.text)
        return found if isinstance(found, Filtered) else None

    @cached_property
    def unfiltered(self) -> Recurrence | None:
        """Without its bounds and what it excludes; None if it excludes nothing."""
        if self.timed.text is None or self.filtered is None:
            return None
        parts = self.timed.text.split("|")
        return recurrence("|".join(part for part in parts if part != "move" and not part.startswith(_OF_FILTER)))

    @property
    def _counted(self) -> bool:
        return isinstance(self.plain, Rrule) and any(word in self.plain.rrule for word in ("COUNT=", "UNTIL="))

    def _next_after(self, at_us: int) -> int | None:
        return None if self.recurrence is None else self.recurrence.next_after(at_us)

    def _zone_name(self, asked: str | None) -> str:
        """Its own; one that was asked for if it has none."""
        own: str | None = getattr(self.plain, "tz", None)
        if own is not None and (own != "UTC" or (isinstance(self.plain, WallClock) and not self._names_instants)):
            return own
        return "UTC" if asked is None else canonical_zone(asked)

    @property
    def _names_instants(self) -> bool:
        """An interval in hours and shorter units from a start with an offset."""
        return isinstance(self.plain, Interval) and self.timed.text is not None and self.timed.text.startswith("every:")
