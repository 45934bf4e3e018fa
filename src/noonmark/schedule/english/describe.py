"""Says any schedule as one sentence, which the grammar reads back where it has words for it."""

import re
from datetime import datetime
from typing import assert_never

from noonmark.schedule.english.compose import read_english
from noonmark.schedule.english.describe_cron import cron_sentence
from noonmark.schedule.english.describe_extras import extras_phrase
from noonmark.schedule.english.describe_rule import rule_bounds, rule_sentence
from noonmark.schedule.english.moments import moment_text, offset_text
from noonmark.schedule.english.words import LETTERS, counted, listed
from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.forms.duration import Duration, read_duration
from noonmark.schedule.forms.interval import canonical_interval
from noonmark.schedule.forms.period import offset_s, period_s, period_text
from noonmark.schedule.forms.rrule import read_rrule
from noonmark.schedule.spec import (
    At,
    Cron,
    English,
    Every,
    Interval,
    Manual,
    Now,
    Rrule,
    ScheduleSpec,
    Solar,
    Times,
)
from noonmark.schedule.zones import canonical_zone

_PERIOD = re.compile(r"(?=[0-9])(?:[0-9]+w)?(?:[0-9]+d)?(?:[0-9]+h)?(?:[0-9]+m)?(?:[0-9]+s)?")
_UNITS = {letter: unit for unit, letter in LETTERS.items()}
_MAX_LISTED = 3


def describe(spec: ScheduleSpec) -> str:
    """One sentence without a full stop; a ScheduleError if the spec is not valid."""
    match spec:
        case Now():
            return "Once, right away"
        case At(at=at):
            return f"Once, at {offset_text(at)}"
        case Manual():
            return "Only when triggered"
        case Cron(cron=cron, tz=tz):
            return f"{cron_sentence(cron)} ({tz}){extras_phrase(spec, canonical_zone(tz))}"
        case Rrule(rrule=text):
            parts = read_rrule(text, spec.tz)
            return f"{rule_sentence(parts)} ({parts.tz}){rule_bounds(parts)}{extras_phrase(spec, parts.tz)}"
        case Every():
            return _every(spec)
        case Interval():
            return f"{_interval(spec)} ({spec.tz}){extras_phrase(spec, canonical_zone(spec.tz))}"
        case Times(times=times):
            return f"{_times(times)}{_filtered(spec)}"
        case Solar():
            return f"{_solar(spec)}{_filtered(spec)}"
        case English(english=text, tz=tz):
            found = read_english(text, tz)
            return f"{describe(found)}{extras_phrase(spec, getattr(found, 'tz', None) or 'UTC')}"
    assert_never(spec)


def _every(spec: Every) -> str:
    pace = _period(spec.every)
    if spec.pace == "delay":
        return f"Every {pace} after the previous run ended{_filtered(spec)}"
    anchor = "creation" if spec.anchor is None else moment_text(spec.anchor, canonical_zone(spec.tz))
    return f"Every {pace}, counted from {anchor}{_filtered(spec)}"


def _filtered(spec: Every | Times | Solar) -> str:
    """The zone matters only to dates and to what is left out."""
    zone = f" ({spec.tz})" if spec.tz != "UTC" or spec.exclude or spec.only else ""
    return f"{zone}{extras_phrase(spec, canonical_zone(spec.tz))}"


def _period(every: str | int | float) -> str:
    """`5 minutes`, `1 hour and 30 minutes`, `hour`."""
    text = every.strip().lower() if isinstance(every, str) else ""
    if not _PERIOD.fullmatch(text):
        text = period_text(period_s(every))
    else:
        period_s(every)
    parts = [(int(number), _UNITS[letter]) for number, letter in re.findall(r"([0-9]+)([wdhms])", text)]
    return _pace(parts)


def _pace(parts: list[tuple[int, str]]) -> str:
    if len(parts) == 1 and parts[0][0] == 1:
        return parts[0][1]
    return listed(counted(number, unit) for number, unit in parts)


def _interval(spec: Interval) -> str:
    canonical = canonical_interval(spec.iso, canonical_zone(spec.tz))
    repeats, *rest = re.sub(r"(T[0-9]{2}:[0-9]{2}):00", r"\1", canonical).split("/")
    times = f", {repeats[1:]} times" if repeats[1:] else ""
    ends = [part for part in rest if not part.startswith("P")]
    pace = _duration(next(filter(None, map(read_duration, rest))))
    if not ends:
        return f"Every {pace}, counted from creation{times}"
    return f"Every {pace}, {'counted from' if rest[0] == ends[0] else 'until'} {ends[0]}{times}"


def _duration(pace: Duration) -> str:
    years, months = divmod(pace.months, 12)
    parts = [(years, "year"), (months, "month"), (pace.days, "day")]
    parts += [(pace.seconds // 3_600, "hour"), (pace.seconds // 60 % 60, "minute"), (pace.seconds % 60, "second")]
    return _pace([part for part in parts if part[0]] or [(0, "second")])


def _times(times: tuple[datetime, ...]) -> str:
    texts = [offset_text(moment) for moment in _ordered(times)]
    if not texts:
        return "Never"
    if len(texts) <= _MAX_LISTED:
        return f"Once, at {texts[0]}" if len(texts) == 1 else f"At {listed(texts)}"
    return f"At {len(texts)} times from {texts[0]} to {texts[-1]}"


def _ordered(times: tuple[datetime, ...]) -> list[datetime]:
    try:
        return sorted(times)
    except TypeError:
        fix = "add an offset to each, such as Z or +02:00"
        raise ScheduleError("schedule.times", "some times have a zone and some have none", fix) from None


def _solar(spec: Solar) -> str:
    words = "solar noon" if spec.solar == "noon" else str(spec.solar)
    if offset := offset_s(spec.offset):
        period = _period(abs(offset))
        period = period if period[0].isdigit() else f"1 {period}"
        words = f"{period} {'before' if offset < 0 else 'after'} {words}"
    north = f"{abs(spec.latitude):g}° {'N' if spec.latitude >= 0 else 'S'}"
    east = f"{abs(spec.longitude):g}° {'E' if spec.longitude >= 0 else 'W'}"
    return f"{words[0].upper()}{words[1:]} at {north}, {east}"
