"""Bad input gets a problem that names the field and the fix, and stores nothing."""

from typing import Any

import aiohttp
import pytest

from noonmark.node.commands.carry_out import _HANDLERS
from noonmark.store.connect import Pool
from noonmark.wire.commands import CreateJobs
from tests.api.conftest import Caller, StartNode

GOOD = {"name": "a", "task": "greet"}


BAD_JOBS: list[tuple[dict[str, Any], str, int]] = [
    ({"name": "no spaces"}, "name", 422),
    ({"name": "job_1"}, "name", 422),
    ({"task": "unheard"}, "task", 422),
    ({"priority": 10}, "priority", 422),
    ({"priority": "high"}, "priority", 422),
    ({"colour": "red"}, "body", 422),
    ({"timeout_s": 0}, "timeout_s", 422),
    ({"retry": {"max_attempts": 0}}, "retry.max_attempts", 422),
    ({"retry": {"no_retry": [""]}}, "retry.no_retry", 422),
    ({"schedule": {"kind": "cron", "cron": "61 * * * *"}}, "schedule.cron", 422),
    ({"schedule": {"kind": "cron", "cron": "* * * * *", "tz": "Mars/Base"}}, "schedule.tz", 422),
    ({"schedule": {"kind": "at", "at": "2001-01-01T00:00:00Z"}}, "schedule.at", 422),
    ({"schedule": {"kind": "at", "at": "2101-01-01T00:00:00"}}, "schedule.at", 422),
    ({"schedule": {"kind": "at", "at": "9999-12-31T23:59:59.5Z"}}, "schedule.at", 422),
    ({"schedule": {"kind": "sometimes"}}, "schedule.kind", 422),
    ({"jitter_s": -1}, "jitter_s", 422),
    ({"input": "x" * 70_000}, "input", 413),
]

BAD_SUBMISSIONS: list[tuple[dict[str, Any], str, int]] = [
    ({"job": "nobody"}, "job", 404),
    ({"job": "job_zzz"}, "job", 404),
    ({"job": "a\0b"}, "job", 404),
    ({"at": "2001-01-01T00:00:00Z"}, "at", 422),
    ({"at": "2101-01-01T00:00:00"}, "at", 422),
    ({"priority": -1}, "priority", 422),
    ({"input": "x" * 70_000}, "input", 413),
]

UNREADABLE: list[tuple[bytes, int, str]] = [
    (b"", 422, "invalid_input"),
    (b"{", 400, "malformed"),
    (b"[]", 422, "invalid_input"),
    (b'{"name":"a","task":"greet","input":"\xff"}', 422, "invalid_input"),
    (b'{"name":"a","task":"greet","input":1e999}', 422, "invalid_input"),
    (b'{"name":"a","task":"greet","input":' + b"[" * 5000 + b"]" * 5000 + b"}", 400, "malformed"),
]


async def test_a_bad_job_is_refused_alone_and_in_a_batch(call: Caller, pool: Pool) -> None:
    for change, field, status in BAD_JOBS:
        alone = await call("POST", "/v1/jobs", GOOD | change)
        assert (alone.status, alone.json.get("field")) == (status, field), change
        assert alone.headers["Content-Type"] == "application/problem+json"
        assert alone.json["fix"]
        assert alone.json["type"] == f"urn:noonmark:problem:{alone.json['code']}"
        jobs = [{"name": f"b{n}", "task": "greet"} for n in range(3)] + [GOOD | change]
        batch = await call("POST", "/v1/jobs/batch", {"jobs": jobs})
        where = "jobs[3]" if field == "body" else f"jobs[3].{field}"
        # msgspec says [...] for a position in a list
        assert batch.status == status, change
        assert batch.json["field"] in (where, where.replace("[3]", "[...]")), change
    assert await pool.fetchval("SELECT count(*) FROM noonmark.job") == 0


async def test_a_bad_submission_stores_nothing(call: Caller, pool: Pool) -> None:
    await call("POST", "/v1/jobs", GOOD)
    for change, field, status in BAD_SUBMISSIONS:
        answer = await call("POST", "/v1/runs/batch", {"runs": [{"job": "a"}, {"job": "a"} | change]})
        assert (answer.status, answer.json["field"]) == (status, f"runs[1].{field}"), change
    assert await pool.fetchval("SELECT count(*) FROM noonmark.run") == 0


async def test_a_body_that_cannot_be_read(call: Caller) -> None:
    for body, status, code in UNREADABLE:
        answer = await call("POST", "/v1/jobs", data=body)
        assert (answer.status, answer.json["code"]) == (status, code), body[:80]


async def test_a_body_above_the_bound(call: Caller) -> None:
    answer = await call("POST", "/v1/jobs", data=b" " * (17 * 1024 * 1024))
    assert (answer.status, answer.json["code"]) == (413, "too_large")


async def test_unknown_addresses_and_methods(call: Caller) -> None:
    for path in ("/v1/nothing", "/", "/v1/worker/nothing"):
        answer = await call("GET", path)
        assert (answer.status, answer.json["code"]) == (404, "not_found")
    for path in ("/v1/nodes", "/v1/worker/claim"):
        answer = await call("DELETE", path)
        assert (answer.status, answer.json["code"]) == (405, "method_not_allowed")


async def test_an_unexpected_error_tells_nothing_of_the_inside(call: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setitem(_HANDLERS, CreateJobs, fail)
    answer = await call("POST", "/v1/jobs", GOOD)
    assert (answer.status, answer.json["code"]) == (500, "internal")
    assert b"secret" not in answer.body
    assert b"ZeroDivision" not in answer.body


async def test_a_token_is_asked_for(start_node: StartNode, session: aiohttp.ClientSession) -> None:
    call = Caller(session, (await start_node(token="sesame")).address)
    for given in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic sesame"}):
        for path in ("/v1/jobs", "/v1/worker/claim"):
            answer = await call("GET", path, headers=given)
            assert (answer.status, answer.json["code"]) == (401, "unauthorized")
            assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert (await call("GET", "/v1/jobs", headers={"Authorization": "bearer sesame"})).status == 200
    for path in ("/healthz", "/readyz", "/v1/openapi.json"):
        assert (await call("GET", path)).status == 200
    assert (await call("GET", "/metrics")).status == 401
