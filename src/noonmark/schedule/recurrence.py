"""The interned part of a schedule: ten million jobs share the few distinct texts that say when and with which jitter.

A text is `cron:*/5 * * * *|Europe/Berlin|j0` or `every:300|phase 137|j30`: a kind, what that kind needs, its zone, and
the width of the jitter window in seconds. What is out of the ordinary follows: `gap=skip`, `exclude=sat-sun;12-24`.
Texts are stored, so what was once written must be read for ever. What belongs to one job alone is not in the text: its
bounds, and the delay of a job that waits for the end of its run before.
"""

from typing import assert_never

import msgspec

from noonmark.schedule.bounds import Bounded, nth_after
from noonmark.schedule.calendar.filtered import Filtered
from noonmark.schedule.canonical import canonical
from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.forms.cron import cron_patterns
from noonmark.schedule.forms.every import EveryRecurrence
from noonmark.schedule.forms.interval import StepsPattern, read_interval
from noonmark.schedule.forms.period import period_s
from noonmark.schedule.forms.rrule import RulePattern, with_start
from noonmark.schedule.forms.solar import read_solar, solar_body
from noonmark.schedule.forms.times import TimesRecurrence, times_body
from noonmark.schedule.pattern import Recurrence, WallPattern
from noonmark.schedule.spec import (
    At,
    Cron,
    English,
    Every,
    Interval,
    Manual,
    Now,
    Recurring,
    Rrule,
    ScheduleSpec,
    Solar,
    Times,
    WallClock,
    instant_us,
)
from noonmark.schedule.union import Union
from noonmark.schedule.wall import WallRecurrence
from noonmark.schedule.zones import offset_s, zone

_SECOND_US = 1_000_000


class Timing(msgspec.Struct, frozen=True):
    """What is stored of a schedule: the text that equal schedules share, and what is the job's own."""

    text: str | None = None
    """None if it does not recur, or recurs by the end of its own runs."""
    start_us: int | None = None
    """No occurrence before."""
    end_us: int | None = None
    """No occurrence after."""
    max_runs: int | None = None
    delay_us: int | None = None
    """Each occurrence comes so long after the run before it ended."""


def timing(spec: ScheduleSpec, *, key: str, created_us: int, jitter_s: float = 0) -> Timing:
    """`key` (`tenant/name`) decides the H of a cron; what names no start counts from the creation."""
    plain = canonical(spec, key=key)
    jitter = _jitter_text(jitter_s)
    match plain:
        case Now() | At() | Manual():
            return Timing()
        case Every(pace="delay"):
            return _bounded(plain, None, delay_us=period_s(plain.every) * _SECOND_US)
        case Every():
            anchor_s = _anchor_us(plain, created_us) // _SECOND_US
            return _bounded(plain, _every_text(plain, period_s(plain.every), anchor_s, jitter))
        case Cron():
            return _bounded(plain, f"cron:{plain.cron}|{plain.tz}|{jitter}{_options(plain)}")
        case Rrule():
            assert plain.tz is not None
            created_s = created_us // _SECOND_US
            body = with_start(plain.rrule, created_s + offset_s(zone(plain.tz), created_s))
            return _bounded(plain, f"rrule:{body}|{plain.tz}|{jitter}{_options(plain)}")
        case Interval():
            return _interval(plain, created_us, jitter)
        case Times():
            return _bounded(plain, f"times:{times_body(plain.times)}|-|{jitter}{_options(plain)}")
        case Solar(solar=event, latitude=latitude, longitude=longitude, offset=offset):
            body = solar_body(event, latitude, longitude, offset)
            return _bounded(plain, f"solar:{body}|-|{jitter}{_options(plain)}")
        case English():
            raise AssertionError("the canonical form of English is another kind")
    assert_never(plain)


def recurrence(text: str) -> Recurrence:
    """Reads the text of a `Timing`. Parsing costs far more than asking, so keep the answer."""
    kind, _, rest = text.partition(":")
    try:
        body, where, jitter, *more = rest.split("|")
        options = dict(option.partition("=")[::2] for option in more)
        jitter_us = round(float(jitter.removeprefix("j")) * 1_000) * 1_000
        found = _unfiltered(kind, body, where, jitter_us, options)
        if "exclude" in options or "only" in options:
            tz = where if kind in ("cron", "rrule", "steps") else options.get("tz", "UTC")
            exclude, only = (tuple(filter(None, options.get(name, "").split(";"))) for name in ("exclude", "only"))
            found = Filtered(found, tz, exclude, only, "move" in options)
    except Exception as error:
        raise ValueError(f"{text[:200]!r} is not an interned schedule") from error
    return found


def bounded(timed: Timing, created_us: int) -> Recurrence | None:
    """The occurrences of one job from its creation on; None if no clock decides them."""
    if timed.text is None:
        return None
    start_us = created_us + 1 if timed.start_us is None else max(timed.start_us, created_us + 1)
    return Bounded(recurrence(timed.text), start_us, timed.end_us, timed.max_runs)


def _unfiltered(kind: str, body: str, where: str, jitter_us: int, options: dict[str, str]) -> Recurrence:
    patterns: list[WallPattern]
    match kind:
        case "every":
            return EveryRecurrence(int(body) * _SECOND_US, int(where.removeprefix("phase ")) * _SECOND_US, jitter_us)
        case "times":
            return TimesRecurrence(tuple(map(int, body.split(","))), jitter_us)
        case "solar":
            return read_solar(body, jitter_us)
        case "cron":
            patterns = [*cron_patterns(body)]
        case "rrule":
            patterns = [RulePattern(body)]
        case "steps":
            patterns = [StepsPattern(body)]
        case _:
            raise ValueError(f"no kind {kind!r}")
    gap, overlap = options.get("gap", "auto"), options.get("overlap", "auto")
    members = [WallRecurrence(pattern, where, gap, overlap, jitter_us) for pattern in patterns]  # type: ignore[arg-type]
    return members[0] if len(members) == 1 else Union(members)


def _interval(spec: Interval, created_us: int, jitter: str) -> Timing:
    parts = read_interval(spec.iso, spec.tz, created_us)
    if parts.period_s is not None:
        text = _every_text(spec, parts.period_s, parts.start_us // _SECOND_US, jitter)
    else:
        text = f"steps:{parts.steps}|{parts.tz}|{jitter}{_options(spec)}"
    end_us = parts.end_us
    if parts.count is not None:
        # Of the interval as it is written, whatever is left out of it afterwards.
        plain = recurrence(text.split("|exclude=")[0].split("|only=")[0])
        end_us = nth_after(plain, parts.start_us - 1, parts.count)
    return _bounded(spec, text, start_us=parts.start_us, end_us=end_us)


def _every_text(spec: Every | Interval, period: int, anchor_s: int, jitter: str) -> str:
    return f"every:{period}|phase {anchor_s % period}|{jitter}{_options(spec)}"


def _bounded(
    spec: Recurring,
    text: str | None,
    *,
    start_us: int | None = None,
    end_us: int | None = None,
    delay_us: int | None = None,
) -> Timing:
    starts = [at_us for at_us in (start_us, _instant(spec, "start")) if at_us is not None]
    ends = [at_us for at_us in (end_us, _instant(spec, "end")) if at_us is not None]
    return Timing(text, max(starts, default=None), min(ends, default=None), spec.max_runs, delay_us)


def _options(spec: Recurring) -> str:
    """In one order, and only what is not ordinary, so that equal schedules have equal texts."""
    options = ""
    if isinstance(spec, WallClock):
        options += "" if spec.gap == "auto" else f"|gap={spec.gap}"
        options += "" if spec.overlap == "auto" else f"|overlap={spec.overlap}"
    if spec.exclude or spec.only:
        if not isinstance(spec, Cron | Rrule):
            options += f"|tz={spec.tz}"  # type: ignore[attr-defined]
        options += f"|exclude={';'.join(spec.exclude)}" if spec.exclude else ""
        options += f"|only={';'.join(spec.only)}" if spec.only else ""
        options += "|move" if spec.when_excluded == "move" else ""
    return options


def _instant(spec: Recurring, name: str) -> int | None:
    moment = getattr(spec, name)
    if moment is None:
        return None
    if moment.utcoffset() is None:
        raise ScheduleError(f"schedule.{name}", "the time has no zone", "add an offset, such as Z or +02:00")
    return instant_us(moment)


def _anchor_us(spec: Every, created_us: int) -> int:
    anchor_us = _instant(spec, "anchor")
    if anchor_us is None:
        return created_us
    if anchor_us % _SECOND_US:
        raise ScheduleError("schedule.anchor", "the time is not a whole second", "leave out the fraction")
    return anchor_us


def _jitter_text(jitter_s: float) -> str:
    seconds, milliseconds = divmod(round(jitter_s * 1_000), 1_000)
    return f"j{seconds}" + f".{milliseconds:03d}".rstrip("0").rstrip(".")
