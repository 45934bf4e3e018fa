"""The interned part of a schedule: ten million jobs share the few distinct texts that say when and with which jitter.

A text is `cron:*/5 * * * *|Europe/Berlin|j0` or `every:300|phase 137|j30`: a kind, what that kind needs, and the width
of the jitter window in seconds.
"""

from typing import Protocol

from noonmark.schedule.cron import CronRecurrence
from noonmark.schedule.cron_text import canonical_cron
from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.every import EveryRecurrence
from noonmark.schedule.period import period_s
from noonmark.schedule.spec import Cron, Every, ScheduleSpec, instant_us
from noonmark.schedule.zones import canonical_zone

_SECOND_US = 1_000_000


class Recurrence(Protocol):
    """Nominal times in µs since the epoch, strictly increasing whole seconds."""

    @property
    def jitter_us(self) -> int:
        """Each job is due at its own offset in [0, jitter_us) after the nominal time."""

    def next_after(self, t_us: int) -> int | None:
        """The first occurrence strictly after."""

    def previous_before(self, t_us: int) -> int | None:
        """The last occurrence strictly before."""

    def between(self, after_us: int, until_us: int, limit: int) -> list[int]:
        """The first `limit` occurrences in (after, until]."""

    def last_between(self, after_us: int, until_us: int, limit: int) -> list[int]:
        """The last `limit` occurrences in (after, until], ascending, found backwards from the end."""


def intern(spec: ScheduleSpec, created_us: int, jitter_s: float = 0) -> str | None:
    """The text under which equal schedules are stored once; None for one that does not recur."""
    match spec:
        case Cron(cron=expression, tz=tz):
            return f"cron:{canonical_cron(expression)}|{canonical_zone(tz)}|{_jitter_text(jitter_s)}"
        case Every(every=every, anchor=anchor):
            period = period_s(every)
            anchor_us = created_us if anchor is None else _checked_anchor_us(spec)
            return f"every:{period}|phase {anchor_us // _SECOND_US % period}|{_jitter_text(jitter_s)}"
    return None


def recurrence(text: str) -> Recurrence:
    """Reads what `intern` wrote. Parsing costs far more than asking, so keep the answer."""
    kind, _, rest = text.partition(":")
    try:
        what, where, jitter = rest.split("|")
        jitter_us = round(float(jitter.removeprefix("j")) * 1_000) * 1_000
        if kind == "cron":
            return CronRecurrence(what, where, jitter_us)
        if kind == "every":
            return EveryRecurrence(int(what) * _SECOND_US, int(where.removeprefix("phase ")) * _SECOND_US, jitter_us)
    except Exception as error:
        raise ValueError(f"{text!r} is not an interned schedule") from error
    raise ValueError(f"{text!r} is an interned schedule of an unknown kind")


def _checked_anchor_us(spec: Every) -> int:
    if spec.anchor is None or spec.anchor.utcoffset() is None:
        raise ScheduleError("schedule.anchor", "the time has no zone", "add an offset, such as Z or +02:00")
    if spec.anchor.microsecond:
        raise ScheduleError("schedule.anchor", "the time is not a whole second", "leave out the fraction")
    return instant_us(spec.anchor)


def _jitter_text(jitter_s: float) -> str:
    seconds, milliseconds = divmod(round(jitter_s * 1_000), 1_000)
    return f"j{seconds}" + f".{milliseconds:03d}".rstrip("0").rstrip(".")
