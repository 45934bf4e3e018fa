"""When a job fires, as its owner writes it."""

from datetime import UTC, datetime, timedelta

import msgspec

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class _Spec(msgspec.Struct, frozen=True, tag_field="kind", forbid_unknown_fields=True, omit_defaults=True):
    pass


class Now(_Spec, frozen=True, tag="now"):
    """Once, at creation."""


class At(_Spec, frozen=True, tag="at"):
    """Once, at a time."""

    at: datetime


class Every(_Spec, frozen=True, tag="every"):
    """At a fixed rate: at `anchor` plus any multiple of the period; without an anchor, counted from creation.

    The anchor sets the phase only. It is no start: occurrences before it exist too.
    """

    every: str | int | float
    anchor: datetime | None = None


class Cron(_Spec, frozen=True, tag="cron"):
    """By the wall clock of an IANA time zone."""

    cron: str
    tz: str = "UTC"


class Manual(_Spec, frozen=True, tag="manual"):
    """Only when triggered."""


ScheduleSpec = Now | At | Every | Cron | Manual


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
