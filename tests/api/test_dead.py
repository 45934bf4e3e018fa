"""Dead letters through the API: the list, the way back, the way out, and the count first."""

import pytest

from noonmark.store.connect import Pool
from tests.api.conftest import Caller

_BURY = """
WITH gone AS (DELETE FROM noonmark.run RETURNING *), numbered AS (
    SELECT g.*, row_number() OVER (ORDER BY g.nominal_at DESC) AS n FROM gone g
)
INSERT INTO noonmark.dead
SELECT shard, job_id, nominal_at, now() - n * interval '1 hour', tenant_id, version, policy_id, priority, 3, 3,
    CASE WHEN n % 2 = 0 THEN 14 ELSE 13 END, input, 'Boom ' || n
FROM numbered
"""


@pytest.fixture
async def dead(call: Caller, pool: Pool) -> list[str]:
    """Six of two jobs, the latest death first: `a` has the 1st, 2nd, 3rd and `b` the others."""
    for name in ("a", "b"):
        await call("POST", "/v1/jobs", {"name": name, "task": "greet", "input": {"x": 1}})
    runs = [{"job": "b" if n < 3 else "a"} for n in range(6)]
    ids: list[str] = (await call("POST", "/v1/runs/batch", {"runs": runs})).json["runs"]
    await pool.execute(_BURY)
    return ids[::-1]


async def listed(call: Caller, query: str = "") -> list[str]:
    return [letter["run"] for letter in (await call("GET", f"/v1/dead{query}")).json["dead"]]


async def test_the_list_is_paged_and_filtered(call: Caller, dead: list[str], pool: Pool) -> None:
    first = (await call("GET", "/v1/dead?limit=4")).json
    rest = (await call("GET", f"/v1/dead?limit=4&cursor={first['next_cursor']}")).json
    assert [letter["run"] for letter in first["dead"] + rest["dead"]] == dead
    assert rest["next_cursor"] is None
    letter = first["dead"][0]
    assert (letter["error"], letter["attempts"], letter["input"]) == ("Boom 1", 3, {"x": 1})
    assert letter["reason"] == "attempts_exhausted"
    assert await listed(call, "?job=a") == dead[:3]
    assert await listed(call, "?reason=timed_out") == dead[1::2]
    assert await listed(call, "?error=bOOM%204") == [dead[3]]
    from_at = (await call("GET", "/v1/dead")).json["dead"][2]["died_at"]
    assert await listed(call, f"?died_from={from_at.replace('+', '%2B')}") == dead[:3]
    assert await listed(call, f"?died_to={from_at.replace('+', '%2B')}") == dead[3:]
    for query, field in (("reason=tired", "reason"), ("died_from=2026-01-01T00:00:00", "died_from")):
        refused = await call("GET", f"/v1/dead?{query}")
        assert (refused.status, refused.json["field"]) == (422, field)
    assert (await call("GET", "/v1/dead?job=nobody")).status == 404
    assert (await call("GET", f"/v1/runs/{dead[0]}")).json["state"] == "dead"


async def test_some_are_redriven_by_id_job_or_filter_with_a_count_first(call: Caller, dead: list[str]) -> None:
    redrive = "/v1/dead/redrive"
    counted = (await call("POST", redrive, {"filter": {"reason": "timed_out"}, "dry_run": True})).json
    assert counted == {"redriven": 0, "matched": 3, "more": False, "dry_run": True}
    assert len(await listed(call)) == 6
    assert (await call("POST", redrive, {"runs": dead[:1] * 2})).json["redriven"] == 1
    assert (await call("GET", f"/v1/runs/{dead[0]}")).json["reason"] == "redriven"
    of_job = (await call("POST", redrive, {"job": "a", "limit": 1})).json
    assert of_job == {"redriven": 1, "matched": 1, "more": True, "dry_run": False}
    assert (await call("POST", redrive, {"filter": {"reason": "timed_out", "job": "b"}})).json["redriven"] == 2
    assert await listed(call) == [dead[2], dead[4]]
    assert (await call("POST", redrive, {"filter": {}})).json["redriven"] == 2
    assert (await call("POST", redrive, {"filter": {}})).json["redriven"] == 0


async def test_some_are_discarded_and_their_history_stays(call: Caller, dead: list[str], pool: Pool) -> None:
    discard = "/v1/dead/discard"
    await pool.execute(
        "INSERT INTO noonmark.attempt SELECT shard, job_id, nominal_at, 3, died_at, tenant_id, version, 7, nominal_at,"
        " nominal_at, nominal_at, 2, reason, true, error FROM noonmark.dead"
    )
    counted = (await call("POST", discard, {"filter": {"error": "boom"}, "dry_run": True})).json
    assert (counted["matched"], counted["discarded"]) == (6, 0)
    assert (await call("POST", discard, {"runs": dead[:2]})).json["discarded"] == 2
    assert (await call("POST", discard, {"runs": dead[:2]})).json["discarded"] == 0
    assert (await call("POST", discard, {"filter": {"job": "b"}})).json["discarded"] == 3
    assert await listed(call) == [dead[2]]
    assert (await call("GET", f"/v1/runs/{dead[0]}")).json["state"] == "dead"
    assert (await call("POST", "/v1/dead/redrive", {"runs": [dead[0]]})).json["redriven"] == 0


@pytest.mark.parametrize("path", ["/v1/dead/redrive", "/v1/dead/discard"])
async def test_what_is_not_clearly_meant_changes_nothing(call: Caller, dead: list[str], path: str) -> None:
    for body, field in (
        ({}, "runs"),
        ({"runs": dead, "job": "a"}, "runs"),
        ({"runs": [dead[0], "run_x"]}, "runs[1]"),
        ({"filter": {"reason": "tired"}}, "reason"),
        ({"filter": {"reasons": []}}, "filter"),
        ({"filter": {"died_from": "2026-01-02T00:00:00Z", "died_to": "2026-01-01T00:00:00Z"}}, "died_from"),
        ({"job": "a", "limit": 0}, "limit"),
    ):
        refused = await call("POST", path, body)
        assert (refused.status, refused.json["field"]) == (422, field), body
    assert await listed(call) == dead
