"""Labels, the filters of lists, and actions on all jobs that match."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.conftest import Engine, engine
from tests.node.calling import Calling, calling

__all__ = ["engine"]


@pytest.fixture
async def call(engine: Engine) -> AsyncIterator[Calling]:
    """Two nodes: whatever is asked of one, the other owns half of it."""
    await engine.start_node()
    await engine.start_node()
    async with calling(engine) as call:
        await call.done("PUT", "/v1/tasks", {"tasks": ["greet", "clean"]})
        yield call


async def make(call: Calling) -> None:
    jobs = [
        {
            "name": f"job-{n:02}",
            "task": "greet" if n % 2 else "clean",
            "queue": "slow" if n < 5 else "default",
            "labels": {"team": "data" if n % 3 else "web", **({"eu/region": "de:north"} if n < 10 else {})},
        }
        for n in range(20)
    ]
    await call.done("POST", "/v1/jobs/batch", {"jobs": jobs})


async def names(call: Calling, query: str) -> list[int]:
    """The numbers of the jobs, by pages of three; the count must be theirs."""
    found: list[int] = []
    cursor = ""
    while True:
        page = await call.done("GET", f"/v1/jobs?limit=3&count=true&{query}{cursor}")
        found += [int(job["name"].removeprefix("job-")) for job in page["jobs"]]
        if page["next_cursor"] is None:
            assert page["count"] == len(found)
            return found
        cursor = f"&cursor={page['next_cursor']}"


async def test_jobs_are_found_by_any_of_their_sides(call: Calling) -> None:
    await make(call)
    every = range(20)
    await call.done("POST", "/v1/jobs/job-06/pause")
    assert await names(call, "label=team:web") == [n for n in every if n % 3 == 0]
    assert await names(call, "label=team") == list(every)
    assert await names(call, "label=eu/region:de:north&label=team:data") == [n for n in range(10) if n % 3]
    assert await names(call, "label=team:web&state=paused") == [6]
    assert await names(call, "label=team:nobody") == []
    assert await names(call, "task=greet") == [n for n in every if n % 2]
    assert await names(call, "queue=default&task=clean") == [n for n in every if n >= 5 and n % 2 == 0]
    assert await names(call, "queue=slow") == list(range(5))
    assert await names(call, "task=unknown") == []
    assert await names(call, "state=active&name_prefix=job-0") == [n for n in range(10) if n != 6]
    assert await names(call, "label=team:web&task=greet&name_prefix=job-1") == [15]
    for query, field in {"label=Team": "label", "label=": "label", "state=odd": "state", "task=%00": "task"}.items():
        answer = await call("GET", f"/v1/jobs?{query}")
        assert (answer.status, answer.json["field"]) == (422, field)


async def test_labels_change_with_their_job_and_go_with_it(call: Calling) -> None:
    made = await call.done("POST", "/v1/jobs", {"name": "job-1", "task": "greet", "labels": {"a": "1", "b": ""}})
    assert made["labels"] == {"a": "1", "b": ""}
    await call.done("PATCH", "/v1/jobs/job-1", {"labels": {"a": "2"}})
    assert await names(call, "label=a:1") == await names(call, "label=b") == []
    assert await names(call, "label=a:2") == [1]
    await call.done("PATCH", "/v1/jobs/job-1", {"priority": 1})
    assert await names(call, "label=a") == [1]
    await call.done("DELETE", "/v1/jobs/job-1")
    assert await names(call, "label=a") == []
    assert await call.engine.pool.fetchval("SELECT count(*) FROM noonmark.job_label") == 0


async def test_labels_are_bounded(call: Calling) -> None:
    for labels, field in (
        ({"UPPER": "x"}, "labels"),
        ({"k" * 64: "x"}, "labels"),
        ({"": "x"}, "labels"),
        ({"k:v": "x"}, "labels"),
        ({"k": "x" * 256}, "labels.k"),
        ({"k": "a\nb"}, "labels.k"),
        ({f"k{n}": "" for n in range(21)}, "labels"),
    ):
        answer = await call("POST", "/v1/jobs", {"name": "a", "task": "greet", "labels": labels})
        assert (answer.status, answer.json["field"]) == (422, field), labels
    assert (await call("GET", "/v1/jobs/a")).status == 404


async def bulk(call: Calling, action: str, wanted: dict[str, Any], **more: Any) -> Any:
    return await call.done("POST", "/v1/jobs/bulk", {"action": action, "filter": wanted, **more})


async def test_an_action_on_all_that_match_is_counted_first(call: Calling) -> None:
    await make(call)
    web = {"labels": ["team:web"]}
    plan = await bulk(call, "pause", web, dry_run=True)
    assert (plan["matched"], plan["done"], plan["sample"][:2]) == (7, 0, ["job-00", "job-03"])
    assert await names(call, "state=paused") == []
    for body, status, field in (
        ({"action": "pause", "filter": web}, 422, "expect"),
        ({"action": "pause", "filter": web, "expect": 6}, 409, "expect"),
        ({"action": "pause", "filter": {}, "confirm": True}, 422, "filter"),
        ({"action": "pause", "confirm": True}, 422, "filter"),
        ({"action": "pause", "filter": {"labels": ["X"]}, "confirm": True}, 422, "filter.labels"),
    ):
        refused = await call("POST", "/v1/jobs/bulk", body)
        assert (refused.status, refused.json["field"]) == (status, field)
    assert await names(call, "state=paused") == []
    done = await bulk(call, "pause", web, expect=7)
    assert (done["matched"], done["done"], done["failed"], done["next_cursor"]) == (7, 7, [], None)
    assert await names(call, "state=paused") == await names(call, "label=team:web")
    again = await bulk(call, "resume", {"state": "paused", "name_prefix": "job-0"}, confirm=True)
    assert again["done"] == 4
    events = await call.engine.pool.fetchval("SELECT count(*) FROM noonmark.audit WHERE action = 'job.pause'")
    assert events == 7


async def test_a_long_one_goes_on_by_its_cursor(call: Calling) -> None:
    await make(call)
    rounds = []
    cursor = None
    while True:
        done = await bulk(call, "delete", {"task": "greet"}, confirm=True, limit=4, cursor=cursor)
        rounds.append((done["matched"], done["done"]))
        cursor = done["next_cursor"]
        if cursor is None:
            break
    assert rounds == [(10, 4), (6, 4), (2, 2)]
    assert await names(call, "") == [n for n in range(20) if n % 2 == 0]


async def test_named_jobs_that_are_gone_are_told(call: Calling) -> None:
    made = await call.done("POST", "/v1/jobs", {"name": "job-1", "task": "greet"})
    gone = await call.done("POST", "/v1/jobs", {"name": "job-2", "task": "greet"})
    await call.done("DELETE", "/v1/jobs/job-2")
    body = {"action": "pause", "jobs": [made["id"], gone["id"]], "confirm": True}
    done = await call.done("POST", "/v1/jobs/bulk", body)
    assert (done["matched"], done["done"]) == (1, 1)
    assert [(one["job"], one["code"]) for one in done["failed"]] == [(gone["id"], "not_found")]
