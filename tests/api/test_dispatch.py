"""From a request to the function that answers it: paths, methods, parameters, bodies, and the order of refusals."""

from datetime import datetime
from typing import Annotated

import aiohttp
import msgspec
import pytest

from noonmark.api.access.roles import ANY
from noonmark.api.dispatch.answer import Response, Stream
from noonmark.api.dispatch.endpoint import Endpoint
from noonmark.api.dispatch.routes import Routes
from noonmark.api.dispatch.signature import REQUIRED, Header, Query, read_signature
from noonmark.api.problems import MethodNotAllowed
from noonmark.api.table import TABLE
from noonmark.errors import NotFound
from noonmark.wire.resources import Job, Submission
from tests.api.conftest import Caller, StartNode
from tests.api.holders import ROOT, Holder


class Provided: ...


async def example(
    ref: str,
    data: Submission,
    call: Provided,
    limit: Annotated[int, msgspec.Meta(ge=1)] = 100,
    from_at: Annotated[datetime | None, Query("from")] = None,
    states: list[str] | None = None,
    if_match: Annotated[str | None, Header("If-Match"), msgspec.Meta(max_length=40)] = None,
) -> Response[Job] | Stream | None: ...


def test_a_signature_says_what_is_taken_and_answered() -> None:
    found = read_signature(Endpoint("POST", "/v1/jobs/{ref}", ANY, example))
    assert [(one.place, one.name, one.argument, one.default) for one in found.parameters] == [
        ("path", "ref", "ref", REQUIRED),
        ("query", "limit", "limit", 100),
        ("query", "from", "from_at", None),
        ("query", "states", "states", None),
        ("header", "If-Match", "if_match", None),
    ]
    assert [one.repeats for one in found.parameters] == [False, False, False, True, False]
    assert (found.body, found.needs_body, found.provided) == (Submission, True, {"call": Provided})
    assert found.answers == [Job, Stream, None]


def test_a_literal_part_goes_before_a_parameter() -> None:
    rows = [("GET", "/jobs/{ref}", "one"), ("POST", "/jobs/batch", "batch"), ("GET", "/jobs/{ref}/runs", "runs")]
    routes = Routes(rows)
    assert (routes.find("/jobs/a").target("GET"), routes.find("/jobs/a").values) == ("one", ["a"])
    assert routes.find("/jobs/batch").target("POST") == "batch"
    assert (routes.find("/jobs/batch/runs").target("GET"), routes.find("/jobs/batch/runs").values) == (
        "runs",
        ["batch"],
    )
    assert routes.find("/jobs/a/").target("HEAD") == "one"
    with pytest.raises(MethodNotAllowed) as refused:
        routes.find("/jobs/batch").target("GET")
    assert refused.value.allowed == "OPTIONS, POST"
    for nowhere in ("", "/", "/jobs", "/jobs//runs", "/jobs/a/runs/b", "jobs/a"):
        with pytest.raises(NotFound):
            routes.find(nowhere)


def test_two_rows_for_one_request_are_refused() -> None:
    with pytest.raises(AssertionError, match="stands twice"):
        Routes([("GET", "/a/{one}", 1), ("GET", "/a/{two}", 2)])


def test_every_row_says_what_it_does() -> None:
    assert [row.path for row in TABLE if not row.handler.__module__.startswith("noonmark.api.")] == []
    assert len({row.operation for row in TABLE}) == len(TABLE)


async def test_head_is_get_without_the_body(call: Caller) -> None:
    await call("POST", "/v1/jobs", {"name": "a", "task": "greet"})
    whole, head = await call("GET", "/v1/jobs/a"), await call("HEAD", "/v1/jobs/a")
    assert (head.status, head.body) == (200, b"")
    assert {**head.headers, "Date": ""} == {**whole.headers, "Date": ""}
    assert (await call("HEAD", "/v1/jobs/nobody")).status == 404
    run = (await call("POST", "/v1/jobs/a/trigger")).json["id"]
    stream = await call("HEAD", f"/v1/runs/{run}/follow")
    assert (stream.status, stream.headers["Content-Type"], stream.body) == (200, "text/event-stream", b"")


async def test_numbers_in_a_path(call: Caller) -> None:
    await call("POST", "/v1/jobs", {"name": "a", "task": "greet"})
    assert (await call("GET", "/v1/jobs/a/versions/1")).status == 200
    for number, status, field in (
        ("x", 404, None),
        ("1.0", 404, None),
        ("0", 422, "version"),
        ("9" * 30, 422, "version"),
    ):
        answer = await call("GET", f"/v1/jobs/a/versions/{number}")
        assert (answer.status, answer.json.get("field")) == (status, field), number


async def test_values_that_a_parameter_does_not_take(call: Caller) -> None:
    for query, field in (
        ("limit=x", "limit"),
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=", "limit"),
        ("state=asleep", "state"),
        ("count=perhaps", "count"),
        ("name_prefix=" + "x" * 201, "name_prefix"),
    ):
        answer = await call("GET", f"/v1/jobs?{query}")
        assert (answer.status, answer.json["code"], answer.json["field"]) == (422, "invalid_input", field), query
        assert answer.json["fix"]
    assert (await call("GET", "/v1/audit?from=yesterday")).json["field"] == "from"
    refused = await call("DELETE", "/v1/jobs/a", headers={"If-Match": "1" * 41})
    assert (refused.status, refused.json["field"]) == (422, "If-Match")
    assert (await call("GET", "/v1/jobs/?limit=1&count=true")).status == 200


async def test_the_role_is_told_before_anything_else(start_node: StartNode, session: aiohttp.ClientSession) -> None:
    root = Holder(Caller(session, (await start_node(token=ROOT)).address), ROOT)
    viewer = await root.gives("viewer")
    for method, path in (("POST", "/v1/jobs?colour=red"), ("PATCH", "/v1/jobs/nobody"), ("POST", "/v1/worker/claim")):
        assert (await viewer(method, path, {"nonsense": True})).status == 403
        assert (await root(method, path, {"nonsense": True})).status in (415, 422)


async def test_a_name_with_signs_of_its_own(call: Caller) -> None:
    await call("POST", "/v1/jobs", {"name": "a:b@c", "task": "greet"})
    assert (await call("GET", "/v1/jobs/a%3Ab%40c")).json["name"] == "a:b@c"
    assert (await call("GET", "/v1/jobs/%C3%A4")).status == 404
    assert (await call("GET", "/v1/jobs?name_prefix=%C3%A4")).json["field"] == "name_prefix"
