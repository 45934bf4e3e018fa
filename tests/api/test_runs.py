"""Runs through the API."""

import msgspec
import pytest

from noonmark.model.ids import parse_run, shard_of
from noonmark.model.reason import Outcome, Reason
from noonmark.store.connect import Pool
from tests.api.conftest import Caller, RunningNode
from tests.api.test_problems import BAD_SUBMISSIONS, UNREADABLE

BATCH, TRIGGER = "/v1/runs/batch", "/v1/jobs/a/trigger"

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


@pytest.fixture
async def job(call: Caller) -> str:
    return str((await call("POST", "/v1/jobs", {"name": "a", "task": "greet", "input": {"x": 1}})).json["id"])


async def test_a_triggered_run_can_be_read_explained_and_cancelled(call: Caller, job: str) -> None:
    made = await call("POST", "/v1/jobs/a/trigger", {"input": [1], "priority": 0})
    assert made.status == 202
    run = made.json
    assert (run["state"], run["reason"], run["why"]) == (
        "waiting",
        "triggered",
        "somebody asked for it through the API",
    )
    assert (run["job"], run["job_name"], run["priority"]) == (job, "a", 0)
    assert made.headers["Location"] == f"/v1/runs/{run['id']}"
    assert (await call("GET", f"/v1/runs/{run['id']}")).json == run
    assert (await call("GET", f"/v1/runs/{run['id']}/attempts")).json == {"attempts": []}
    ended = (await call("POST", f"/v1/runs/{run['id']}/cancel")).json
    assert (ended["state"], ended["reason"]) == ("cancelled", "cancelled")
    attempts = (await call("GET", f"/v1/runs/{run['id']}/attempts")).json["attempts"]
    assert [(a["attempt"], a["outcome"], a["final"]) for a in attempts] == [(0, "cancelled", True)]


async def test_a_batch_answers_ids_in_order(call: Caller, job: str) -> None:
    await call("POST", "/v1/jobs", {"name": "b", "task": "clean"})
    runs = [{"job": "b" if n % 3 else job, "input": n} for n in range(300)]
    made = await call("POST", "/v1/runs/batch", {"runs": runs})
    assert made.status == 202
    ids = made.json["runs"]
    assert len(set(ids)) == 300
    assert [(await call("GET", f"/v1/runs/{run}")).json["job_name"] for run in ids[:4]] == ["a", "b", "b", "a"]


async def test_every_state_is_told_and_can_be_chosen(call: Caller, job: str, pool: Pool, node: RunningNode) -> None:
    ids = (await call("POST", "/v1/runs/batch", {"runs": [{"job": "a"}] * 6})).json["runs"]
    keys = [parse_run(run) for run in ids]
    job_id, shard = keys[0][0], shard_of(keys[0][0])
    now_us = node.clock.now_us()
    await pool.execute(
        "INSERT INTO noonmark.grant VALUES ($1, 1, 7, $2, $3, $4, $5)",
        shard, now_us, [job_id, job_id], [keys[1][1], keys[2][1]], [1, 1],
    )  # fmt: skip
    retry = "UPDATE noonmark.run SET attempt = 1, due_at = $3 WHERE shard = $1 AND nominal_at = $2"
    await pool.execute(retry, shard, keys[2][1], now_us + 60_000_000)  # granted as attempt 1, which has ended
    await pool.execute("UPDATE noonmark.run SET parked = true WHERE shard = $1 AND nominal_at = $2", shard, keys[3][1])
    for key, outcome in ((keys[4], Outcome.SUCCEEDED), (keys[5], Outcome.TIMED_OUT)):
        await pool.execute("DELETE FROM noonmark.run WHERE shard = $1 AND nominal_at = $2", shard, key[1])
        await pool.execute(
            "INSERT INTO noonmark.attempt"
            " VALUES ($1, $2, $3, 1, $4, 1, 1, 7, $3, $3, $3, $5, $6, true, 'e', '{\"r\":1}')",
            shard, job_id, key[1], now_us, outcome, Reason.ATTEMPTS_EXHAUSTED,
        )  # fmt: skip
    told = (await call("GET", "/v1/jobs/a/runs")).json["runs"]
    assert [run["id"] for run in told] == ids[::-1]
    states = ["waiting", "running", "retrying", "parked", "succeeded", "dead"]
    assert [run["state"] for run in told] == states[::-1]
    assert [run["attempt"] for run in told] == [1, 1, 0, 1, 1, 0]
    for run, state in zip(ids, states, strict=True):
        assert (await call("GET", f"/v1/runs/{run}")).json["state"] == state
        chosen = (await call("GET", f"/v1/jobs/a/runs?state={state}")).json["runs"]
        assert [found["id"] for found in chosen] == [run]
    assert len((await call("GET", "/v1/jobs/a/runs?state=dead&state=parked")).json["runs"]) == 2
    wrong = await call("GET", "/v1/jobs/a/runs?state=asleep")
    assert (wrong.status, wrong.json["field"]) == (422, "state")
    first = (await call("GET", "/v1/jobs/a/runs?limit=4")).json
    second = (await call("GET", f"/v1/jobs/a/runs?limit=4&cursor={first['next_cursor']}")).json
    assert [run["id"] for run in first["runs"] + second["runs"]] == ids[::-1]
    assert second["next_cursor"] is None
    attempts = (await call("GET", f"/v1/runs/{ids[4]}/attempts")).json["attempts"]
    assert (attempts[0]["result"], attempts[0]["worker"]) == ({"r": 1}, 7)


@pytest.mark.parametrize(("path", "body"), GOOD)
async def test_a_good_submission(call: Caller, job: str, pool: Pool, path: str, body: bytes) -> None:
    answer = await call("POST", path, data=body)
    made = answer.json.get("runs", [answer.json])
    assert (answer.status, await pool.fetchval("SELECT count(*) FROM noonmark.run")) == (202, len(made))


async def test_a_run_has_the_input_of_its_submission_or_else_of_its_job(call: Caller, job: str, pool: Pool) -> None:
    await call("POST", TRIGGER, {"input": [1]})
    await call("POST", TRIGGER)
    inputs = await pool.fetch("SELECT input::text FROM noonmark.run ORDER BY nominal_at")
    assert [row[0] for row in inputs] == ["[1]", '{"x":1}']


async def test_a_bad_submission_stores_nothing(call: Caller, job: str, pool: Pool) -> None:
    await call("POST", "/v1/jobs", {"name": "asleep", "task": "greet"})
    await call("POST", "/v1/jobs/asleep/pause")
    for path, body, headers in BAD:
        answer = await call("POST", path, data=body, headers=headers)
        assert 400 <= answer.status < 500, (path, body[:80])
        assert answer.json["code"], (path, body[:80])
    assert await pool.fetchval("SELECT count(*) FROM noonmark.run") == 0
