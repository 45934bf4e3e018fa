"""What fuzzing out of the document has found, one test for each."""

import aiohttp

from tests.api.conftest import Caller

JSON = {"Content-Type": "application/json"}


async def test_a_worker_with_names_that_cannot_be_stored(call: Caller) -> None:
    good = {"name": "w", "queues": ["q"], "tasks": ["t"], "concurrency": 1}
    for change in ({"name": "\0"}, {"queues": ["a\0"]}, {"tasks": ["t", "x" * 2000]}, {"concurrency": 0}):
        answer = await call("POST", "/v1/worker/register", good | change, headers=JSON)
        assert (answer.status, answer.json["field"]) == (422, next(iter(change)))


async def test_405_names_the_methods_that_are_allowed(call: Caller) -> None:
    assert (await call("GET", "/v1/worker/claim")).headers["Allow"] == "OPTIONS, POST"
    assert (await call("DELETE", "/v1/nodes")).headers["Allow"] == "GET, HEAD, OPTIONS"


async def test_options_names_all_methods_of_a_path(call: Caller, session: aiohttp.ClientSession) -> None:
    for path, methods in (("/v1/jobs", {"GET", "POST"}), ("/v1/jobs/a", {"GET", "PATCH", "DELETE"})):
        answer = await call("OPTIONS", path)
        assert answer.status == 204
        assert set(answer.headers["Allow"].split(", ")) >= methods | {"OPTIONS"}


async def test_a_task_that_cannot_be_stored(call: Caller) -> None:
    for method, path in (("POST", "/v1/jobs"), ("PUT", "/v1/jobs/a")):
        answer = await call(method, path, {"name": "a", "task": "t\0"})
        assert (answer.status, answer.json["field"]) == (422, "task")
