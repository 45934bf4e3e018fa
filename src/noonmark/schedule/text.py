"""A schedule as one string, in whichever form: for a command line, a column of a table, a line of a manifest."""

import re
from datetime import datetime
from typing import assert_never

import msgspec

from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.forms.period import is_period, period_text
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
from noonmark.schedule.zones import canonical_zone, zone

MAX_TEXT = 32_768
_ZONE = re.compile(r"(?:CRON_)?TZ=(\S+)\s+", re.IGNORECASE)
_NAMES = "JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC|SUN|MON|TUE|WED|THU|FRI|SAT"
_CRON_FIELD = re.compile(rf"(?:[0-9*?/,#()LWH-]|{_NAMES})+", re.IGNORECASE)
_INTERVAL = re.compile(r"R-?[0-9]*/", re.IGNORECASE)
_RULE = re.compile(r"(?:DTSTART|RRULE|EXDATE|RDATE|FREQ)\b", re.IGNORECASE)
_TIME = re.compile(r"[0-9]{4}-?[0-9]{2}-?[0-9]{2}[T ]")
_SUN = re.compile(
    r"(dawn|sunrise|noon|sunset|dusk) +(-?[0-9.]{1,12}) *, *(-?[0-9.]{1,12})(?: +([+-]?[0-9A-Za-z]{1,20}))?",
    re.IGNORECASE,
)


def read_schedule(text: str, tz: str | None = None) -> ScheduleSpec:
    """Tells the form by its looks; what looks like no other form is English. `TZ=Europe/Berlin …` names a zone."""
    if len(text) > MAX_TEXT:
        raise ScheduleError("schedule", f"{len(text)} characters are more than {MAX_TEXT}", "use several jobs")
    text, tz = _without_zone(text.strip(), tz)
    where = tz or "UTC"
    if text.lower() in ("now", "manual"):
        return Now() if text.lower() == "now" else Manual()
    if text.lower().startswith("@every "):
        return Every(text[7:].strip(), tz=where)
    if _is_cron(text):
        return Cron(text, where)
    if _INTERVAL.match(text):
        return Interval(text, where)
    if _RULE.match(text):
        return Rrule(text, tz)
    if is_period(text):
        return Every(text, tz=where)
    if _TIME.match(text):
        return _times(text, tz)
    if sun := _SUN.fullmatch(text):
        return _solar(sun, where)
    return English(text, tz)


def write_schedule(spec: ScheduleSpec) -> str:
    """What `read_schedule` reads back as the same schedule; bounds, exclusions and the like are not part of it."""
    match spec:
        case Now():
            return "now"
        case Manual():
            return "manual"
        case At(at=at):
            return at.isoformat()
        case Every(every=every, pace="delay"):
            return f"every {every} after the previous run ended"
        case Every(every=every):
            return every if isinstance(every, str) else f"{every}s"
        case Cron(cron=text) | Interval(iso=text) | Rrule(rrule=text) | English(english=text):
            return text if spec.tz in (None, "UTC") else f"TZ={spec.tz} {text}"
        case Times(times=times):
            return ",".join(time.isoformat() for time in times)
        case Solar(solar=event, latitude=latitude, longitude=longitude, offset=offset):
            later = f" {_signed(offset)}" if offset else ""
            return f"{event} {latitude:g},{longitude:g}{later}"
    assert_never(spec)


def _without_zone(text: str, tz: str | None) -> tuple[str, str | None]:
    named = _ZONE.match(text)
    if named is None:
        return text, tz
    if tz is not None and canonical_zone(tz) != canonical_zone(named[1]):
        raise ScheduleError("schedule.tz", f"{tz!r} and {named[1]!r} are two time zones", "name it in one place")
    return text[named.end() :].strip(), named[1]


def _is_cron(text: str) -> bool:
    if text.startswith("@"):
        return True
    expressions = [part.split() for part in text.split(";")]
    if any(len(fields) > 1 and any(field[0] in "*?" for field in fields) for fields in expressions):
        return True
    return all(len(fields) in (5, 6, 7) and all(map(_CRON_FIELD.fullmatch, fields)) for fields in expressions)


def _times(text: str, tz: str | None) -> ScheduleSpec:
    times = [_time(part.strip(), tz) for part in text.split(",") if part.strip()]
    return At(times[0]) if len(times) == 1 else Times(tuple(times), tz or "UTC")


def _time(text: str, tz: str | None) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        fix = "write it as 2030-01-31T09:00:00+01:00, or with Z for UTC"
        raise ScheduleError("schedule", f"{text[:40]!r} is not a time", fix) from None
    if moment.tzinfo is not None:
        return moment
    if tz is None:
        raise ScheduleError("schedule", f"{text[:40]!r} has no zone", "add an offset, such as Z or +02:00, or a zone")
    return moment.replace(tzinfo=zone(canonical_zone(tz)))


def _solar(sun: re.Match[str], tz: str) -> ScheduleSpec:
    event, latitude, longitude, offset = sun.groups()
    try:
        place = {"latitude": float(latitude), "longitude": float(longitude)}
    except ValueError:
        raise ScheduleError("schedule", f"{sun[0]!r} names no place", "write sunrise 52.52,13.405 -30m") from None
    return msgspec.convert({"kind": "solar", "solar": event.lower(), **place, "offset": offset or 0, "tz": tz}, Solar)


def _signed(offset: str | int) -> str:
    if isinstance(offset, str):
        return offset
    return ("-" if offset < 0 else "+") + period_text(abs(offset))
