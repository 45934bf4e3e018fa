"""When a job fires, as its owner writes it: one JSON object, told apart by its `kind`."""

from datetime import UTC, datetime, timedelta
from typing import Literal

import msgspec

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

Gap = Literal["auto", "skip", "after", "shift"]
Overlap = Literal["auto", "first", "second", "both"]
SunEvent = Literal["dawn", "sunrise", "noon", "sunset", "dusk"]


class _Spec(msgspec.Struct, frozen=True, tag_field="kind", forbid_unknown_fields=True, omit_defaults=True):
    pass


class Now(_Spec, frozen=True, tag="now"):
    """Once, at creation."""


class At(_Spec, frozen=True, tag="at"):
    """Once, at a time."""

    at: datetime


class Manual(_Spec, frozen=True, tag="manual"):
    """Only when triggered."""


class Recurring(_Spec, frozen=True, kw_only=True):
    """What every schedule that recurs may add: bounds, and times that it leaves out."""

    start: datetime | None = None
    """No occurrence before this time."""
    end: datetime | None = None
    """No occurrence after this time."""
    max_runs: int | None = None
    """At most this many occurrences while the job is active, counted from its start."""
    exclude: tuple[str, ...] = ()
    """Days and hours without occurrences: `holidays DE-BY`, `sat-sun`, `22:00-06:00`, `2026-12-24/2027-01-02`."""
    only: tuple[str, ...] = ()
    """If any is given, occurrences fall on these days and hours alone; written as in `exclude`."""
    when_excluded: Literal["skip", "move"] = "skip"
    """An excluded occurrence is left out, or moves to the next allowed time."""


class WallClock(Recurring, frozen=True, kw_only=True):
    """A schedule by the wall clock of a zone, which skips times (a gap) and shows times twice (an overlap).

    `auto` is Debian's rule: fixed times run right after a gap and once in an overlap, wildcards keep their pace.
    """

    gap: Gap = "auto"
    """Times in a gap: `skip` them, run once right `after` the gap, or `shift` each by the length of the gap."""
    overlap: Overlap = "auto"
    """Times in an overlap: run the `first` time, the `second` time or `both`."""


class Every(Recurring, frozen=True, tag="every"):
    """At a fixed rate: at `anchor` plus any multiple of the period; without an anchor, counted from creation.

    The anchor sets the phase only. It is no start: occurrences before it exist too. With the pace `delay`, each
    occurrence comes one period after the run before it ended; the anchor has no meaning then.
    """

    every: str | int | float
    """A number of seconds, `1h30m` or an ISO 8601 duration such as `PT5M`."""
    anchor: datetime | None = None
    pace: Literal["rate", "delay"] = "rate"
    tz: str = "UTC"
    """The zone of `exclude` and `only`."""


class Cron(WallClock, frozen=True, tag="cron"):
    """By the wall clock of an IANA time zone. Several expressions are separated by semicolons."""

    cron: str
    tz: str = "UTC"


class Rrule(WallClock, frozen=True, tag="rrule"):
    """A rule of RFC 5545: RRULE with DTSTART, EXDATE and RDATE lines. Without DTSTART, counted from creation."""

    rrule: str
    tz: str | None = None
    """The zone of times that name none; UTC if DTSTART does not say either."""


class Interval(WallClock, frozen=True, tag="iso"):
    """An ISO 8601 repeating interval: `R/2026-01-01T00:00Z/PT5M`. R5 means five occurrences."""

    iso: str
    tz: str = "UTC"
    """The zone of a start that names no offset; months and days are counted by its wall clock."""


class Times(Recurring, frozen=True, tag="times"):
    """At each time of a list."""

    times: tuple[datetime, ...]
    tz: str = "UTC"
    """The zone of `exclude` and `only`."""


class Solar(Recurring, frozen=True, tag="solar"):
    """By the sun at a place, so many seconds (or `-30m`) after the event."""

    solar: SunEvent
    latitude: float
    longitude: float
    offset: str | int = 0
    tz: str = "UTC"
    """The zone of `exclude` and `only`."""


class English(WallClock, frozen=True, tag="english"):
    """In plain English: `every weekday at 9:30`. Stands for the schedule that it is understood as."""

    english: str
    tz: str | None = None
    """The zone, unless the sentence names one; UTC otherwise."""


ScheduleSpec = Now | At | Every | Cron | Rrule | Interval | Times | Solar | English | Manual


def instant_us(moment: datetime) -> int:
    """Microseconds since the epoch of an aware datetime."""
    return (moment - _EPOCH) // _MICROSECOND


def once_at_us(spec: ScheduleSpec, now_us: int) -> int | None:
    """The single time of a schedule that does not recur."""
    match spec:
        case Now():
            return now_us
        case At(at=at):
            return instant_us(at)
    return None
