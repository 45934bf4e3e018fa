"""/v1/schedules: previews of a schedule, before a job has it."""

import asyncio
from datetime import UTC, datetime

import msgspec

from noonmark.api.call import Call
from noonmark.api.validate import check_job_name
from noonmark.clock import from_datetime
from noonmark.errors import InvalidInput
from noonmark.schedule import read_schedule
from noonmark.schedule.preview import Preview, crowded, preview
from noonmark.wire.schedules import PreviewRequest

_EARLIEST, _LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)


async def preview_schedule(data: PreviewRequest, call: Call) -> Preview:
    """The next fires, a sentence, and warnings; nothing is stored."""
    spec = read_schedule(data.schedule, data.tz) if isinstance(data.schedule, str) else data.schedule
    if data.name is not None:
        check_job_name(data.name)
    found = await asyncio.to_thread(
        preview,
        spec,
        now_us=_from_us(data, call),
        jitter_s=data.jitter_s,
        key="" if data.name is None else call.schedule_key(data.name),
        count=data.count,
        tz=data.tz,
    )
    return await _with_crowd(found, data.jitter_s, call)


async def _with_crowd(found: Preview, jitter_s: float, call: Call) -> Preview:
    """Of the next fire alone: jobs that share that second mostly share the others."""
    if not found.fires or jitter_s >= 1 or not call.caller.installation:  # the crowd is that of all tenants
        return found
    first = found.fires[0]
    jobs, estimated = await call.load.jobs_in_second(from_datetime(first.at))
    notice = crowded(jobs, at=first.local, estimated=estimated)
    return found if notice is None else msgspec.structs.replace(found, warnings=(notice, *found.warnings))


def _from_us(data: PreviewRequest, call: Call) -> int:
    if data.from_at is None:
        return call.now_us
    if data.from_at.utcoffset() is None:
        raise InvalidInput("from", "the time has no zone", "add an offset, such as Z or +02:00")
    if not _EARLIEST <= data.from_at <= _LATEST:
        raise InvalidInput("from", f"{data.from_at.isoformat()} is out of bounds", "use a time from 1970 to 2100")
    return from_datetime(data.from_at)
