"""Jobs through the API: what goes in comes out, pages stay right, versions guard changes."""

import asyncio

from noonmark.store.connect import Pool
from tests.api.conftest import Caller


async def test_a_created_job_is_answered_whole_and_read_by_id_and_name(call: Caller) -> None:
    made = await call("POST", "/v1/jobs", {"name": "nightly", "task": "clean", "schedule": {"kind": "cron", "cron": "0 1 * * *"}, "input": {"a": [1, "ü"]}})  # fmt: skip  # noqa: E501
    assert made.status == 201
    job = made.json
    assert (job["name"], job["version"], job["state"], job["tenant"]) == ("nightly", 1, "active", "default")
    assert job["input"] == {"a": [1, "ü"]}
    assert job["schedule"] == {"kind": "cron", "cron": "0 1 * * *"}
    assert job["next_at"].endswith("T01:00:00Z")
    assert made.headers["Location"] == f"/v1/jobs/{job['id']}"
    assert made.headers["ETag"].startswith('"1-')
    for ref in (job["id"], "nightly"):
        assert (await call("GET", f"/v1/jobs/{ref}")).json == job


async def test_a_change_names_the_version_it_is_meant_for(call: Caller) -> None:
    await call("POST", "/v1/jobs", {"name": "a", "task": "greet", "input": 1})
    changed = await call("PATCH", "/v1/jobs/a", {"priority": 9, "input": None}, headers={"If-Match": '"1"'})
    assert (changed.status, changed.json["version"], changed.json["priority"]) == (200, 2, 9)
    assert changed.json["input"] is None
    refused = await call("PATCH", "/v1/jobs/a", {"priority": 1}, headers={"If-Match": '"1"'})
    assert (refused.status, refused.json["code"], refused.json["field"]) == (412, "version_conflict", "If-Match")
    wrong = await call("PATCH", "/v1/jobs/a", {"priority": 1}, headers={"If-Match": "x"})
    assert (wrong.status, wrong.json["field"]) == (422, "If-Match")
    versions = (await call("GET", "/v1/jobs/a/versions")).json["versions"]
    assert [(v["version"], v["spec"]["priority"]) for v in versions] == [(2, 9), (1, 5)]
    assert (await call("DELETE", "/v1/jobs/a", headers={"If-Match": '"1"'})).status == 412
    gone = await call("DELETE", "/v1/jobs/a")
    assert (gone.status, gone.body) == (204, b"")
    assert (await call("GET", "/v1/jobs/a")).status == 404


async def test_a_paused_job_has_no_next_time_and_starts_nothing(call: Caller) -> None:
    await call("POST", "/v1/jobs", {"name": "a", "task": "greet", "schedule": {"kind": "every", "every": "1m"}})
    paused = (await call("POST", "/v1/jobs/a/pause")).json
    assert (paused["state"], paused["next_at"]) == ("paused", None)
    refused = await call("POST", "/v1/jobs/a/trigger")
    assert (refused.status, refused.json["code"], refused.json["field"]) == (409, "job_paused", "job")
    resumed = (await call("POST", "/v1/jobs/a/resume")).json
    assert resumed["state"] == "active"
    assert resumed["next_at"] is not None


async def test_pages_follow_names_across_shards_while_jobs_come_and_go(call: Caller) -> None:
    names = [f"job-{n:02}" for n in range(25)]
    made = await call("POST", "/v1/jobs/batch", {"jobs": [{"name": n, "task": "greet"} for n in ["zz", *names]]})
    assert made.status == 201
    assert [job["name"] for job in made.json["jobs"]] == ["zz", *names]
    seen: list[str] = []
    cursor = ""
    while True:
        page = (await call("GET", f"/v1/jobs?limit=7&name_prefix=job-{cursor}")).json
        seen += [job["name"] for job in page["jobs"]]
        if len(seen) == 7:
            await call("DELETE", f"/v1/jobs/{seen[-1]}")
            await call("POST", "/v1/jobs", {"name": "job-00a", "task": "greet"})
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert seen == names


async def test_a_tenant_sees_its_own_jobs_only(call: Caller, pool: Pool) -> None:
    await pool.execute("INSERT INTO noonmark.tenant (name) VALUES ('other')")
    job = (await call("POST", "/v1/jobs", {"name": "a", "task": "greet"})).json
    other = {"Noonmark-Tenant": "other"}
    assert (await call("GET", f"/v1/jobs/{job['id']}", headers=other)).status == 404
    assert (await call("POST", f"/v1/jobs/{job['id']}/pause", headers=other)).status == 404
    assert (await call("GET", "/v1/jobs", headers=other)).json["jobs"] == []
    run = (await call("POST", "/v1/jobs/a/trigger")).json
    assert (await call("GET", f"/v1/runs/{run['id']}", headers=other)).status == 404
    assert (await call("GET", f"/v1/runs/{run['id']}/attempts", headers=other)).status == 404
    assert (await call("GET", "/v1/jobs", headers={"Noonmark-Tenant": "nobody"})).status == 404


async def test_a_name_is_taken_once(call: Caller) -> None:
    spec = {"name": "a", "task": "greet"}
    answers = await asyncio.gather(*(call("POST", "/v1/jobs", spec) for _ in range(5)))
    assert sorted(answer.status for answer in answers) == [201, 409, 409, 409, 409]
    batch = await call("POST", "/v1/jobs/batch", {"jobs": [{"name": "b", "task": "greet"}, spec]})
    assert (batch.status, batch.json["code"], batch.json["field"]) == (409, "duplicate_name", "jobs[1].name")
    assert (await call("GET", "/v1/jobs/b")).status == 404


async def test_a_page_is_bounded_and_its_cursor_is_ours(call: Caller) -> None:
    for name, values in {"limit": ("0", "1001", "x"), "cursor": ("%00", "gaFh", "x"), "name_prefix": ("%20",)}.items():
        for value in values:
            answer = await call("GET", f"/v1/jobs?{name}={value}")
            assert (answer.status, answer.json["field"]) == (422, name), value
    assert (await call("GET", "/v1/jobs?limit=1000")).json == {"jobs": [], "next_cursor": None, "count": None}
