"""Idempotency-Key: what a key promises, whoever is asked and however often."""

import asyncio

import aiohttp
import pytest

from noonmark.store.connect import Pool
from noonmark.store.requests import forget_requests
from tests.api.conftest import Caller, RunningNode, StartNode, names_at
from tests.conftest import SHARDS

JOB = {"name": "a", "task": "greet"}
KEY = {"Idempotency-Key": "b6f5c1f4"}
REPLAYED = "Idempotent-Replayed"
COUNT_JOBS = "SELECT count(*) FROM noonmark.job"
COUNT_RUNS = "SELECT count(*) FROM noonmark.run"
COUNT_KEYS = "SELECT count(*) FROM noonmark.request"


async def test_a_request_that_is_sent_again_gets_the_first_answer(call: Caller, pool: Pool) -> None:
    first = await call("POST", "/v1/jobs", JOB, headers=KEY)
    again = await call("POST", "/v1/jobs", JOB, headers=KEY)
    assert (first.status, again.status, again.body) == (201, 201, first.body)
    for name in ("ETag", "Location", "Content-Type"):
        assert again.headers[name] == first.headers[name]
    assert REPLAYED not in first.headers
    assert again.headers[REPLAYED] == "true"
    triggered = [await call("POST", "/v1/jobs/a/trigger", headers={"Idempotency-Key": "t"}) for _ in range(3)]
    assert len({answer.body for answer in triggered}) == 1
    assert await pool.fetchval(COUNT_RUNS) == 1
    assert (await call("POST", "/v1/jobs/a/trigger")).json["id"] != triggered[0].json["id"]


async def test_two_at_once_are_done_once_and_both_are_answered(
    call: Caller, node: RunningNode, there: RunningNode, session: aiohttp.ClientSession, pool: Pool
) -> None:
    """Through two nodes, for a job of either, and for what belongs to no owner."""
    asks = [call, Caller(session, there.address)] * 3
    jobs = [names_at(owner.address, node)[0] for owner in (node, there)]
    for position, name in enumerate(jobs):
        key = {"Idempotency-Key": f"job-{position}"}
        made = await asyncio.gather(*(ask("POST", "/v1/jobs", JOB | {"name": name}, headers=key) for ask in asks))
        assert {answer.status for answer in made} == {201}
        assert len({answer.body for answer in made}) == 1
        assert sorted(REPLAYED in answer.headers for answer in made) == [False] + [True] * 5
        key = {"Idempotency-Key": f"run-{position}"}
        runs = await asyncio.gather(*(ask("POST", f"/v1/jobs/{name}/trigger", headers=key) for ask in asks))
        assert {(answer.status, answer.json["id"]) for answer in runs} == {(202, runs[0].json["id"])}
    asked = {"runs": [{"job": name} for name in jobs * 3]}
    batches = await asyncio.gather(*(ask("POST", "/v1/runs/batch", asked, headers=KEY) for ask in asks))
    assert {(answer.status, answer.body) for answer in batches} == {(202, batches[0].body)}
    tenants = await asyncio.gather(
        *(ask("POST", "/v1/tenants", {"name": "acme"}, headers={"Idempotency-Key": "t"}) for ask in asks)
    )
    assert {(answer.status, answer.body) for answer in tenants} == {(201, tenants[0].body)}
    assert await pool.fetchval(COUNT_JOBS) == 2
    assert await pool.fetchval(COUNT_RUNS) == 2 + 6


async def test_a_refusal_is_not_kept(call: Caller, pool: Pool) -> None:
    refused = await call("POST", "/v1/jobs/a/trigger", headers=KEY)
    assert (refused.status, REPLAYED in refused.headers) == (404, False)
    bad = await call("POST", "/v1/jobs", JOB | {"priority": 11}, headers={"Idempotency-Key": "bad"})
    assert bad.status == 422
    assert await pool.fetchval(COUNT_KEYS) == 0
    await call("POST", "/v1/jobs", JOB)
    made = await call("POST", "/v1/jobs/a/trigger", headers=KEY)
    assert (made.status, REPLAYED in made.headers) == (202, False)


async def test_a_key_belongs_to_one_request(call: Caller, pool: Pool) -> None:
    await call("POST", "/v1/jobs", JOB, headers=KEY)
    others = [
        ("POST", "/v1/jobs", JOB | {"name": "b"}),
        ("POST", "/v1/jobs/batch", {"jobs": [JOB | {"name": "b"}]}),
        ("POST", "/v1/jobs/a/trigger", {}),
        ("PATCH", "/v1/jobs/a", {"priority": 1}),
        ("POST", "/v1/jobs/a/pause", None),
        ("POST", "/v1/jobs/bulk", {"action": "pause", "filter": {"name_prefix": "a"}, "confirm": True}),
        ("POST", "/v1/tenants", {"name": "acme"}),
    ]
    for method, path, body in others:
        answer = await call(method, path, body, headers=KEY)
        assert (answer.status, answer.json["code"], answer.json["field"]) == (
            422, "idempotency_mismatch", "Idempotency-Key",
        ), path  # fmt: skip
    assert (await call("GET", "/v1/jobs")).json["jobs"][0]["version"] == 1
    assert await pool.fetchval(COUNT_JOBS) == 1
    assert await pool.fetchval(COUNT_RUNS) == 0
    assert await pool.fetchval("SELECT count(*) FROM noonmark.tenant") == 1


async def test_tenants_have_keys_of_their_own(call: Caller) -> None:
    await call("POST", "/v1/tenants", {"name": "other"})
    await call("POST", "/v1/jobs", JOB, headers=KEY)
    other = await call("POST", "/v1/jobs", JOB, headers=KEY | {"Noonmark-Tenant": "other"})
    assert (other.status, other.json["tenant"]) == (201, "other")
    assert REPLAYED not in other.headers
    assert (await call("POST", "/v1/jobs", JOB, headers=KEY | {"Noonmark-Tenant": "none"})).status == 404


async def test_another_caller_is_another_request(start_node: StartNode, session: aiohttp.ClientSession) -> None:
    call = Caller(session, (await start_node(token="sesame")).address)
    admin = {"Authorization": "Bearer sesame"}
    made = (await call("POST", "/v1/keys", {"name": "ops", "role": "admin"}, headers=admin)).json
    assert (await call("POST", "/v1/jobs", JOB, headers=KEY | admin)).status == 201
    other = await call("POST", "/v1/jobs", JOB, headers=KEY | {"Authorization": f"Bearer {made['token']}"})
    assert (other.status, other.json["code"]) == (422, "idempotency_mismatch")


async def test_a_key_is_printable_and_not_too_long(call: Caller, pool: Pool) -> None:
    for key in ("", "a b", "ä", "x" * 256):
        answer = await call("POST", "/v1/jobs", JOB, headers={"Idempotency-Key": key})
        assert (answer.status, answer.json["code"], answer.json["field"]) == (422, "invalid_input", "Idempotency-Key")
    assert await pool.fetchval(COUNT_JOBS) == 0
    headers = {"Idempotency-Key": "x" * 255}
    assert [(await call("POST", "/v1/jobs", JOB, headers=headers)).status for _ in range(2)] == [201, 201]


async def test_keys_are_forgotten_after_a_day(call: Caller, node: RunningNode, pool: Pool) -> None:
    await call("POST", "/v1/jobs", JOB)
    tenant = {"name": "acme"}
    first = await call("POST", "/v1/jobs/a/trigger", headers=KEY)
    await call("POST", "/v1/tenants", tenant, headers={"Idempotency-Key": "t"})
    shards = list(range(SHARDS))
    day_us = 24 * 3600 * 1_000_000
    assert not await forget_requests(pool, shards, node.clock.now_us() + day_us - 60_000_000)
    assert await pool.fetchval(COUNT_KEYS) == 2
    node.clock.advance(24 * 3600)
    again = await call("POST", "/v1/jobs/a/trigger", headers=KEY)
    assert (again.status, REPLAYED in again.headers) == (202, False)
    assert again.json["id"] != first.json["id"]
    taken = await call("POST", "/v1/tenants", tenant, headers={"Idempotency-Key": "t"})
    assert (taken.status, taken.json["code"]) == (409, "duplicate_name")
    assert not await forget_requests(pool, shards, node.clock.now_us())
    left = await pool.fetch("SELECT key FROM noonmark.request")
    assert [row["key"] for row in left] == ["b6f5c1f4"], "the second time is young"


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
async def test_reads_pay_no_attention(call: Caller, pool: Pool, method: str) -> None:
    for path in ("/v1/jobs", "/v1/version"):
        answer = await call(method, path, headers={"Idempotency-Key": "not a key"})
        assert (answer.status, REPLAYED in answer.headers) == (204 if method == "OPTIONS" else 200, False)
    assert await pool.fetchval(COUNT_KEYS) == 0
