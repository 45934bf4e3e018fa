"""GET /v1/runs: what it takes and refuses, and how it is paged. Its reads have tests of their own in tests/store."""

from typing import Any

import pytest

from noonmark.store.connect import Pool
from noonmark.store.reads import run_list
from tests.api.conftest import Caller


@pytest.fixture
async def ids(call: Caller) -> list[str]:
    """Nine runs of three jobs in turn, oldest first."""
    for name, labels in (("a", {"team": "billing"}), ("b", {"team": "ops"}), ("c", {})):
        await call("POST", "/v1/jobs", {"name": name, "task": "greet", "labels": labels})
    runs = [{"job": "abc"[n % 3]} for n in range(9)]
    made: list[str] = (await call("POST", "/v1/runs/batch", {"runs": runs})).json["runs"]
    return made


async def found(call: Caller, query: str = "") -> list[str]:
    answer = await call("GET", f"/v1/runs{query}")
    assert answer.status == 200, answer.body
    return [run["id"] for run in answer.json["runs"]]


async def test_all_runs_of_the_tenant_newest_first_page_by_page(call: Caller, ids: list[str]) -> None:
    assert await found(call) == ids[::-1]
    pages: list[str] = []
    cursor = ""
    while True:
        page: Any = (await call("GET", f"/v1/runs?limit=2{cursor}")).json
        pages += [run["id"] for run in page["runs"]]
        if page["next_cursor"] is None:
            break
        assert page["scanned_until"] is None
        cursor = f"&cursor={page['next_cursor']}"
        run = pages[-1]
        assert (await call("POST", f"/v1/runs/{run}/cancel")).status == 202
    assert pages == ids[::-1]
    assert len(await found(call, "?state=cancelled")) == 4


async def test_it_is_filtered_by_job_label_state_reason_and_time(call: Caller, ids: list[str]) -> None:
    run = (await call("GET", f"/v1/runs/{ids[3]}")).json
    assert await found(call, "?job=a") == [ids[6], ids[3], ids[0]]
    assert await found(call, f"?job={run['job']}&limit=1") == [ids[6]]
    assert await found(call, "?label=team") == [ids[7], ids[6], ids[4], ids[3], ids[1], ids[0]]
    assert await found(call, "?label=team:ops") == [ids[7], ids[4], ids[1]]
    assert await found(call, "?label=team:ops&label=team:billing") == []
    assert await found(call, "?job=a&label=team:ops") == []
    assert await found(call, "?job=a&label=team:billing") == [ids[6], ids[3], ids[0]]
    assert await found(call, "?reason=scheduled") == []
    assert await found(call, "?reason=scheduled&reason=triggered&state=waiting&state=dead") == ids[::-1]
    at = run["nominal_at"].replace("+", "%2B")
    assert await found(call, f"?from={at}") == ids[3:][::-1]
    assert await found(call, f"?to={at}") == ids[:3][::-1]
    assert await found(call, "?finished_from=2020-01-01T00:00:00Z") == []
    await call("POST", f"/v1/runs/{ids[3]}/cancel")
    assert await found(call, "?finished_from=2020-01-01T00:00:00Z") == [ids[3]]
    assert await found(call, "?finished_to=2020-01-01T00:00:00Z") == []


async def test_a_bounded_page_says_how_far_it_came(
    call: Caller, ids: list[str], pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_list, "_LIVE_READ", 0)
    monkeypatch.setattr(run_list, "_MIN_OF_SHARD", 1)
    await pool.execute(
        "UPDATE noonmark.run SET error = 'it BURNS' WHERE nominal_at = (SELECT min(nominal_at) FROM noonmark.run)"
    )
    page = (await call("GET", "/v1/runs?error=burns")).json
    assert page["runs"] == []
    assert page["scanned_until"] is not None
    assert page["next_cursor"] is not None
    for _ in range(9):
        page = (await call("GET", f"/v1/runs?error=burns&cursor={page['next_cursor']}")).json
        if page["runs"]:
            break
    assert [run["id"] for run in page["runs"]] == [ids[0]]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("state=asleep", "state"),
        ("reason=boredom", "reason"),
        ("from=yesterday", "from"),
        ("from=2026-01-01T00:00:00", "from"),
        ("to=3026-01-01T00:00:00Z", "to"),
        ("from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", "from"),
        ("finished_from=2026-01-02T00:00:00Z&finished_to=2026-01-02T00:00:00Z", "finished_from"),
        ("label=", "label"),
        ("error=", "error"),
        ("error=%00", "error"),
        ("limit=0", "limit"),
        ("cursor=nonsense", "cursor"),
    ],
)
async def test_what_cannot_be_meant_is_refused(call: Caller, query: str, field: str) -> None:
    refused = await call("GET", f"/v1/runs?{query}")
    assert (refused.status, refused.json["field"]) == (422, field), refused.body
    assert refused.json["fix"]


async def test_another_tenants_runs_are_not_told_of(call: Caller, ids: list[str], pool: Pool) -> None:
    await pool.execute("INSERT INTO noonmark.tenant (name) VALUES ('other')")
    there = {"headers": {"Noonmark-Tenant": "other"}}
    assert (await call("GET", "/v1/runs", **there)).json["runs"] == []
    assert (await call("GET", "/v1/runs?job=a", **there)).status == 404
    for path in (f"/v1/runs/{ids[0]}", f"/v1/runs/{ids[0]}/explanation", f"/v1/runs/{ids[0]}/follow"):
        assert (await call("GET", path, **there)).status == 404
    for path in (f"/v1/runs/{ids[0]}/retry", "/v1/jobs/a/cancel"):
        assert (await call("POST", path, **there)).status == 404
    assert len(await found(call)) == 9


async def test_one_run_with_its_attempts(call: Caller, ids: list[str]) -> None:
    plain = (await call("GET", f"/v1/runs/{ids[0]}")).json
    assert "attempts" not in plain
    await call("POST", f"/v1/runs/{ids[0]}/cancel")
    whole = (await call("GET", f"/v1/runs/{ids[0]}?include=attempts")).json
    assert [(attempt["attempt"], attempt["outcome"]) for attempt in whole["attempts"]] == [(0, "cancelled")]
    refused = await call("GET", f"/v1/runs/{ids[0]}?include=children")
    assert (refused.status, refused.json["field"]) == (422, "include")
