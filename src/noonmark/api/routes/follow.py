"""Server-sent events: the states of a run until it ends, and of the runs of a job for as long as somebody listens."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Annotated

import msgspec

from noonmark.api import present
from noonmark.api.call import Call
from noonmark.api.dispatch.answer import Response, Stream
from noonmark.api.dispatch.signature import Header
from noonmark.api.routes.followers import LATE_US, Follower, Followers, mark
from noonmark.api.routes.runs import no_run
from noonmark.clock import SECOND_US
from noonmark.model.ids import RunKey, parse_run
from noonmark.store.reads.runs import LIVE_STATES, RunRecord, fetch_run

PING_S = 15.0
_RESUMED_US = 3600 * SECOND_US
"""A stream that is taken up again tells what ended within this time."""
_OPENING = b"retry: 1000\n\n"
_PING = b": ping\n\n"

LastEventId = Annotated[
    str | None,
    Header("Last-Event-ID"),
    msgspec.Meta(max_length=200, description="The id of the last event that was received."),
]


async def follow_run(
    run_id: str, call: Call, followers: Followers, last_event_id: LastEventId = None
) -> Response[None] | Stream:
    """Server-sent events: `state` with the run as it stands, now and at each change, until it has ended.

    A change is sent within about a quarter of a second; of several at once, only the last. A caller that comes back
    with the id of the last event gets only later changes, and 204 if it has seen the end of the run.
    """
    key = parse_run(run_id)
    record = await fetch_run(call.node.pool, call.tenant_id, key)
    if record is None:
        raise no_run(key)
    if record.state not in LIVE_STATES and last_event_id == mark(record):
        return Response(None, status_code=204)
    followers.check()
    follower = Follower(call.tenant_id, key, None, 0)
    if last_event_id is not None:
        follower.knows(key, last_event_id)
    return _stream(followers, follower)


async def follow_job(ref: str, call: Call, followers: Followers, last_event_id: LastEventId = None) -> Stream:
    """Server-sent events: `state` with each run of the job, now if it is live, and whenever its state changes.

    Changes are sent within about a second, for up to 100 live runs and 100 ends in that time. A caller that comes back
    with the id of the last event gets the runs that ended since, up to an hour back; some of them may come twice.
    """
    job_id = (await call.job(ref)).job_id
    followers.check()
    now_us = call.now_us
    since_us = now_us
    if last_event_id is not None and last_event_id.isascii() and last_event_id.isdigit():
        since_us = max(now_us - _RESUMED_US, min(now_us, int(last_event_id) - LATE_US))
    return _stream(followers, Follower(call.tenant_id, None, job_id, since_us))


def _stream(followers: Followers, follower: Follower) -> Stream:
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return Stream(_events(followers, follower), media_type="text/event-stream", headers=headers)


async def _events(followers: Followers, follower: Follower) -> AsyncGenerator[bytes]:
    # The place is taken here and not by the route: this is what ends when the listener hangs up.
    async with followers.following(follower):
        yield _OPENING
        while True:
            try:
                async with asyncio.timeout(PING_S):
                    await follower.woken.wait()
            except TimeoutError:
                yield _PING
                continue
            follower.woken.clear()
            news, follower.news = follower.news, {}
            for key, record in news.items():
                yield _event(follower, key, record)
                if follower.run is not None and record.state not in LIVE_STATES:
                    return


def _event(follower: Follower, key: RunKey, record: RunRecord) -> bytes:
    event_id = mark(record) if follower.run is not None else str(follower.since_us)
    body = msgspec.json.encode(present.run(key, record, record.job_name))
    return b"id: " + event_id.encode() + b"\nevent: state\ndata: " + body + b"\n\n"
