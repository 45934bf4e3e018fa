"""Sparse fields, parameters that do not exist, and 304."""

import pytest

from tests.api.conftest import Caller


@pytest.fixture
async def jobs(call: Caller) -> list[str]:
    names = ["a", "b", "c"]
    await call("POST", "/v1/jobs/batch", {"jobs": [{"name": n, "task": "greet", "input": {"x": [1]}} for n in names]})
    return names


async def test_one_resource_has_the_fields_that_were_asked_for(call: Caller, jobs: list[str]) -> None:
    whole = (await call("GET", "/v1/jobs/a")).json
    part = await call("GET", "/v1/jobs/a?fields=name,state,%20input")
    assert part.json == {name: whole[name] for name in ("name", "state", "input")}
    assert int(part.headers["Content-Length"]) == len(part.body)
    run = (await call("POST", "/v1/jobs/a/trigger")).json
    assert (await call("GET", f"/v1/runs/{run['id']}?fields=state")).json == {"state": "waiting"}


async def test_each_item_of_a_page_has_them_and_the_page_goes_on(call: Caller, jobs: list[str]) -> None:
    first = (await call("GET", "/v1/jobs?fields=name&limit=2")).json
    assert first["jobs"] == [{"name": "a"}, {"name": "b"}]
    rest = (await call("GET", f"/v1/jobs?fields=name&limit=2&cursor={first['next_cursor']}")).json
    assert (rest["jobs"], rest["next_cursor"]) == ([{"name": "c"}], None)
    assert (await call("GET", "/v1/shards?fields=shard")).json["shards"][0] == {"shard": 0}


@pytest.mark.parametrize("path", ["/v1/jobs", "/v1/jobs/a", "/v1/dead"])
async def test_a_field_that_does_not_exist(call: Caller, jobs: list[str], path: str) -> None:
    answer = await call("GET", f"{path}?fields=version,nonsense")
    assert (answer.status, answer.json["field"]) == (422, "fields")
    assert "'nonsense'" in answer.json["detail"]
    assert "version" in answer.json["fix"]
    for nothing in ("", ",", "%20"):
        assert (await call("GET", f"{path}?fields={nothing}")).json["field"] == "fields"


async def test_a_refusal_is_told_whole(call: Caller) -> None:
    answer = await call("GET", "/v1/jobs/none?fields=name")
    assert (answer.status, answer.json["code"]) == (404, "not_found")


async def test_a_parameter_that_does_not_exist(call: Caller, jobs: list[str]) -> None:
    for method, path, field in (
        ("GET", "/v1/jobs?limmit=2", "limmit"),
        ("GET", "/v1/version?a=1", "a"),
        ("POST", "/v1/jobs/a/pause?fields=id", "fields"),
    ):
        answer = await call(method, path)
        assert (answer.status, answer.json["code"], answer.json["field"]) == (422, "invalid_input", field)
    assert "limit" in (await call("GET", "/v1/jobs?limmit=2")).json["fix"]


async def test_a_parameter_that_is_given_twice_or_not_really(call: Caller, jobs: list[str]) -> None:
    for query, field in (("limit=1&limit=2", "limit"), ("limit=null", "limit"), ("fields=id&fields=name", "fields")):
        answer = await call("GET", f"/v1/jobs?{query}")
        assert (answer.status, answer.json["field"]) == (422, field)
    assert (await call("GET", "/v1/jobs?name_prefix=null")).status == 200
    assert (await call("GET", "/v1/jobs/a/runs?state=waiting&state=running")).status == 200


async def test_what_the_caller_has_already_is_not_sent(call: Caller, jobs: list[str]) -> None:
    tag = (await call("GET", "/v1/jobs/a")).headers["ETag"]
    for known in (tag, f"W/{tag}", f'"x", {tag}', "*"):
        answer = await call("GET", "/v1/jobs/a", headers={"If-None-Match": known})
        assert (answer.status, answer.body, answer.headers["ETag"]) == (304, b"", tag)
    assert (await call("GET", "/v1/jobs/a", headers={"If-None-Match": '"x"'})).status == 200
    # A job that is paused has the same version, and is not the same to look at.
    await call("POST", "/v1/jobs/a/pause")
    changed = await call("GET", "/v1/jobs/a", headers={"If-None-Match": tag})
    assert (changed.status, changed.json["state"]) == (200, "paused")
    assert changed.headers["ETag"] != tag


async def test_an_etag_is_good_for_if_match(call: Caller, jobs: list[str]) -> None:
    tag = (await call("GET", "/v1/jobs/a")).headers["ETag"]
    assert (await call("PATCH", "/v1/jobs/a", {"priority": 1}, headers={"If-Match": tag})).status == 200
    assert (await call("PATCH", "/v1/jobs/a", {"priority": 2}, headers={"If-Match": tag})).status == 412
    assert (await call("PATCH", "/v1/jobs/a", {"priority": 2}, headers={"If-Match": '"2"'})).status == 200
