"""POST /v1/jobs/{job}/trigger and /v1/runs/batch as plain ASGI, for the requests that simply work.

    well-formed, of a caller who may, all jobs owned here ──> submitted ──> 202
    anything else                                         ──> passed on to the routes, body and all

Invariant: what is passed on has done nothing yet. So there is one place that refuses, waits for owners and splits
batches between them: the routes. Here is only the short way to the same answer, which costs a fraction of theirs.
It stands, as they do, inside of the layers that find out who asks, count requests and keep answers.
"""

import re
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from noonmark.api import present
from noonmark.api.access.roles import NEEDS, check
from noonmark.api.bodies import RunBatch, RunIds
from noonmark.api.call import TENANT_HEADER, tenant_of
from noonmark.api.manners.body import MAX_BODY_BYTES
from noonmark.api.ports import NodePort
from noonmark.api.problems import send_problem
from noonmark.api.validate import ID_PREFIX, Validator, check_submission
from noonmark.errors import InvalidInput, JobPaused, NotFound, NotOwner
from noonmark.model.ids import parse_job, run_text, shard_for, shard_of
from noonmark.node.commands.asking import asked_by
from noonmark.wire.jobs import Trigger
from noonmark.wire.resources import Submission

_BATCH = "/v1/runs/batch"
_TRIGGER = re.compile(r"/v1/jobs/([^/]+)/trigger")
_JSON = b"application/json"
_TENANT = TENANT_HEADER.lower().encode()
_NOTHING_DONE = (InvalidInput, NotFound, JobPaused, NotOwner)
"""What the node says before it stores anything."""
_trigger = msgspec.json.Decoder(Trigger | None)
_batch = msgspec.json.Decoder(RunBatch)
_encode = msgspec.json.Encoder().encode

Headers = list[tuple[bytes, bytes]]
Submit = Callable[[], Awaitable[tuple[bytes, Headers]]]


class Submissions:
    """An ASGI application around the routes."""

    def __init__(self, routes: ASGIApp, node: NodePort, validator: Validator) -> None:
        self._routes = routes
        self._node = node
        self._validator = validator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP or not _concerns(scope):
            await self._routes(scope, receive, send)
            return
        events = await _read(receive)
        submit = await self._prepare(scope, events)
        if submit is not None:
            try:
                body, headers = await submit()
            except _NOTHING_DONE:
                pass
            except Exception as error:
                await send_problem(send, error)
                return
            else:
                headers = [(b"content-type", _JSON), (b"content-length", str(len(body)).encode()), *headers]
                await send({"type": "http.response.start", "status": 202, "headers": headers})
                await send({"type": "http.response.body", "body": body, "more_body": False})
                return
        await self._routes(scope, _again(events, receive), send)

    async def _prepare(self, scope: HTTPScope, events: list[Any]) -> Submit | None:
        """How to do it; None if it is for the routes. Whatever is wrong with the request, they will say it."""
        if events[-1]["type"] != "http.request" or events[-1].get("more_body"):
            return None
        body = b"".join(event["body"] for event in events)
        try:
            tenant_id = await self._tenant_id(scope)
            if scope["path"] == _BATCH:
                return await self._prepare_batch(tenant_id, _batch.decode(body).runs)
            found = _TRIGGER.fullmatch(scope["path"])
            assert found is not None
            asked = (_trigger.decode(body) if body else None) or Trigger()
            fields = {name: getattr(asked, name) for name in asked.__struct_fields__}
            return self._prepare_trigger(tenant_id, Submission(job=found[1], **fields))
        except Exception:
            return None

    def _prepare_trigger(self, tenant_id: int, submission: Submission) -> Submit | None:
        check(asked_by(), NEEDS.get(("POST", "/v1/jobs/{ref}/trigger")))
        check_submission(submission, self._node.clock.now_us())
        if submission.dedup_key is not None or not self._owns(tenant_id, submission.job):
            return None

        async def submit() -> tuple[bytes, Headers]:
            key, record = await self._node.submit_run(tenant_id, submission)
            run = present.run(key, record, record.job_name)
            return _encode(run), [(b"location", f"/v1/runs/{run.id}".encode())]

        return submit

    async def _prepare_batch(self, tenant_id: int, submissions: list[Submission]) -> Submit | None:
        check(asked_by(), NEEDS.get(("POST", _BATCH)))
        await self._validator.check_submissions(submissions, self._node.clock.now_us(), "")
        if not all(self._owns(tenant_id, ref) for ref in {submission.job for submission in submissions}):
            return None

        async def submit() -> tuple[bytes, Headers]:
            keys = await self._node.submit(tenant_id, submissions)
            return _encode(RunIds([run_text(key) for key in keys])), []

        return submit

    async def _tenant_id(self, scope: HTTPScope) -> int:
        named = [value.decode("latin-1") for name, value in scope["headers"] if name == _TENANT]
        return (await tenant_of(self._node, named[-1] if named else None))[1]

    def _owns(self, tenant_id: int, ref: str) -> bool:
        if ref.startswith(ID_PREFIX):
            return self._node.owns(shard_of(parse_job(ref)))
        return self._node.owns(shard_for(tenant_id, ref, self._node.shard_count))


def _concerns(scope: HTTPScope) -> bool:
    """Plain JSON with no parameters, at one of the two addresses."""
    path = scope["path"]
    if scope["method"] != "POST" or scope["query_string"] or not (path == _BATCH or _TRIGGER.fullmatch(path)):
        return False
    return all(value == _JSON for name, value in scope["headers"] if name == b"content-type")


async def _read(receive: Receive) -> list[Any]:
    """The body's events, up to its end, its bound, or the end of the connection."""
    events: list[Any] = []
    size = 0
    while size <= MAX_BODY_BYTES:
        events.append(event := await receive())
        if event["type"] != "http.request" or not event.get("more_body"):
            break
        size += len(event["body"])
    return events


def _again(events: list[Any], receive: Receive) -> Receive:
    """What was read already, and then what comes."""
    left = iter(events)

    async def replay() -> Any:
        for event in left:
            return event
        return await receive()

    return replay
