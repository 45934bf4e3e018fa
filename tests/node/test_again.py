"""What is asked of runs after they failed: retry now, cancel all of a job, discard, and the stories of all that."""

from datetime import timedelta
from typing import Any

import aiohttp
import msgspec

from noonmark.model.ids import parse_run
from noonmark.model.policy import Retry
from noonmark.schedule import Every
from tests.conftest import eventually
from tests.node.conftest import Stage


class Answer(msgspec.Struct):
    status: int
    json: Any


async def ask(stage: Stage, method: str, path: str, body: Any = None) -> Answer:
    data = None if body is None else msgspec.json.encode(body)
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, stage.engine.address + path, data=data) as got,
    ):
        return Answer(got.status, msgspec.json.decode(await got.read() or b"null"))


async def state(stage: Stage, run: str) -> str:
    return (await stage.client.get_run(run)).state


async def codes(stage: Stage, run: str) -> list[str]:
    told = await ask(stage, "GET", f"/v1/runs/{run}/explanation")
    assert told.status == 200, told.json
    return [line["code"] for line in told.json["story"]]


async def actions(stage: Stage, subject: str) -> list[str]:
    rows = await stage.engine.pool.fetch(
        "SELECT action FROM noonmark.audit WHERE subject = $1 ORDER BY at, audit_id", subject
    )
    return [row[0] for row in rows]


async def test_a_retry_that_waits_is_due_now_and_a_dead_one_comes_back(stage: Stage) -> None:
    await stage.job("patient", "fail", input=[1], retry=Retry(max_attempts=2, base_s=3600.0))
    await stage.job("once", "fail", input=[1], retry=Retry(max_attempts=1))
    patient = await stage.client.trigger_job("patient")
    once = await stage.client.trigger_job("once")

    async def failed() -> bool:
        return (await state(stage, patient), await state(stage, once)) == ("retrying", "dead")

    await eventually(failed)
    for run in (patient, once):
        answer = await ask(stage, "POST", f"/v1/runs/{run}/retry")
        assert answer.status == 202, answer.json
    assert await stage.ended(patient) == ["failed", "succeeded"]
    await eventually(lambda: stage.seen.attempts_of(once) == [1, 2])
    assert await actions(stage, patient) == ["run.retry"]
    story = await codes(stage, patient)
    assert story == [
        "triggered", "attempt_began", "attempt_failed", "backoff", "retry_now", "attempt_began", "attempt_succeeded",
    ]  # fmt: skip

    async def told() -> bool:
        return (await codes(stage, once))[-3:] == ["redriven", "attempt_began", "attempt_succeeded"]

    await eventually(told)
    assert "gave_up" in await codes(stage, once)
    for run in (patient, once):
        await eventually(lambda run=run: _is(stage, run, "succeeded"))
        refused = await ask(stage, "POST", f"/v1/runs/{run}/retry")
        assert (refused.status, refused.json["code"]) == (409, "conflict")
        assert "trigger" in refused.json["fix"]


async def _is(stage: Stage, run: str, wanted: str) -> bool:
    return await state(stage, run) == wanted


async def test_a_run_that_was_never_tried_runs_or_is_parked_is_not_retried(stage: Stage) -> None:
    await stage.job("hold", "hold")
    await stage.job("parked", "fail", retry=Retry(base_s=3600.0))
    running = await stage.client.trigger_job("hold")
    await eventually(lambda: stage.seen.calls)
    later = await stage.client.trigger_job("hold", at=(await stage.now()) + timedelta(hours=1))
    parked = await stage.client.trigger_job("parked")
    await eventually(lambda: _is(stage, parked, "retrying"))
    await stage.client.pause_job("parked")
    for run, wanted in ((running, "running"), (later, "waiting"), (parked, "parked")):
        refused = await ask(stage, "POST", f"/v1/runs/{run}/retry")
        assert (refused.status, refused.json["code"]) == (409, "conflict"), run
        assert refused.json["fix"]
        assert await state(stage, run) == wanted
    assert (await ask(stage, "POST", "/v1/runs/run_1_1/retry")).status == 404
    assert (await codes(stage, running))[-1] == "running"
    assert (await codes(stage, later))[-2:] == ["due_later", "due"]
    assert (await codes(stage, parked))[-2:] == ["paused", "parked"]
    stage.seen.gate.set()
    assert await stage.ended(running) == ["succeeded"]


async def test_all_live_runs_of_a_job_are_cancelled_wherever_they_stand(stage: Stage) -> None:
    job = await stage.job("hold", "hold")
    await stage.job("other", queue="that-nobody-serves")
    running = await stage.client.trigger_job("hold")
    await eventually(lambda: stage.seen.calls)
    at = (await stage.now()) + timedelta(hours=1)
    asleep = [await stage.client.trigger_job("hold", at=at) for _ in range(3)]
    await stage.engine.stop_worker(stage.worker)

    async def alone() -> bool:
        return await state(stage, running) != "running"

    await eventually(alone)
    waiting = [await stage.client.trigger_job("hold") for _ in range(4)]
    other = await stage.client.trigger_job("other")
    answer = await ask(stage, "POST", "/v1/jobs/hold/cancel")
    assert (answer.status, answer.json) == (202, {"cancelled": 8, "stopping": 0})
    for run in (*asleep, *waiting, running):
        assert await state(stage, run) == "cancelled"
    assert await state(stage, other) == "waiting"
    assert (await ask(stage, "POST", "/v1/jobs/hold/cancel")).json == {"cancelled": 0, "stopping": 0}
    done = [action for action in await actions(stage, job.id) if action == "job.cancel"]
    assert len(done) == 2, "one entry for those in memory, one for those in rows"
    assert (await codes(stage, waiting[0]))[-2:] == ["cancel_asked", "cancelled"]
    assert (await codes(stage, other))[-1] == "no_worker"
    assert (await ask(stage, "POST", "/v1/jobs/nobody/cancel")).status == 404


async def test_running_ones_are_asked_to_stop(stage: Stage) -> None:
    await stage.job("hold", "hold")
    runs = [await stage.client.trigger_job("hold") for _ in range(3)]
    await eventually(lambda: len(stage.seen.calls) == 3)
    answer = await ask(stage, "POST", "/v1/jobs/hold/cancel")
    assert answer.json == {"cancelled": 0, "stopping": 3}
    for run in runs:
        assert await stage.ended(run) == ["cancelled"]
    await stage.idle()


async def test_a_cancelled_run_of_a_fixed_delay_is_followed_by_the_next(stage: Stage) -> None:
    await stage.job("delayed", schedule=Every(every="1h", pace="delay"))
    [first] = (await stage.client.list_runs("delayed")).items
    assert (await ask(stage, "POST", "/v1/jobs/delayed/cancel")).json["cancelled"] == 1
    runs = (await stage.client.list_runs("delayed")).items
    assert [run.state for run in runs] == ["waiting", "cancelled"]
    assert runs[1].id == first.id


async def test_a_discarded_dead_letter_is_gone_and_its_history_stays(stage: Stage) -> None:
    await stage.job("once", "fail", retry=Retry(max_attempts=1))
    runs = [await stage.client.trigger_job("once") for _ in range(2)]
    for run in runs:
        await eventually(lambda run=run: _is(stage, run, "dead"))
    discarded = await ask(stage, "POST", "/v1/dead/discard", {"runs": runs[:1]})
    assert (discarded.status, discarded.json["discarded"]) == (200, 1)
    assert [letter.run for letter in (await stage.client.dead_letters("once")).items] == runs[1:]
    assert await state(stage, runs[0]) == "dead"
    assert [attempt.outcome for attempt in await stage.client.attempts(runs[0])] == ["failed"]
    refused = await ask(stage, "POST", f"/v1/runs/{runs[0]}/retry")
    assert refused.status == 409
    assert "dead.discard" in await actions(stage, f"job_{runs[0].split('_')[1]}")
    assert (await codes(stage, runs[0]))[-1] == "discarded"
    assert "discarded" not in await codes(stage, runs[1])
    assert parse_run(runs[0]) != parse_run(runs[1])
