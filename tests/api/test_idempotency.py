"""A POST with an Idempotency-Key is carried out once, whoever is asked again and whatever dies in between."""

import asyncio
from typing import Any
from uuid import uuid4

import aiohttp
import pytest
from noonmark.store.idempotency import RequestClaim, claim_request, forget_old_requests, hold_request

from noonmark.api.middleware import idempotency
from noonmark.errors import Unavailable
from noonmark.store.connect import Pool
from tests.api.conftest import Caller, RunningNode, StartNode
from tests.api.test_forwarding import HIGH, LOW, name_on
from tests.conftest import SHARDS

JOB = {"name": "a", "task": "greet"}
KEY = {"Idempotency-Key": "b6f5c1f4"}
COUNT_RUNS = "SELECT count(*) FROM noonmark.run"


async def test_a_request_that_is_sent_again_gets_the_first_answer(call: Caller, pool: Pool) -> None:
    first = await call("POST", "/v1/jobs", JOB, headers=KEY)
    again = await call("POST", "/v1/jobs", JOB, headers=KEY)
    assert (first.status, again.status) == (201, 201)
    assert again.body == first.body
    for name in ("ETag", "Location", "Content-Type"):
        assert again.headers[name] == first.headers[name]
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["Idempotent-Replayed"] == "true"
    triggered = [await call("POST", "/v1/jobs/a/trigger", headers={"Idempotency-Key": "t"}) for _ in range(3)]
    assert len({answer.json["id"] for answer in triggered}) == 1
    assert await pool.fetchval(COUNT_RUNS) == 1
    assert (await call("POST", "/v1/jobs/a/trigger")).json["id"] != triggered[0].json["id"]


async def test_a_refusal_is_kept_too(call: Caller) -> None:
    first = await call("POST", "/v1/jobs/none/trigger", headers=KEY)
    again = await call("POST", "/v1/jobs/none/trigger", headers=KEY)
    assert (first.status, again.status, again.body) == (404, 404, first.body)
    assert (again.headers["Content-Type"], again.headers["Idempotent-Replayed"]) == ("application/problem+json", "true")


async def test_a_key_belongs_to_one_request(call: Caller, pool: Pool) -> None:
    await call("POST", "/v1/jobs", JOB, headers=KEY)
    for path, body in (("/v1/jobs", JOB | {"name": "b"}), ("/v1/jobs/batch", JOB), ("/v1/jobs?x=1", JOB)):
        answer = await call("POST", path, body, headers=KEY)
        assert (answer.status, answer.json["code"], answer.json["field"]) == (
            422, "idempotency_mismatch", "Idempotency-Key",
        )  # fmt: skip
    assert await pool.fetchval("SELECT count(*) FROM noonmark.job") == 1


async def test_tenants_have_keys_of_their_own(call: Caller, pool: Pool) -> None:
    await pool.execute("INSERT INTO noonmark.tenant (name) VALUES ('other')")
    await call("POST", "/v1/jobs", JOB, headers=KEY)
    other = await call("POST", "/v1/jobs", JOB, headers=KEY | {"Noonmark-Tenant": "other"})
    assert (other.status, other.json["tenant"]) == (201, "other")
    assert "Idempotent-Replayed" not in other.headers
    for _ in range(2):
        assert (await call("POST", "/v1/jobs", JOB, headers=KEY | {"Noonmark-Tenant": "none"})).status == 404


async def test_a_key_is_printable_and_not_too_long(call: Caller) -> None:
    for key in ("", "a b", "ä", "x" * 256):
        answer = await call("POST", "/v1/jobs", JOB, headers={"Idempotency-Key": key})
        assert (answer.status, answer.json["code"], answer.json["field"]) == (422, "invalid_input", "Idempotency-Key")
    assert (await call("GET", "/v1/jobs")).json["jobs"] == []
    headers = {"Idempotency-Key": "x" * 255}
    assert [(await call("POST", "/v1/jobs", JOB, headers=headers)).status for _ in range(2)] == [201, 201]


async def test_while_the_first_is_under_way(call: Caller, node: RunningNode, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()
    create = node.create_jobs

    async def slowly(*asked: Any) -> Any:
        begun.set()
        await go_on.wait()
        return await create(*asked)

    monkeypatch.setattr(node, "create_jobs", slowly)
    first = asyncio.create_task(call("POST", "/v1/jobs", JOB, headers=KEY))
    await begun.wait()
    second = await call("POST", "/v1/jobs", JOB, headers=KEY)
    assert (second.status, second.json["code"]) == (409, "idempotency_in_progress")
    assert second.headers["Retry-After"] == "1"
    go_on.set()
    assert (await first).status == 201
    assert (await call("POST", "/v1/jobs", JOB, headers=KEY)).headers["Idempotent-Replayed"] == "true"


async def test_a_failure_of_ours_is_not_kept(call: Caller, node: RunningNode, pool: Pool) -> None:
    for failure, status in ((Unavailable("away"), 503), (ZeroDivisionError(), 500)):
        node.fails_with = failure
        assert (await call("POST", "/v1/jobs", JOB, headers=KEY)).status == status
        assert await pool.fetchval("SELECT count(*) FROM noonmark.idempotency") == 0
    node.fails_with = None
    made = await call("POST", "/v1/jobs", JOB, headers=KEY)
    assert (made.status, "Idempotent-Replayed" in made.headers) == (201, False)


async def test_any_node_tells_the_answer_and_a_forwarded_request_claims_nothing(
    start_node: StartNode, session: aiohttp.ClientSession, pool: Pool
) -> None:
    low, high = await start_node(*LOW), await start_node(*HIGH)
    ask_low, ask_high = Caller(session, low.address), Caller(session, high.address)
    spec = {"name": name_on(HIGH), "task": "greet"}
    first = await ask_low("POST", "/v1/jobs", spec, headers=KEY)
    again = await ask_high("POST", "/v1/jobs", spec, headers=KEY)
    assert (first.status, again.status, again.body) == (201, 201, first.body)
    jobs = {"jobs": [{"name": f"b{n}", "task": "greet"} for n in range(SHARDS * 4)]}
    batches = [
        await ask("POST", "/v1/jobs/batch", jobs, headers={"Idempotency-Key": "b"}) for ask in (ask_low, ask_high)
    ]
    assert [answer.status for answer in batches] == [201, 201]
    assert batches[0].body == batches[1].body
    assert await pool.fetchval("SELECT count(*) FROM noonmark.idempotency") == 2


async def test_the_claim_of_a_dead_node_lapses(call: Caller, pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a node leaves behind that dies in the middle is a claim without an answer."""
    left: list[tuple[RequestClaim, bytes]] = []

    async def die(pool: Pool, claim: RequestClaim, fingerprint: bytes) -> None:
        left.append((claim, fingerprint))
        raise Unavailable("died")

    with monkeypatch.context() as dying:
        dying.setattr(idempotency, "claim_request", die)
        await call("POST", "/v1/jobs", JOB, headers=KEY)
    [(claim, fingerprint)] = left
    assert await claim_request(pool, claim, fingerprint) is None
    assert (await call("POST", "/v1/jobs", JOB, headers=KEY)).json["code"] == "idempotency_in_progress"
    await pool.execute("UPDATE noonmark.idempotency SET claimed_until = clock_timestamp() - interval '1 s'")
    other = await call("POST", "/v1/jobs", JOB | {"name": "b"}, headers=KEY)
    assert other.json["code"] == "idempotency_mismatch"
    made = await call("POST", "/v1/jobs", JOB, headers=KEY)
    assert (made.status, "Idempotent-Replayed" in made.headers) == (201, False)


async def test_what_was_done_is_answered_even_if_it_cannot_be_kept(
    call: Caller, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise OSError("the database is away")

    monkeypatch.setattr(idempotency, "keep_answer", fail)
    assert (await call("POST", "/v1/jobs", JOB, headers=KEY)).status == 201
    assert (await call("POST", "/v1/jobs", JOB, headers=KEY)).json["code"] == "idempotency_in_progress"
    assert await pool.fetchval("SELECT count(*) FROM noonmark.job") == 1


async def test_a_claim_is_held_while_its_request_goes_on(pool: Pool) -> None:
    claim = RequestClaim(1, "k", uuid4())
    assert await claim_request(pool, claim, b"f", held_s=-1) is None
    await hold_request(pool, claim)
    rival = claim._replace(claim=uuid4())
    earlier = await claim_request(pool, rival, b"f")
    assert earlier is not None
    assert earlier.status is None


async def test_what_is_too_large_is_not_kept(call: Caller, pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idempotency, "MAX_KEPT_BYTES", 100)
    assert (await call("POST", "/v1/jobs", JOB, headers=KEY)).status == 201
    again = await call("POST", "/v1/jobs", JOB, headers=KEY)
    assert (again.status, again.json["code"]) == (409, "idempotency_not_kept")
    assert "answered 201" in again.json["detail"]
    assert await pool.fetchval("SELECT count(*) FROM noonmark.job") == 1


async def test_a_secret_is_shown_once_and_never_kept(
    start_node: StartNode, session: aiohttp.ClientSession, pool: Pool
) -> None:
    call = Caller(session, (await start_node(token="sesame")).address)
    headers = KEY | {"Authorization": "Bearer sesame"}
    asked = {"name": "dashboard", "role": "viewer"}
    assert (await call("POST", "/v1/keys", asked, headers=headers)).status == 201
    again = await call("POST", "/v1/keys", asked, headers=headers)
    assert (again.status, again.json["code"]) == (409, "idempotency_not_kept")
    assert await pool.fetchval("SELECT body FROM noonmark.idempotency") is None
    assert await pool.fetchval("SELECT count(*) FROM noonmark.api_key") == 1


async def test_another_caller_is_another_request(
    start_node: StartNode, session: aiohttp.ClientSession, pool: Pool
) -> None:
    call = Caller(session, (await start_node(token="sesame")).address)
    admin = {"Authorization": "Bearer sesame"}
    made = (await call("POST", "/v1/keys", {"name": "ops", "role": "admin"}, headers=admin)).json
    secret = next(value for value in made.values() if isinstance(value, str) and value.startswith("nmk_"))
    assert (await call("POST", "/v1/jobs", JOB, headers=KEY | admin)).status == 201
    other = await call("POST", "/v1/jobs", JOB, headers=KEY | {"Authorization": f"Bearer {secret}"})
    assert (other.status, other.json["code"]) == (422, "idempotency_mismatch")


async def test_keys_are_forgotten_after_a_day(call: Caller, pool: Pool) -> None:
    await call("POST", "/v1/jobs/none/trigger", headers=KEY)
    await call("POST", "/v1/jobs/none/trigger", headers={"Idempotency-Key": "young"})
    day = "expires_at BETWEEN now() + interval '23 h' AND now() + interval '24 h'"
    assert await pool.fetchval(f"SELECT count(*) FROM noonmark.idempotency WHERE {day}") == 2
    await pool.execute("UPDATE noonmark.idempotency SET expires_at = clock_timestamp() WHERE key = $1", "b6f5c1f4")
    assert (await call("POST", "/v1/jobs", JOB, headers=KEY)).status == 201
    await pool.execute("UPDATE noonmark.idempotency SET expires_at = clock_timestamp() WHERE key = $1", "b6f5c1f4")
    await forget_old_requests(pool)
    assert [row["key"] for row in await pool.fetch("SELECT key FROM noonmark.idempotency")] == ["young"]


async def test_other_methods_and_workers_pay_no_attention(call: Caller, pool: Pool) -> None:
    await call("POST", "/v1/jobs", JOB)
    for _ in range(2):
        answer = await call("PATCH", "/v1/jobs/a", {"priority": 1}, headers=KEY)
        assert "Idempotent-Replayed" not in answer.headers
    worker = {"name": "w", "queues": ["default"], "tasks": [], "concurrency": 1}
    assert (
        await call("POST", "/v1/worker/register", worker, headers=KEY | {"Content-Type": "application/json"})
    ).status == 200
    assert await pool.fetchval("SELECT count(*) FROM noonmark.idempotency") == 0
