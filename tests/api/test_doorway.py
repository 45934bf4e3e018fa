"""The door of a node: what waits for its start, what may end before its stop, and how the rest is cut."""

import asyncio
from typing import Any

import msgspec
import pytest

from noonmark.api import doorway
from noonmark.api.doorway import Doorway


class Inside:
    """What stands behind the door: it answers when it is let, and says when it was reached."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.let = asyncio.Event()
        self.kind = b"application/json"
        self.raises: Exception | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if self.kind == b"text/event-stream":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", self.kind)]})
            await send({"type": "http.response.body", "body": b"retry: 1\n\n", "more_body": True})
        self.reached.set()
        await self.let.wait()
        if self.raises is not None:
            raise self.raises
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", self.kind)]})
        await send({"type": "http.response.body", "body": b"{}", "more_body": False})


class Asked:
    """One request, and what was sent to it."""

    def __init__(self, door: Doorway, path: str = "/v1/jobs") -> None:
        self.sent: list[dict[str, Any]] = []
        scope = {"type": "http", "path": path, "method": "GET", "headers": []}
        self.task = asyncio.ensure_future(door(scope, self._receive, self._send))  # type: ignore[arg-type]

    async def _receive(self) -> Any:
        await asyncio.Event().wait()

    async def _send(self, message: Any) -> None:
        self.sent.append(message)

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def problem(self) -> dict[str, Any]:
        assert (b"content-type", b"application/problem+json") in self.sent[0]["headers"]
        return msgspec.json.decode(self.sent[1]["body"])  # type: ignore[no-any-return]


@pytest.fixture
def living() -> asyncio.Event:
    living = asyncio.Event()
    living.set()
    return living


async def test_a_request_waits_for_a_node_that_starts(living: asyncio.Event) -> None:
    living.clear()
    inside = Inside()
    inside.let.set()
    door = Doorway(inside, living)
    asked = Asked(door)
    health = Asked(door, "/healthz")
    await health.task
    assert not asked.sent, "it waits, and whoever asks for the health does not"
    living.set()
    await asked.task
    assert asked.status == 200


async def test_it_does_not_wait_for_ever(living: asyncio.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    living.clear()
    monkeypatch.setattr(doorway, "START_S", 0.01)
    inside = Inside()
    inside.let.set()
    await Asked(Doorway(inside, living)).task
    assert inside.reached.is_set(), "which then says what is wrong"


async def test_what_has_begun_ends_and_what_comes_later_is_refused(living: asyncio.Event) -> None:
    inside = Inside()
    door = Doorway(inside, living)
    asked = Asked(door)
    await inside.reached.wait()
    closing = asyncio.create_task(door.close(60.0))
    await asyncio.sleep(0)
    late = Asked(door)
    await late.task
    assert (late.status, late.problem["code"]) == (503, "not_owner")
    assert (b"retry-after", b"1") in late.sent[0]["headers"]
    worker = Asked(door, "/v1/worker/report")
    inside.let.set()
    await asyncio.gather(asked.task, closing, worker.task)
    assert (asked.status, worker.status) == (200, 200)


async def test_a_stream_ends_at_once_and_properly(living: asyncio.Event) -> None:
    inside = Inside()
    inside.kind = b"text/event-stream"
    door = Doorway(inside, living)
    stream = Asked(door)
    await inside.reached.wait()
    await door.close(60.0)
    await stream.task
    assert stream.sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}


async def test_a_node_that_has_handed_over_keeps_no_other_waiting(living: asyncio.Event) -> None:
    inside = Inside()
    inside.let.set()
    door = Doorway(inside, living)
    await door.close(0.01)
    living.clear()
    asked = Asked(door, "/v1/node/commands")
    await asyncio.wait_for(asked.task, 1.0)
    assert asked.status == 200


async def test_what_is_cut_gets_a_problem(living: asyncio.Event) -> None:
    inside = Inside()
    door = Doorway(inside, living)
    asked = Asked(door)
    await inside.reached.wait()
    await door.close(0.01)
    assert not asked.sent
    await door.shut()
    await asked.task
    assert (asked.status, asked.problem["code"]) == (504, "outcome_unknown")


async def test_a_caller_that_is_cancelled_from_outside_is_not_answered(living: asyncio.Event) -> None:
    inside = Inside()
    asked = Asked(Doorway(inside, living))
    await inside.reached.wait()
    asked.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked.task
    assert not asked.sent


async def test_what_nobody_foresaw_is_a_problem_too(living: asyncio.Event) -> None:
    inside = Inside()
    inside.raises = ExceptionGroup("some", [ConnectionResetError("gone"), RuntimeError("and this")])
    inside.let.set()
    asked = Asked(Doorway(inside, living))
    await asked.task
    assert (asked.status, asked.problem["code"]) == (503, "unavailable")
    inside.raises = RuntimeError("who would have thought")
    asked = Asked(Doorway(inside, living))
    await asked.task
    assert (asked.status, asked.problem["code"]) == (500, "internal")
