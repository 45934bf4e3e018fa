"""Tenants: made and weighed by the installation's admin, and each sees nothing of the others."""

from typing import Any

import aiohttp
import pytest

from noonmark.api.table import TABLE
from noonmark.store.connect import Pool
from tests.api.conftest import Caller, StartNode
from tests.api.holders import ROOT, Holder, make_tenants


@pytest.fixture
async def root(start_node: StartNode, session: aiohttp.ClientSession) -> Holder:
    node = await start_node(token=ROOT)
    return Holder(Caller(session, node.address), ROOT)


async def test_a_tenant_is_made_read_and_weighed(root: Holder, pool: Pool) -> None:
    made = await root("POST", "/v1/tenants", {"name": "acme", "weight": 3})
    assert (made.status, made.json["name"], made.json["weight"]) == (201, "acme", 3)
    assert (await root("PATCH", "/v1/tenants/acme", {"weight": 7})).json["weight"] == 7
    assert (await root("GET", "/v1/tenants/acme")).json["weight"] == 7
    assert [tenant["name"] for tenant in (await root("GET", "/v1/tenants")).json["tenants"]] == ["acme", "default"]
    page = (await root("GET", "/v1/tenants?limit=1")).json
    assert [t["name"] for t in (await root("GET", f"/v1/tenants?cursor={page['next_cursor']}")).json["tenants"]] == [
        "default"
    ]
    await root("PATCH", "/v1/tenants/acme", {"weight": 7})
    entries = (await root("GET", "/v1/audit?installation=true")).json["entries"]
    told = [(entry["action"], entry["subject"], entry["before"], entry["after"]) for entry in entries]
    assert told == [
        ("tenant.change", "acme", {"weight": 3}, {"weight": 7}),
        ("tenant.create", "acme", None, {"weight": 3}),
    ], "what changes nothing is not told"


async def test_what_a_tenant_may_not_be(root: Holder, pool: Pool) -> None:
    for body, field in (
        ({"name": "Über"}, "name"),
        ({"name": ""}, "name"),
        ({"name": "x" * 64}, "name"),
        ({"name": "x", "weight": 0}, "weight"),
        ({"name": "x", "weight": 101}, "weight"),
    ):
        answer = await root("POST", "/v1/tenants", body)
        assert (answer.status, answer.json["field"]) == (422, field)
    twice = await root("POST", "/v1/tenants", {"name": "default"})
    assert (twice.status, twice.json["code"]) == (409, "duplicate_name")
    assert (await root("PATCH", "/v1/tenants/nowhere", {"weight": 2})).status == 404
    assert await pool.fetchval("SELECT count(*) FROM noonmark.tenant") == 1
    assert await pool.fetchval("SELECT count(*) FROM noonmark.audit") == 0


async def test_the_tenant_is_the_keys_own_unless_named(root: Holder) -> None:
    await make_tenants(root, "acme", "other")
    admin = await root.gives("admin", "acme")
    made = await admin("POST", "/v1/jobs", {"name": "clean", "task": "clean"})
    assert (made.status, made.json["tenant"]) == (201, "acme")
    named = await admin("GET", "/v1/jobs/clean", **{"Noonmark-Tenant": "acme"})
    assert named.json["id"] == made.json["id"]
    assert (await root("GET", "/v1/jobs/clean")).status == 404, "the default tenant has no such job"
    assert (await root("GET", "/v1/jobs/clean", **{"Noonmark-Tenant": "acme"})).status == 200


async def test_another_tenant_is_as_if_it_did_not_exist(root: Holder) -> None:
    await make_tenants(root, "acme", "other")
    admin = await root.gives("admin", "acme")

    def without_name(body: bytes, name: str) -> bytes:
        assert name.encode() in body
        return body.replace(name.encode(), b"")

    for method, path, body in (
        ("GET", "/v1/jobs", None),
        ("GET", "/v1/whoami", None),
        ("POST", "/v1/jobs", {"name": "a", "task": "clean"}),
        ("GET", "/v1/audit", None),
    ):
        there = await admin(method, path, body, **{"Noonmark-Tenant": "other"})
        nowhere = await admin(method, path, body, **{"Noonmark-Tenant": "nowhere"})
        assert (there.status, nowhere.status) == (404, 404)
        assert without_name(there.body, "other") == without_name(nowhere.body, "nowhere")
    for path in ("/v1/tenants/{}", "/v1/keys?tenant={}"):
        there = await admin("GET", path.format("other"))
        nowhere = await admin("GET", path.format("nowhere"))
        assert (there.status, nowhere.status) == (404, 404)
        assert without_name(there.body, "other") == without_name(nowhere.body, "nowhere")
    there = await admin("POST", "/v1/keys", {"name": "x", "role": "viewer", "tenant": "other"})
    assert there.status == 404
    assert [tenant["name"] for tenant in (await admin("GET", "/v1/tenants")).json["tenants"]] == ["acme"]
    assert (await admin("GET", "/v1/audit?installation=true")).status == 403


def texts(value: Any) -> set[str]:
    """Every string in an answer."""
    if isinstance(value, dict):
        return set().union(*map(texts, value.values()), set())
    if isinstance(value, list):
        return set().union(*map(texts, value), set())
    return {value} if isinstance(value, str) else set()


LISTS = sorted(row.path for row in TABLE if row.method == "GET" and row.need.key and "{" not in row.path)


async def test_two_tenants_see_nothing_of_each_other_in_any_list(root: Holder, pool: Pool) -> None:
    await make_tenants(root, "acme", "other")
    holders = {name: await root.gives("admin", name) for name in ("acme", "other")}
    for name, holder in holders.items():
        job = await holder("POST", "/v1/jobs", {"name": f"{name}-job", "task": "clean", "input": f"{name}-input"})
        assert job.status == 201
        run = await holder("POST", f"/v1/jobs/{name}-job/trigger", {"input": f"{name}-run"})
        assert run.status in (201, 202), run.body
    await pool.execute(
        """
        INSERT INTO noonmark.dead (shard, job_id, nominal_at, died_at, tenant_id, version, policy_id, priority, attempt,
                                   failures, reason, error)
        SELECT j.shard, j.job_id, now(), now(), j.tenant_id, 1, j.policy_id, 5, 1, 1, 1, t.name || '-error'
        FROM noonmark.job j JOIN noonmark.tenant t USING (tenant_id)
        """
    )
    theirs = {
        name: {
            *(await pool.fetchrow("SELECT array_agg(noonmark.job_text(job_id)) FROM noonmark.job"
                                  " JOIN noonmark.tenant USING (tenant_id) WHERE tenant.name = $1", name))[0],
            str(holders[name].key),
        }
        for name in holders
    }  # fmt: skip
    seen_own = 0
    for path in LISTS:
        for name, other in (("acme", "other"), ("other", "acme")):
            answer = await holders[name]("GET", path)
            assert answer.status in (200, 403), (path, answer.body)
            found = texts(answer.json)
            assert not {text for text in found if other in text}, path
            assert not found & theirs[other], path
            seen_own += any(name in text for text in found)
    assert seen_own >= 8, "what is looked at holds something at all"
    for name, other in (("acme", "other"), ("other", "acme")):
        [job] = [text for text in theirs[other] if text.startswith("job_")]
        for path in (f"/v1/jobs/{job}", f"/v1/jobs/{other}-job", f"/v1/jobs/{job}/runs", f"/v1/jobs/{job}/versions"):
            assert (await holders[name]("GET", path)).status == 404, path
        for method, path in (("POST", f"/v1/jobs/{job}/pause"), ("DELETE", f"/v1/jobs/{job}")):
            assert (await holders[name](method, path)).status == 404, path


async def test_what_others_fire_is_no_tenants_business(root: Holder) -> None:
    await make_tenants(root, "acme")
    jobs = [{"name": f"job-{n}", "task": "clean", "schedule": "0 9 * * *"} for n in range(1000)]
    assert (await root("POST", "/v1/jobs/batch", {"jobs": jobs})).status == 201
    asked = ("POST", "/v1/schedules/preview", {"schedule": "0 9 * * *"})
    assert b"crowd" in (await root(*asked)).body
    viewer = await root.gives("viewer", "acme")
    answer = await viewer(*asked)
    assert answer.status == 200
    assert b"crowd" not in answer.body
