"""The worker protocol: both formats, refusals, and a claim that ends with its worker."""

import asyncio
from typing import Any

import aiohttp
import msgspec
import pytest

from noonmark.model.reason import Outcome
from noonmark.wire.worker import Claim, ClaimAnswer, Heartbeat, Register, Registered, Report, ReportItem
from tests.api.conftest import Answer, Caller
from tests.api.plain_node import PlainNode

FORMATS = {"application/json": msgspec.json, "application/msgpack": msgspec.msgpack}


async def send(call: Caller, verb: str, message: Any, kind: str = "application/json") -> Answer:
    body = FORMATS[kind].encode(message)
    return await call("POST", f"/v1/worker/{verb}", data=body, headers={"Content-Type": kind})


@pytest.mark.parametrize("kind", FORMATS)
async def test_an_answer_comes_in_the_format_of_the_question(call: Caller, kind: str) -> None:
    decode = FORMATS[kind].decode
    registered = await send(call, "register", Register("w", ["default"], ["greet"], 10), kind)
    assert registered.headers["Content-Type"] == kind
    assert decode(registered.body, type=Registered).worker == 7
    claimed = decode((await send(call, "claim", Claim(7, 500, 0), kind)).body, type=ClaimAnswer)
    assert len(claimed.runs) == 500
    assert claimed.terms[3].task == "t"


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


async def test_a_report_can_be_stored(call: Caller, node: PlainNode) -> None:
    bad = ReportItem(1, 1, 1, 1, Outcome.SUCCEEDED, None, 1, result="{")
    answer = await send(call, "report", Report(7, [bad]))
    assert (answer.status, answer.json["field"]) == (422, "items[0].result")
    good = ReportItem(1, 1, 1, 1, Outcome.FAILED, None, 1, error="a\0b")
    assert (await send(call, "report", Report(7, [good]), "application/msgpack")).status == 200
    assert [item.error for item in node.reports[0].items] == ["a�b"]


async def test_a_worker_that_hangs_up_cancels_its_claim(node: PlainNode) -> None:
    async with aiohttp.ClientSession() as session:
        asking = asyncio.create_task(send(Caller(session, node.address), "claim", Claim(7, 1, 20)))
        await node.claims_waiting.wait()
        asking.cancel()
    async with asyncio.timeout(5):
        await node.claim_cancelled.wait()
