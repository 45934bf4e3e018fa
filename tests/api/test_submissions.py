"""The short way of a submission answers what the routes answer, and refuses nothing by itself."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from litestar.types import Receive, Scope, Send

from noonmark.api.submissions import Submissions
from noonmark.errors import Unavailable
from noonmark.store.connect import Pool
from tests.api.conftest import Answer, Caller
from tests.api.plain_node import PlainNode
from tests.api.test_problems import BAD_SUBMISSIONS, UNREADABLE

LONG_WAY = {"Content-Type": "application/json; charset=utf-8"}
"""A parameter that says nothing new: the short way knows only the plain type, and leaves this to the routes."""
BATCH, TRIGGER = "/v1/runs/batch", "/v1/jobs/a/trigger"
JSON = {"Content-Type": "application/json"}

BAD: list[tuple[str, bytes, dict[str, str]]] = [
    *((BATCH, msgspec.json.encode({"runs": [{"job": "a"}, {"job": "a"} | bad]}), {}) for bad, _, _ in BAD_SUBMISSIONS),
    *(
        (TRIGGER.replace("a", str(bad.get("job", "a")), 1) if "job" in bad else TRIGGER, _trigger, {})
        for bad, _, _ in BAD_SUBMISSIONS
        for _trigger in [msgspec.json.encode({name: value for name, value in bad.items() if name != "job"})]
        if "\0" not in str(bad.get("job", ""))
    ),
    *((path, body, {}) for path in (BATCH, TRIGGER) for body, _, _ in UNREADABLE if body),
    (BATCH, b"", {}),
    (BATCH, b'{"runs":[]}', {}),
    (BATCH, b'{"runs":[{"job":"a","colour":"red"}]}', {}),
    (BATCH, b'{"runs":[{"job":1}]}', {}),
    (BATCH, b'{"runs":[{"job":"asleep"}]}', {}),
    (BATCH, b" " * (17 << 20), {}),
    (TRIGGER, b'{"colour":"red"}', {}),
    (TRIGGER, b'{"priority":"high"}', {}),
    (TRIGGER, b'{"input":{"x":1e999}}', {}),
    (TRIGGER, b" " * (17 << 20), {}),
    (TRIGGER, b"{}", {"Noonmark-Tenant": "nobody"}),
    ("/v1/jobs/asleep/trigger", b"{}", {}),
    ("/v1/jobs/nobody/trigger", b"{}", {}),
    ("/v1/jobs/job_zzz/trigger", b"{}", {}),
    ("/v1/jobs/job_1/trigger", b"{}", {}),
    (TRIGGER + "?colour=red", b"{}", {}),
    (BATCH + "?fields=id", b'{"runs":[{"job":"a"}]}', {}),
]


@pytest.fixture
async def taken(call: Caller, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that the short way has answered for; two jobs, of which one is paused."""
    answered: list[str] = []
    routed: list[str] = []
    short_way = Submissions.__call__

    async def noting(self: Submissions, scope: Scope, receive: Receive, send: Send) -> None:
        routes = self._routes

        async def noted(*arguments: Any) -> None:
            routed.append(scope["path"])
            await routes(*arguments)

        before = len(routed)
        self._routes = noted  # type: ignore[assignment]
        try:
            await short_way(self, scope, receive, send)
        finally:
            self._routes = routes
        if len(routed) == before:
            answered.append(scope["path"])

    monkeypatch.setattr(Submissions, "__call__", noting)
    for name in ("a", "asleep"):
        assert (await call("POST", "/v1/jobs", {"name": name, "task": "greet", "input": {"x": 1}})).status == 201
    assert (await call("POST", "/v1/jobs/asleep/pause")).status == 200
    return answered


def told(answer: Answer) -> Any:
    """Without what differs from run to run."""
    body = answer.json
    if answer.status < 300:
        runs = body.get("runs", [body])
        body = [
            {name: type(v).__name__ for name, v in run.items()} if isinstance(run, dict) else len(run) for run in runs
        ]
    headers = {
        name: value for name, value in answer.headers.items() if name not in ("Date", "Location", "Content-Length")
    }
    return answer.status, body, headers, "Location" in answer.headers


GOOD: list[tuple[str, bytes]] = [
    (TRIGGER, b""),
    (TRIGGER, b"null"),
    (TRIGGER, b'{"input":[1],"priority":0,"at":"2101-01-01T00:00:00Z"}'),
    (BATCH, b'{"runs":[{"job":"a"},{"job":"a","input":null,"priority":9}]}'),
]


@pytest.mark.parametrize(("path", "body"), GOOD)
async def test_a_good_request_gets_the_same_answer(call: Caller, taken: list[str], path: str, body: bytes) -> None:
    short = await call("POST", path, data=body, headers=JSON)
    assert (short.status, taken) == (202, [path])
    long = await call("POST", path, data=body, headers=LONG_WAY)
    assert (told(short), taken) == (told(long), [path])


async def test_what_is_made_can_be_read(call: Caller, taken: list[str], pool: Pool) -> None:
    made = await call("POST", TRIGGER, {"input": [1], "priority": 0}, headers=JSON)
    assert made.headers["Location"] == f"/v1/runs/{made.json['id']}"
    assert (await call("GET", f"/v1/runs/{made.json['id']}")).json == made.json
    await call("POST", TRIGGER, headers=JSON)
    inputs = await pool.fetch("SELECT input FROM noonmark.run ORDER BY nominal_at")
    assert [row[0] for row in inputs] == ["[1]", '{"x":1}']
    assert taken == [TRIGGER, TRIGGER]


async def test_a_bad_request_is_refused_by_the_routes(call: Caller, taken: list[str], pool: Pool) -> None:
    for path, body, headers in BAD:
        plain = await call("POST", path, data=body, headers=JSON | headers)
        long = await call("POST", path, data=body, headers=LONG_WAY | headers)
        assert 400 <= plain.status < 500, (path, body[:80])
        assert (plain.status, plain.json) == (long.status, long.json), (path, body[:80])
    assert taken == []
    assert await pool.fetchval("SELECT count(*) FROM noonmark.run") == 0


async def test_a_job_of_another_owner_is_left_to_the_routes(
    call: Caller, taken: list[str], owners: list[str | None], node: PlainNode
) -> None:
    owners[:] = [None] * len(owners)
    answer = await call("POST", TRIGGER, data=b"{}", headers=JSON | {"Noonmark-Forwarded": "1"})
    assert (answer.status, answer.json["code"], taken) == (503, "not_owner", [])


async def test_what_may_have_been_done_is_not_done_again(
    call: Caller, taken: list[str], node: PlainNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Callable[..., Any]] = []

    async def unknown(*arguments: Any) -> Any:
        asked.append(unknown)
        raise Unavailable("the database did not say whether this was done")

    monkeypatch.setattr(node, "submit_run", unknown)
    answer = await call("POST", TRIGGER, data=b"{}", headers=JSON)
    assert (answer.status, answer.json["code"], len(asked)) == (503, "unavailable", 1)
