"""Each kind of change is carried out once under its key, whatever has happened to its subject in between."""

from typing import Any, NamedTuple

import aiohttp
import msgspec

from noonmark.model.reason import Outcome
from noonmark.store.connect import Pool
from noonmark.wire.worker import Claim, ClaimAnswer, Register, Registered, Report, ReportItem
from tests.api.conftest import Caller, StartNode

REPLAYED = "Idempotent-Replayed"
HOURLY = {"kind": "cron", "cron": "0 * * * *"}
PAST = {"from": "2026-01-01T00:00:00Z", "to": "2026-01-01T05:30:00Z"}


class Change(NamedTuple):
    method: str
    path: str
    body: Any = None
    between: tuple[str, str, Any] | None = None
    """What somebody else does before it is sent again."""


CHANGES = [
    Change("POST", "/v1/jobs", {"name": "new", "task": "greet"}, ("PATCH", "/v1/jobs/new", {"priority": 1})),
    Change("POST", "/v1/jobs/batch", {"jobs": [{"name": f"b{n}", "task": "greet"} for n in range(20)]}),
    Change("PUT", "/v1/jobs/put", {"task": "greet"}, ("PUT", "/v1/jobs/put", {"task": "clean"})),
    Change(
        "PUT",
        "/v1/jobs/batch",
        {"jobs": [{"name": f"p{n}", "task": "greet"} for n in range(20)]},
        ("PUT", "/v1/jobs/p3", {"task": "clean"}),
    ),
    Change("PATCH", "/v1/jobs/a", {"priority": 9}, ("PATCH", "/v1/jobs/a", {"priority": 1})),
    Change("POST", "/v1/jobs/a/rollback", {"version": 1}, ("PATCH", "/v1/jobs/a", {"priority": 2})),
    Change("POST", "/v1/jobs/a/pause", None, ("POST", "/v1/jobs/a/resume", None)),
    Change("POST", "/v1/jobs/asleep/resume", None, ("POST", "/v1/jobs/asleep/pause", None)),
    Change("POST", "/v1/jobs/a/trigger", {"input": 1}),
    Change("POST", "/v1/jobs/a/trigger", {"dedup_key": "d"}),
    Change("POST", "/v1/runs/batch", {"runs": [{"job": job} for job in ("a", "hourly", "a")]}),
    Change("POST", "/v1/runs/batch", {"runs": [{"job": "a", "dedup_key": "e"}, {"job": "hourly"}]}),
    Change("POST", "/v1/jobs/hourly/skip", None, ("DELETE", "/v1/jobs/hourly/skip", None)),
    Change("DELETE", "/v1/jobs/daily/skip", None, ("POST", "/v1/jobs/daily/skip", None)),
    Change("POST", "/v1/jobs/hourly/backfill", PAST),
    Change("POST", "/v1/runs/{waiting}/cancel"),
    Change("POST", "/v1/jobs/busy/cancel", None, ("POST", "/v1/jobs/busy/trigger", None)),
    Change("POST", "/v1/runs/{dead[0]}/retry", None, ("POST", "/v1/runs/{dead[0]}/cancel", None)),
    Change("POST", "/v1/dead/redrive", {"runs": ["{dead[1]}", "{dead[2]}"]}),
    Change("POST", "/v1/dead/redrive", {"filter": {"error": "one of those"}}),
    Change("POST", "/v1/dead/discard", {"runs": ["{dead[3]}"]}),
    Change("POST", "/v1/dead/discard", {"job": "fails"}),
    Change(
        "POST",
        "/v1/jobs/bulk",
        {"action": "pause", "filter": {"name_prefix": "p"}, "expect": 21},
        ("POST", "/v1/jobs/p3/resume", None),
    ),
    Change("POST", "/v1/tenants", {"name": "acme"}, ("PATCH", "/v1/tenants/acme", {"weight": 7})),
    Change("PATCH", "/v1/tenants/acme", {"weight": 3}, ("PATCH", "/v1/tenants/acme", {"weight": 5})),
    Change("DELETE", "/v1/jobs/gone"),
    Change("DELETE", "/v1/jobs/back", None, ("POST", "/v1/jobs", {"name": "back", "task": "greet"})),
]


async def protocol(call: Caller, verb: str, message: Any, kind: type[Any]) -> Any:
    headers = {"Content-Type": "application/json"}
    answer = await call("POST", f"/v1/worker/{verb}", data=msgspec.json.encode(message), headers=headers)
    assert answer.status == 200, answer.body
    return msgspec.json.decode(answer.body, type=kind)


async def make_dead(call: Caller, errors: list[str]) -> list[str]:
    """By a worker that fails."""
    await call("PUT", "/v1/tasks", {"tasks": ["fail"]})
    await call("POST", "/v1/jobs", {"name": "fails", "task": "fail", "retry": {"max_attempts": 1}})
    made: list[str] = (await call("POST", "/v1/runs/batch", {"runs": [{"job": "fails"}] * len(errors)})).json["runs"]
    worker = (await protocol(call, "register", Register("w", ["default"], ["fail"], 100), Registered)).worker
    left = list(errors)
    while left:
        claimed = await protocol(call, "claim", Claim(worker, len(left), 5), ClaimAnswer)
        items = [
            ReportItem(
                claimed.grant, run.job_id, run.nominal_us, run.attempt, Outcome.FAILED, None, run.due_us,
                error=left.pop(0),
            )
            for run in claimed.runs
        ]  # fmt: skip
        await protocol(call, "report", Report(worker, items), msgspec.Raw)
    return made


async def furnish(call: Caller) -> dict[str, Any]:
    jobs: list[dict[str, Any]] = [{"name": name, "task": "greet"} for name in ("a", "asleep", "busy", "gone", "back")]
    jobs += [{"name": name, "task": "greet", "schedule": HOURLY} for name in ("hourly", "daily")]
    assert (await call("POST", "/v1/jobs/batch", {"jobs": jobs})).status == 201
    await call("POST", "/v1/jobs/asleep/pause")
    await call("POST", "/v1/jobs/daily/skip")
    waiting = (await call("POST", "/v1/jobs/busy/trigger")).json["id"]
    await call("POST", "/v1/runs/batch", {"runs": [{"job": "busy"}] * 3})
    dead = await make_dead(call, ["plain"] * 4 + ["one of those"] * 2 + ["plain"] * 2)
    return {"waiting": waiting, "dead": dead}


def filled(part: Any, names: dict[str, Any]) -> Any:
    if isinstance(part, dict):
        return {name: filled(value, names) for name, value in part.items()}
    if isinstance(part, list):
        return [filled(value, names) for value in part]
    return part.format(**names) if isinstance(part, str) else part


async def test_every_change_is_carried_out_once(call: Caller, pool: Pool) -> None:
    names = await furnish(call)
    for number, change in enumerate(CHANGES):
        told = f"{change.method} {change.path} {change.body}"
        asked = (change.method, filled(change.path, names), filled(change.body, names))
        key = {"Idempotency-Key": f"k{number}"}
        first = await call(*asked, headers=key)
        assert first.status < 300, (told, first.body)
        assert REPLAYED not in first.headers, told
        if change.between is not None:
            other = await call(*filled(list(change.between), names))
            assert other.status < 300, (told, other.body)
        before = await pool.fetchval("SELECT count(*) FROM noonmark.audit")
        again = await call(*asked, headers=key)
        assert (again.status, again.headers.get(REPLAYED)) == (first.status, "true"), (told, again.body)
        assert await pool.fetchval("SELECT count(*) FROM noonmark.audit") == before, told
        if change.between is None:
            assert again.body == first.body, told


SECRETS = [
    ("/v1/keys", {"name": "dashboard", "role": "viewer"}),
    ("/v1/keys/{key}/rotate", {}),
    ("/v1/subscriptions", {"name": "ops", "to": {"kind": "webhook", "url": "https://example.com"}, "events": ["dead"]}),
    ("/v1/subscriptions/{subscription}/rotate-secret", {}),
]


async def test_a_secret_is_shown_once_and_never_kept(
    start_node: StartNode, session: aiohttp.ClientSession, pool: Pool
) -> None:
    call = Caller(session, (await start_node(token="sesame")).address)
    admin = {"Authorization": "Bearer sesame"}
    names: dict[str, Any] = {}
    for number, (path, body) in enumerate(SECRETS):
        key = admin | {"Idempotency-Key": f"k{number}"}
        first = await call("POST", filled(path, names), body, headers=key)
        assert first.status in (200, 201), (path, first.body)
        before = await pool.fetchval("SELECT count(*) FROM noonmark.audit")
        again = await call("POST", filled(path, names), body, headers=key)
        assert (again.status, again.json["code"]) == (409, "idempotency_not_kept"), path
        assert await pool.fetchval("SELECT count(*) FROM noonmark.audit") == before
        kept = await pool.fetch("SELECT answer FROM noonmark.request WHERE key = $1", f"k{number}")
        assert [row["answer"] for row in kept] == [None]
        if "key" in first.json:
            names["key"] = first.json["key"]["id"]
        else:
            names["subscription"] = first.json["subscription"]["id"]
    assert await pool.fetchval("SELECT count(*) FROM noonmark.api_key") == 1
    assert await pool.fetchval("SELECT count(*) FROM noonmark.subscription") == 1
    path, key = filled("/v1/subscriptions/{subscription}", names), admin | {"Idempotency-Key": "gone"}
    ended = [await call("DELETE", path, headers=key) for _ in range(2)]
    assert [(answer.status, answer.headers.get(REPLAYED)) for answer in ended] == [(204, None), (204, "true")]
    assert (await call("DELETE", path, headers=admin)).status == 404
