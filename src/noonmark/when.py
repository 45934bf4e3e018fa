"""When a job fires, as the SDK writes it: `every("5m")`, `cron("0 9 * * *")`, `english("every weekday at 9:30")`.

All that recur take the same keywords: `start`, `end`, `max_runs`, `exclude`, `only`, `when_excluded`; those that go by
the clock of a zone take `gap` and `overlap` too. What they mean stands in docs/schedules.md.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict, Unpack

from noonmark.schedule.spec import At, Cron, English, Every, Gap, Interval, Overlap, Rrule, Solar, SunEvent, Times


class Recurs(TypedDict, total=False):
    start: datetime | None
    end: datetime | None
    max_runs: int | None
    exclude: Sequence[str]
    only: Sequence[str]
    when_excluded: Literal["skip", "move"]


class ByClock(Recurs, total=False):
    gap: Gap
    overlap: Overlap


def every(period: str | float, *, anchor: datetime | None = None, tz: str = "UTC", **more: Unpack[Recurs]) -> Every:
    """At a fixed rate: `every("5s")`, `every("1h30m")`, `every(0.5)` (seconds)."""
    return Every(every=period, anchor=anchor, tz=tz, **_fields(more))


def delay(period: str | float, **more: Unpack[Recurs]) -> Every:
    """So long after the run before it ended: `delay("5m")`."""
    return Every(every=period, pace="delay", **_fields(more))


def cron(expression: str, *, tz: str = "UTC", **more: Unpack[ByClock]) -> Cron:
    """By the wall clock of a time zone: `cron("0 1 * * *", tz="Europe/Zurich")`."""
    return Cron(cron=expression, tz=tz, **_fields(more))


def rrule(rule: str, *, tz: str | None = None, **more: Unpack[ByClock]) -> Rrule:
    """By a rule of RFC 5545: `rrule("FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=12;BYMINUTE=0;BYSECOND=0")`."""
    return Rrule(rrule=rule, tz=tz, **_fields(more))


def interval(iso: str, *, tz: str = "UTC", **more: Unpack[ByClock]) -> Interval:
    """By a repeating interval of ISO 8601: `interval("R/2030-01-01T00:00Z/PT5M")`."""
    return Interval(iso=iso, tz=tz, **_fields(more))


def times(moments: Sequence[datetime], *, tz: str = "UTC", **more: Unpack[Recurs]) -> Times:
    """At each time of a list; each needs a time zone."""
    return Times(times=tuple(map(_with_zone, moments)), tz=tz, **_fields(more))


def solar(
    event: SunEvent,
    *,
    latitude: float,
    longitude: float,
    offset: str | int = 0,
    tz: str = "UTC",
    **more: Unpack[Recurs],
) -> Solar:
    """By the sun at a place: `solar("sunset", latitude=52.52, longitude=13.4, offset="-30m")`."""
    return Solar(solar=event, latitude=latitude, longitude=longitude, offset=offset, tz=tz, **_fields(more))


def english(text: str, *, tz: str | None = None, **more: Unpack[ByClock]) -> English:
    """In plain English: `english("every weekday at 9:30", tz="Europe/Berlin")`."""
    return English(english=text, tz=tz, **_fields(more))


def at(moment: datetime) -> At:
    """Once, at a time, which needs a time zone."""
    return At(at=_with_zone(moment))


def _with_zone(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("at: a time needs a time zone")
    return moment


def _fields(more: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if name in ("exclude", "only") else value for name, value in more.items()}
