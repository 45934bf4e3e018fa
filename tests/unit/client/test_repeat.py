"""What is sent again when the connection breaks after the request was read, and what is not, in both clients."""

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import noonmark
from noonmark import errors
from noonmark.client import repeat
from noonmark.wire.resources import JobPatch, Submission
from tests.unit.client.dropping import DROP, DroppingServer

Ask = Callable[[str], Any]
RUNS = (202, {"runs": ["run_1_1"]}, {})


def problem(code: str, status: int, **headers: str) -> tuple[int, object, dict[str, str]]:
    body = {"type": "about:blank", "title": code, "status": status, "code": code, "detail": "no"}
    return status, body, {name.replace("_", "-"): value for name, value in headers.items()}


@pytest.fixture
def server() -> Iterator[DroppingServer]:
    server = DroppingServer()
    yield server
    server.close()


@pytest.fixture(params=["async", "sync"])
def ask(request: pytest.FixtureRequest, server: DroppingServer) -> Iterator[Callable[..., Any]]:
    """Calls a method of the client of either kind."""
    if request.param == "sync":
        with noonmark.SyncClient(server.address) as client:
            yield lambda method, *args: getattr(client, method)(*args)
        return

    async def once(method: str, *args: Any) -> Any:
        async with noonmark.Client(server.address) as client:
            return await getattr(client, method)(*args)

    yield lambda method, *args: asyncio.run(once(method, *args))


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeat, "BACKOFF_S", 0.001)


def keys(server: DroppingServer) -> list[str | None]:
    return [request.headers.get("Idempotency-Key") for request in server.requests]


def test_a_post_is_repeated_under_the_same_key(server, ask):
    server.will(DROP, DROP, RUNS)
    assert ask("submit", [Submission(job="a")]) == ["run_1_1"]
    assert len(server.requests) == 3
    assert len(set(keys(server))) == 1
    assert len({request.body for request in server.requests}) == 1


def test_every_post_has_a_key_of_its_own(server, ask):
    server.will(RUNS)
    for _ in range(3):
        ask("submit", [Submission(job="a")])
    assert None not in keys(server)
    assert len(set(keys(server))) == 3


def test_a_patch_is_repeated_under_the_same_key(server, ask):
    server.will(DROP, problem("not_found", 404))
    with pytest.raises(errors.NotFound):
        ask("update_job", "a", JobPatch(queue="q"))
    assert len(server.requests) == 2
    assert len(set(keys(server))) == 1
    assert None not in keys(server)


def test_it_gives_up(server, ask):
    server.will(DROP)
    with pytest.raises(errors.OutcomeUnknown, match="no answer"):
        ask("submit", [Submission(job="a")])
    assert len(server.requests) == repeat.RETRIES + 1


def test_what_was_deleted_by_an_unanswered_request_is_deleted(server, ask):
    server.will(DROP, problem("not_found", 404))
    assert ask("delete_job", "a") is None
    server.will(problem("not_found", 404))
    with pytest.raises(errors.NotFound):
        ask("delete_job", "a")


@pytest.mark.parametrize(("code", "status"), [("too_busy", 429), ("unavailable", 503), ("not_owner", 503)])
def test_retry_after_is_honoured(server, ask, code, status, monkeypatch):
    waits: list[float] = []
    original = repeat.Repetition.wait_s
    monkeypatch.setattr(repeat.Repetition, "wait_s", lambda *a: waits.append(original(*a)) or 0.0)
    server.will(problem(code, status, Retry_After="7"), RUNS)
    assert ask("submit", [Submission(job="a")]) == ["run_1_1"]
    assert waits == [7.0]


def test_who_asks_for_too_much_patience_is_not_asked_again(server, ask):
    server.will(problem("too_busy", 429, Retry_After="3600"))
    with pytest.raises(errors.TooBusy) as caught:
        ask("submit", [Submission(job="a")])
    assert caught.value.retry_after_s == 3600
    assert len(server.requests) == 1


@pytest.mark.parametrize(("code", "status"), [("partly_done", 503), ("outcome_unknown", 504)])
def test_what_was_partly_or_perhaps_done_goes_on_under_the_same_key(server, ask, code, status):
    server.will(problem(code, status), RUNS)
    assert ask("submit", [Submission(job="a")]) == ["run_1_1"]
    assert len(set(keys(server))) == 1


def test_a_connection_is_used_again_unless_the_server_closed_it(server):
    server.will(RUNS)
    with noonmark.SyncClient(server.address) as client:
        client.submit([Submission(job="a")])
        client.submit([Submission(job="a")])
        assert server.connections == 1
        server.hang_up()
        client.submit([Submission(job="a")])
        assert (server.connections, len(server.requests)) == (2, 3)


def test_threads_share_a_client(server):
    server.will(RUNS)
    found: list[str] = []
    with noonmark.SyncClient(server.address) as client:
        threads = [
            threading.Thread(target=lambda: [found.extend(client.submit([Submission(job="a")])) for _ in range(20)])
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == len(server.requests) == 160
    assert server.connections <= 8


def test_a_fork_gets_connections_of_its_own(server):
    server.will(RUNS)
    with noonmark.SyncClient(server.address) as client:
        client.submit([Submission(job="a")])
        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if client.submit([Submission(job="a")]) == ["run_1_1"] else 1)
            except BaseException:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        client.submit([Submission(job="a")])
    assert (server.connections, len(server.requests)) == (2, 3)


def test_an_address_that_is_none():
    with pytest.raises(errors.InvalidInput, match="http://host:port"):
        noonmark.SyncClient("nowhere").nodes()
