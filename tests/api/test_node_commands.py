"""What nodes send each other: only what is signed is looked at, and nothing is done past its deadline."""

import msgspec
import pytest

from noonmark.clock import SECOND_US
from noonmark.model.caller import SYSTEM
from noonmark.node.transport import PATH, SIGNATURE_HEADER, sign
from noonmark.store.connect import Connection, Pool
from noonmark.store.migrate import load_node_secret
from noonmark.wire.commands import Command, CreateJobs, SubmitRun
from noonmark.wire.resources import JobSpec, Submission
from tests.api.conftest import Answer, Caller, RunningNode, names_at

COUNT_JOBS = "SELECT count(*) FROM noonmark.job"


@pytest.fixture
async def secret(node: RunningNode, connection: Connection) -> str:
    return await load_node_secret(connection)


def create(node: RunningNode, in_s: float = 10.0, name: str = "a") -> CreateJobs:
    deadline_us = node.clock.now_us() + round(in_s * SECOND_US)
    return CreateJobs(tenant_id=1, caller=SYSTEM, deadline_us=deadline_us, specs=[JobSpec(name=name, task="greet")])


async def send(call: Caller, secret: str, command: Command[object]) -> Answer:
    body = msgspec.json.encode(command)
    return await call("POST", PATH, data=body, headers={SIGNATURE_HEADER: sign(secret, body)})


async def test_a_command_that_a_node_has_signed_is_carried_out(call: Caller, node: RunningNode, secret: str) -> None:
    answer = await send(call, secret, create(node))
    assert (answer.status, answer.json["replayed"], len(answer.json["answer"])) == (200, False, 1)
    assert (await call("GET", "/v1/jobs/a")).json["task"] == "greet"


async def test_a_wrong_signature_does_nothing(call: Caller, node: RunningNode, secret: str, pool: Pool) -> None:
    body = msgspec.json.encode(create(node))
    other = msgspec.json.encode(create(node, name="b"))
    for signature in (None, "", sign("guessed", body), sign(secret, other), sign(secret, body)[:-1]):
        headers = {} if signature is None else {SIGNATURE_HEADER: signature}
        answer = await call("POST", PATH, data=body, headers=headers)
        assert (answer.status, answer.json["code"]) == (401, "unauthorized")
    assert await pool.fetchval(COUNT_JOBS) == 0


async def test_past_its_deadline_nothing_is_done(call: Caller, node: RunningNode, secret: str, pool: Pool) -> None:
    await call("POST", "/v1/jobs", {"name": "known", "task": "greet"})
    late = create(node, in_s=-0.001)
    submission = SubmitRun(tenant_id=1, caller=SYSTEM, deadline_us=late.deadline_us, submission=Submission(job="known"))
    for command in (late, submission):
        answer = await send(call, secret, command)
        assert (answer.status, answer.json["code"]) == (503, "deadline_passed")
    assert await pool.fetchval(COUNT_JOBS) == 1
    assert await pool.fetchval("SELECT count(*) FROM noonmark.run") == 0


async def test_a_command_is_never_passed_on_twice(
    call: Caller, node: RunningNode, there: RunningNode, secret: str, pool: Pool
) -> None:
    [name] = names_at(there.address, node)
    answer = await send(call, secret, create(node, name=name))
    assert (answer.status, answer.json["code"]) == (503, "not_owner")
    assert await pool.fetchval(COUNT_JOBS) == 0


async def test_it_is_no_part_of_the_document(call: Caller, node: RunningNode) -> None:
    assert PATH not in (await call("GET", "/v1/openapi.json")).json["paths"]
