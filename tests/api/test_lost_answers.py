"""When an owner's answer is lost: without a key nobody knows; with one it is asked again, and done once."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from noonmark.errors import OutcomeUnknown, Unavailable
from noonmark.node.commands.carry_out import _HANDLERS
from noonmark.node.life import Life
from noonmark.store.connect import Pool
from noonmark.wire.commands import Command, CreateJobs, SubmitRuns
from tests.api.conftest import Caller, RunningNode, names_at
from tests.api.strange_owner import http, strange_owner
from tests.conftest import eventually

KEY = {"Idempotency-Key": "k"}
REPLAYED = "Idempotent-Replayed"
COUNT_JOBS = "SELECT count(*) FROM noonmark.job"

Handler = Callable[[Life, Any], Awaitable[Any]]


def plant(
    monkeypatch: pytest.MonkeyPatch, at: RunningNode, kind: type[Command[Any]], planted: Callable[[Handler], Handler]
) -> None:
    """In the one process of both nodes, for the commands of one of them."""
    real = _HANDLERS[kind]
    failing = planted(real)

    async def handle(life: Life, command: Any) -> Any:
        return await (failing if at.node.life is life else real)(life, command)

    monkeypatch.setitem(_HANDLERS, kind, handle)


def away(real: Handler) -> Handler:
    async def handle(life: Life, command: Any) -> Any:
        raise Unavailable("the database of the owner is away")

    return handle


def done_but_lost(real: Handler) -> Handler:
    async def handle(life: Life, command: Any) -> Any:
        await real(life, command)
        raise OutcomeUnknown("the answer was lost")

    return handle


RUBBISH = {
    "hangs up": None,
    "no JSON": http("200 OK", b"<html>"),
    "another answer": http("200 OK", b'{"answer":"done","replayed":false}'),
    "a failure of its own": http("500 Internal Server Error", b"oh"),
    "no HTTP": b"hello\r\n\r\n",
}


@pytest.mark.parametrize("answer", RUBBISH.values(), ids=RUBBISH)
async def test_a_lost_answer_is_not_asked_for_again_without_a_key(
    call: Caller, node: RunningNode, database_url: str, answer: bytes | None
) -> None:
    async with strange_owner(database_url, node, answer) as owner:
        [name] = names_at(owner.address, node)
        told = await call("POST", "/v1/jobs", {"name": name, "task": "greet"})
        assert (told.status, told.json["code"], len(owner.asked)) == (504, "outcome_unknown", 1)
        assert "Idempotency-Key" in told.json["fix"]


async def test_with_a_key_it_is_asked_again_until_somebody_answers(
    call: Caller, node: RunningNode, database_url: str, pool: Pool
) -> None:
    async with strange_owner(database_url, node) as owner:
        [name] = names_at(owner.address, node)
        asking = asyncio.create_task(call("POST", "/v1/jobs", {"name": name, "task": "greet"}, headers=KEY))
        await eventually(lambda: len(owner.asked) > 1)
        assert len(set(owner.asked)) == 1, "the same each time"
        await owner.leave()
        made = await asking
        assert (made.status, made.json["name"]) == (201, name)
    assert await pool.fetchval(COUNT_JOBS) == 1


async def test_with_a_key_what_was_done_is_found_done(
    call: Caller, node: RunningNode, there: RunningNode, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = names_at(there.address, node, 2)
    plant(monkeypatch, there, CreateJobs, done_but_lost)
    lost = await call("POST", "/v1/jobs", {"name": names[0], "task": "greet"})
    assert (lost.status, lost.json["code"]) == (504, "outcome_unknown")
    made = await call("POST", "/v1/jobs", {"name": names[1], "task": "greet"}, headers=KEY)
    assert (made.status, made.json["name"], made.headers[REPLAYED]) == (201, names[1], "true")
    assert await pool.fetchval(COUNT_JOBS) == 2


async def test_a_batch_that_is_partly_done_says_which_and_a_repetition_does_the_rest(
    call: Caller, node: RunningNode, there: RunningNode, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = zip(names_at(there.address, node, 3), names_at(node.address, node, 3), strict=True)
    names = [name for pair in pairs for name in pair]
    jobs = {"jobs": [{"name": name, "task": "greet"} for name in names]}
    with monkeypatch.context() as failing:
        plant(failing, there, CreateJobs, away)
        for _ in range(2):
            told = await call("POST", "/v1/jobs/batch", jobs, headers=KEY)
            assert (told.status, told.json["code"]) == (503, "partly_done")
            here = ", ".join(f"jobs[{position}] {names[position]}" for position in (1, 3, 5))
            assert f"3 of 6 were done: {here}." in told.json["detail"]
            assert "the database of the owner is away" in told.json["detail"]
            assert "Idempotency-Key" in told.json["fix"]
    stored = {row["name"] for row in await pool.fetch("SELECT name FROM noonmark.job")}
    assert stored == set(names[1::2])
    rest = await call("POST", "/v1/jobs/batch", jobs, headers=KEY)
    assert (rest.status, [job["name"] for job in rest.json["jobs"]]) == (201, names)
    assert REPLAYED not in rest.headers, "half of it was done now"
    again = await call("POST", "/v1/jobs/batch", jobs, headers=KEY)
    assert (again.status, again.body, again.headers[REPLAYED]) == (201, rest.body, "true")
    assert await pool.fetchval("SELECT count(*) FROM noonmark.audit WHERE action = 'job.create'") == len(names)


@pytest.mark.parametrize("failure", [away, done_but_lost])
async def test_runs_of_a_batch_are_made_once_whatever_became_of_a_part(
    call: Caller,
    node: RunningNode,
    there: RunningNode,
    pool: Pool,
    monkeypatch: pytest.MonkeyPatch,
    failure: Callable[[Handler], Handler],
) -> None:
    [elsewhere], [here] = names_at(there.address, node), names_at(node.address, node)
    await call("POST", "/v1/jobs/batch", {"jobs": [{"name": n, "task": "greet"} for n in (here, elsewhere)]})
    order = [elsewhere, here, here, elsewhere, here, elsewhere]
    runs = {"runs": [{"job": name, "input": position} for position, name in enumerate(order)]}
    with monkeypatch.context() as failing:
        plant(failing, there, SubmitRuns, failure)
        first = await call("POST", "/v1/runs/batch", runs, headers=KEY)
        assert first.status == (503 if failure is away else 202)
    rest = await call("POST", "/v1/runs/batch", runs, headers=KEY)
    assert rest.status == 202
    told = [(await call("GET", f"/v1/runs/{run}")).json["job_name"] for run in rest.json["runs"]]
    assert told == order
    inputs = await pool.fetch("SELECT input::text FROM noonmark.run ORDER BY 1")
    assert [row["input"] for row in inputs] == [str(position) for position in range(len(order))]
