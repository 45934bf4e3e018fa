"""What the examples of docs/schedules.md come to, computed anew."""

import re
import shlex
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

import msgspec
from croniter import CroniterBadDateError, CroniterError, croniter
from cronsim import CronSim, CronSimError
from dateutil.rrule import rrulestr

from noonmark.schedule import (
    ScheduleSpec,
    bounded,
    canonical,
    describe,
    instant_us,
    read_schedule,
    timing,
    validate,
    write_schedule,
)
from noonmark.schedule.preview import Preview, preview
from noonmark.schedule.zones import zone
from noonmark.wire.schedules import PreviewRequest
from tests.cli.conftest import Noonmark
from tests.docs.page import codes

CREATED = "2026-03-01T00:00:00Z"
"""What the page takes as the time of creation where it says nothing else."""
SECOND_US = 1_000_000
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def us(text: str) -> int:
    return instant_us(datetime.fromisoformat(text))


def spec_of(text: str, tz: str | None = None, options: str = "") -> ScheduleSpec:
    """`options` is a cell such as: `gap: skip` `exclude: weekends`."""
    spec = read_schedule(text, tz)
    given: dict[str, Any] = {}
    for option in codes(options):
        name, _, value = option.partition(": ")
        if name in ("exclude", "only"):
            given[name] = [*given.get(name, []), value]
        else:
            given[name] = int(value) if name == "max_runs" else value
    return msgspec.convert(msgspec.to_builtins(spec) | given, type(spec))


def understood(text: str) -> tuple[str, str]:
    """Its canonical text, and its sentence."""
    plain = canonical(read_schedule(text))
    return write_schedule(plain), describe(plain)


def same(one: ScheduleSpec, other: ScheduleSpec) -> bool:
    return canonical(one) == canonical(other)


def refusal(text: str, tz: str | None = None, options: str = "") -> tuple[str, str]:
    """The message and the fix; ValueError if the schedule is accepted."""
    try:
        validate(spec_of(text, tz, options), us(CREATED))
    except Exception as error:
        return error.message, error.fix  # type: ignore[attr-defined]
    raise ValueError(f"{text!r} is accepted")


def fires_on(spec: ScheduleSpec, tz: str, days: str) -> list[str]:
    """All fires of a day (`2026-03-29`), or from one to another (`2011-12-29/2011-12-31`)."""
    first, _, last = days.partition("/")
    start = datetime.fromisoformat(first).replace(tzinfo=zone(tz))
    end = (datetime.fromisoformat(last or first) + timedelta(days=1)).replace(tzinfo=zone(tz))
    created_us = instant_us(start) - 86_400 * SECOND_US
    found = bounded(timing(spec, key="", created_us=created_us), created_us)
    assert found is not None
    return [local(at, tz) for at in found.between(instant_us(start) - 1, instant_us(end) - 1, 100)]


def fires_after(spec: ScheduleSpec, tz: str, after: str, count: int) -> list[str]:
    """The next fires of a job that was created at `after`."""
    found = bounded(timing(spec, key="", created_us=us(after)), us(after))
    assert found is not None
    return [local(at, tz) for at in found.between(us(after), us("2199-01-01T00:00:00Z"), count)]


def local(at_us: int, tz: str) -> str:
    moment = datetime.fromtimestamp(at_us // SECOND_US, zone(tz))
    text = moment.isoformat(timespec="seconds" if moment.second else "minutes")
    return text.removesuffix("+00:00") + "Z" if tz == "UTC" else text


def cronsim_fires(expression: str, after: str, count: int) -> list[str]:
    try:
        return [f"{at:%Y-%m-%dT%H:%MZ}" for at in islice(CronSim(expression, datetime.fromisoformat(after)), count)]
    except CronSimError:
        return ["refused"]


def croniter_fires(expression: str, after: str, count: int) -> list[str]:
    try:
        steps = croniter(expression, datetime.fromisoformat(after), ret_type=datetime)
        return [f"{steps.get_next():%Y-%m-%dT%H:%MZ}" for _ in range(count)]
    except CroniterBadDateError:
        return ["fails"]
    except CroniterError:
        return ["refused"]


def dateutil_fires(rule: str, _after: str, count: int) -> list[str]:
    start, _, body = rule.partition(r"\n")
    found = rrulestr(f"{start}\n{body}")
    return [f"{at:%Y-%m-%dT%H:%MZ}" for at in islice(found, count)]


def ran(noonmark: Noonmark, line: str) -> str:
    """What a command prints, without colours and without spaces at the ends of lines."""
    _, *arguments = shlex.split(line)
    result = noonmark(*arguments)
    shown = _COLOUR.sub("", result.stdout + result.stderr)
    return "\n".join(part.rstrip() for part in shown.rstrip().splitlines())


def warned(noonmark: Noonmark, arguments: str) -> Preview:
    """What a preview says of the arguments of `noonmark schedule explain`, at the time of creation of the page."""
    shown = noonmark("schedule", "explain", *shlex.split(arguments), "--from", CREATED, "-o", "json")
    assert shown.exit_code == 0, shown.output
    return msgspec.json.decode(shown.stdout, type=Preview)


def answered(text: str) -> Any:
    """The answer to a request for a preview, as JSON."""
    request = msgspec.json.decode(text, type=PreviewRequest)
    assert request.from_at is not None
    schedule = request.schedule
    spec = read_schedule(schedule, request.tz) if isinstance(schedule, str) else schedule
    found = preview(
        spec, now_us=instant_us(request.from_at), jitter_s=request.jitter_s, count=request.count, tz=request.tz
    )
    return msgspec.json.decode(msgspec.json.encode(found))
