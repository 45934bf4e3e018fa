"""Submissions, one and many: what is made is as it is told, and a refusal stores nothing."""

from typing import Any

import msgspec
import pytest
from tests.api.plain_node import PlainNode

from noonmark.errors import Unavailable
from noonmark.store.connect import Pool
from tests.api.conftest import Caller
from tests.api.test_problems import BAD_SUBMISSIONS, UNREADABLE

BATCH, TRIGGER = "/v1/runs/batch", "/v1/jobs/a/trigger"
JSON = {"Content-Type": "application/json"}

BAD: list[tuple[str, bytes, dict[str, str]]] = [
    *((BATCH, msgspec.json.encode({"runs": [{"job": "a"}, {"job": "a"} | bad]}), {}) for bad, _, _ in BAD_SUBMISSIONS),
    *(
        (TRIGGER, msgspec.json.encode({name: value for name, value in bad.items() if name != "job"}), {})
        for bad, _, _ in BAD_SUBMISSIONS
        if "job" not in bad
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

GOOD: list[tuple[str, bytes]] = [
    (TRIGGER, b""),
    (TRIGGER, b"null"),
    (TRIGGER, b'{"input":[1],"priority":0,"at":"2101-01-01T00:00:00Z"}'),
    (BATCH, b'{"runs":[{"job":"a"},{"job":"a","input":null,"priority":9}]}'),
]


@pytest.fixture(autouse=True)
async def jobs(call: Caller) -> None:
    """Two, of which one is paused."""
    for name in ("a", "asleep"):
        assert (await call("POST", "/v1/jobs", {"name": name, "task": "greet", "input": {"x": 1}})).status == 201
    assert (await call("POST", "/v1/jobs/asleep/pause")).status == 200


@pytest.mark.parametrize(("path", "body"), GOOD)
async def test_a_good_request(call: Caller, pool: Pool, path: str, body: bytes) -> None:
    answer = await call("POST", path, data=body, headers=JSON)
    made = answer.json.get("runs", [answer.json])
    assert (answer.status, await pool.fetchval("SELECT count(*) FROM noonmark.run")) == (202, len(made))


async def test_what_is_made_can_be_read(call: Caller, pool: Pool) -> None:
    made = await call("POST", TRIGGER, {"input": [1], "priority": 0}, headers=JSON)
    assert made.headers["Location"] == f"/v1/runs/{made.json['id']}"
    assert (await call("GET", f"/v1/runs/{made.json['id']}")).json == made.json
    await call("POST", TRIGGER, headers=JSON)
    inputs = await pool.fetch("SELECT input FROM noonmark.run ORDER BY nominal_at")
    assert [row[0] for row in inputs] == ["[1]", '{"x":1}']


async def test_a_bad_request_stores_nothing(call: Caller, pool: Pool) -> None:
    for path, body, headers in BAD:
        answer = await call("POST", path, data=body, headers=JSON | headers)
        assert 400 <= answer.status < 500, (path, body[:80])
        assert answer.json["code"], (path, body[:80])
    assert await pool.fetchval("SELECT count(*) FROM noonmark.run") == 0


async def test_a_job_of_another_owner_is_not_taken_when_passed_on(call: Caller, owners: list[str | None]) -> None:
    owners[:] = [None] * len(owners)
    answer = await call("POST", TRIGGER, data=b"{}", headers=JSON | {"Noonmark-Forwarded": "1"})
    assert (answer.status, answer.json["code"]) == (503, "not_owner")


async def test_what_may_have_been_done_is_not_done_again(
    call: Caller, node: PlainNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    async def unknown(*arguments: Any) -> Any:
        asked.append(arguments)
        raise Unavailable("the database did not say whether this was done")

    monkeypatch.setattr(node, "submit_run", unknown)
    answer = await call("POST", TRIGGER, data=b"{}", headers=JSON)
    assert (answer.status, answer.json["code"], len(asked)) == (503, "unavailable", 1)
