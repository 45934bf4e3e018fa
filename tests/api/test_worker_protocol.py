"""The worker protocol: both formats, refusals, and a claim that ends with its worker."""

import asyncio
from typing import Any

import aiohttp
import msgspec
import pytest

from noonmark.model.ids import run_text
from noonmark.model.reason import Outcome
from noonmark.wire.worker import Claim, ClaimAnswer, Heartbeat, Register, Registered, Report, ReportItem, RunGrant
from tests.api.conftest import Answer, Caller, RunningNode

FORMATS = {"application/json": msgspec.json, "application/msgpack": msgspec.msgpack}


async def send(call: Caller, verb: str, message: Any, kind: str = "application/json") -> Answer:
    body = FORMATS[kind].encode(message)
    return await call("POST", f"/v1/worker/{verb}", data=body, headers={"Content-Type": kind})


async def registered(call: Caller, kind: str = "application/json") -> int:
    answer = await send(call, "register", Register("w", ["default"], ["greet"], 10), kind)
    assert (answer.status, answer.headers["Content-Type"]) == (200, kind)
    return FORMATS[kind].decode(answer.body, type=Registered).worker


@pytest.mark.parametrize("kind", FORMATS)
async def test_an_answer_comes_in_the_format_of_the_question(call: Caller, kind: str) -> None:
    worker = await registered(call, kind)
    await call("POST", "/v1/jobs", {"name": "a", "task": "greet", "input": {"a": 1}})
    made = (await call("POST", "/v1/runs/batch", {"runs": [{"job": "a"}] * 500})).json["runs"]
    granted: list[RunGrant] = []
    while len(granted) < 500:
        answer = await send(call, "claim", Claim(worker, 500, 5), kind)
        claimed = FORMATS[kind].decode(answer.body, type=ClaimAnswer)
        assert claimed.runs
        granted += claimed.runs
        assert claimed.terms[claimed.runs[0].policy_id].task == "greet"
    assert sorted(run_text((run.job_id, run.nominal_us)) for run in granted) == sorted(made)
    assert {run.input for run in granted} == {'{"a":1}'}


async def test_an_unknown_worker_is_told_to_register_again(call: Caller) -> None:
    answer = await send(call, "heartbeat", Heartbeat(8, []), "application/msgpack")
    assert (answer.status, answer.json["code"]) == (410, "unknown_worker")
    assert answer.headers["Content-Type"] == "application/problem+json"


async def test_what_cannot_be_read_is_refused(call: Caller) -> None:
    wrong = await send(call, "claim", {"worker": "x", "max": 1})
    assert (wrong.status, wrong.json["field"]) == (422, "worker")
    broken = await call("POST", "/v1/worker/claim", data=b"{", headers={"Content-Type": "application/json"})
    assert (broken.status, broken.json["code"]) == (400, "malformed")
    other = await call("POST", "/v1/worker/claim", data=b"x", headers={"Content-Type": "text/plain"})
    assert (other.status, other.json["field"]) == (415, "Content-Type")
    large = await call("POST", "/v1/worker/claim", data=b" " * (17 << 20), headers={"Content-Type": "application/json"})
    assert large.status == 413


async def test_a_report_can_be_stored(call: Caller) -> None:
    worker = await registered(call)
    await call("POST", "/v1/jobs", {"name": "a", "task": "greet", "retry": {"max_attempts": 1}})
    made = (await call("POST", "/v1/jobs/a/trigger")).json["id"]
    claimed = msgspec.json.decode((await send(call, "claim", Claim(worker, 1, 5))).body, type=ClaimAnswer)
    [run] = claimed.runs
    ended = (claimed.grant, run.job_id, run.nominal_us, run.attempt)
    bad = ReportItem(*ended, Outcome.SUCCEEDED, None, 1, result="{")
    answer = await send(call, "report", Report(worker, [bad]))
    assert (answer.status, answer.json["field"]) == (422, "items[0].result")
    good = ReportItem(*ended, Outcome.FAILED, None, 1, error="a\0b")
    assert (await send(call, "report", Report(worker, [good]), "application/msgpack")).status == 200
    [attempt] = (await call("GET", f"/v1/runs/{made}/attempts")).json["attempts"]
    assert (attempt["outcome"], attempt["error"]) == ("failed", "a\ufffdb")


async def test_a_worker_that_hangs_up_cancels_its_claim(
    call: Caller, node: RunningNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = await registered(call)
    await call("POST", "/v1/jobs", {"name": "a", "task": "greet"})
    waiting, cancelled = asyncio.Event(), asyncio.Event()
    claim = node.node.claim

    async def watched(*asked: Any) -> ClaimAnswer:
        waiting.set()
        try:
            return await claim(*asked)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    monkeypatch.setattr(node.node, "claim", watched)
    async with aiohttp.ClientSession() as session:
        asking = asyncio.create_task(send(Caller(session, node.address), "claim", Claim(worker, 1, 20)))
        await waiting.wait()
        asking.cancel()
    await asyncio.wait_for(cancelled.wait(), 5)
    made = (await call("POST", "/v1/jobs/a/trigger")).json["id"]
    granted = msgspec.json.decode((await send(call, "claim", Claim(worker, 1, 5))).body, type=ClaimAnswer)
    assert [run_text((run.job_id, run.nominal_us)) for run in granted.runs] == [made], "not to the one that hung up"
