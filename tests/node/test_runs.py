"""Runs from submission to their end: retries, dead letters, deadlines, timeouts, cancels."""

import asyncio
from datetime import timedelta
from itertools import pairwise

import asyncpg
import msgspec
import pytest

from noonmark import submit_in
from noonmark.clock import from_datetime
from noonmark.errors import Conflict, NotFound, TooLarge
from noonmark.model.policy import Retry
from noonmark.shard.limits import Limits
from noonmark.wire.resources import JobSpec, Submission
from noonmark.worker.nodes import NodeClient
from noonmark.worker.report import Reports
from tests.conftest import Engine, eventually
from tests.node.conftest import Stage
from tests.node.tasks import Seen


async def test_a_trigger_takes_the_jobs_input_or_its_own(stage: Stage) -> None:
    await stage.job("job", input=["own"])
    first = await stage.client.trigger_job("job")
    second = await stage.client.trigger_job("job", input={"what": "given"})
    assert await stage.ended(first) == await stage.ended(second) == ["succeeded"]
    assert sorted(stage.seen.calls) == sorted([(first, 1, "own"), (second, 1, "given")])


async def test_five_thousand_in_one_call_each_run_once(stage: Stage) -> None:
    for n in range(10):
        await stage.job(f"bulk-{n}")
    runs = await stage.client.submit(
        [Submission(job=f"bulk-{n % 10}", input=msgspec.Raw(b"[%d]" % n)) for n in range(5_000)]
    )
    assert len(set(runs)) == 5_000
    await stage.idle()
    assert sorted(stage.seen.whats()) == list(range(5_000))
    assert {call[0] for call in stage.seen.calls} == set(runs)


async def test_a_submission_belongs_to_the_users_transaction(stage: Stage) -> None:
    await stage.job("from-sql")
    user = await asyncpg.connect(stage.engine.database_url)
    try:
        await user.execute("CREATE TABLE orders (number integer)")
        async with user.transaction():
            await user.execute("INSERT INTO orders VALUES (1)")
            await user.execute("SELECT noonmark.submit('from-sql', '[\"sql\"]')")
            await submit_in(user, "from-sql", ["sdk"], priority=9)
            await stage.engine.ticked("inbox")
            assert await stage.engine.pool.fetchval("SELECT count(*) FROM noonmark.run") == 0
            assert stage.seen.calls == []
        await eventually(lambda: sorted(stage.seen.whats()) == ["sdk", "sql"])
        transaction = user.transaction()
        await transaction.start()
        await submit_in(user, "from-sql", ["never"])
        await transaction.rollback()
        at = (await stage.now()) + timedelta(seconds=1)
        await submit_in(user, "from-sql", ["later"], at=at)
        await stage.until(lambda: stage.seen.whats().count("later"), 5)
        assert (await stage.now()) >= at
        assert "never" not in stage.seen.whats()
        with pytest.raises(asyncpg.PostgresError, match="no job named"):
            await submit_in(user, "nobody")
        with pytest.raises(asyncpg.PostgresError, match="above the bound"):
            await submit_in(user, "from-sql", "x" * 70_000)
        await stage.client.pause_job("from-sql")
        with pytest.raises(asyncpg.PostgresError, match="is paused"):
            await submit_in(user, "from-sql")
    finally:
        await user.close()


async def test_a_failing_run_is_retried_then_dead_then_redriven(stage: Stage) -> None:
    await stage.job("failing", "fail", input=[3], retry=Retry(max_attempts=3, base_s=0.1, factor=2.0))
    run = await stage.client.trigger_job("failing")
    assert await stage.ended(run) == ["failed"] * 3
    attempts = await stage.client.attempts(run)
    assert [attempt.reason for attempt in attempts] == ["failed", "failed", "attempts_exhausted"]
    assert "no luck" in (attempts[-1].error or "")
    assert (await stage.client.get_run(run)).state == "dead"
    [dead] = (await stage.client.dead_letters("failing")).items
    assert (dead.run, dead.attempts, dead.reason) == (run, 3, "attempts_exhausted")
    assert "no luck" in (dead.error or "")
    for before, after in pairwise(attempts):
        assert timedelta(0) <= after.due_at - before.finished_at <= timedelta(seconds=0.3)
    assert await stage.client.redrive([run]) == 1
    await eventually(lambda: stage.seen.attempts_of(run) == [1, 2, 3, 4])
    await eventually(lambda: _state(stage, run, "succeeded"))
    assert (await stage.client.dead_letters("failing")).items == []
    assert await stage.client.redrive([run]) == 0


async def _state(stage: Stage, run: str, state: str) -> bool:
    return (await stage.client.get_run(run)).state == state


async def test_an_error_that_must_not_be_retried_is_not(stage: Stage) -> None:
    await stage.job("refusing", "refuse", retry=Retry(no_retry=("ValueError",)))
    run = await stage.client.trigger_job("refusing")
    assert await stage.ended(run) == ["failed"]
    assert (await stage.client.get_run(run)).reason == "not_retryable"


async def test_a_run_that_comes_too_late_expires(stage: Stage) -> None:
    await stage.engine.stop_worker(stage.worker)
    await stage.job("strict", start_deadline_s=0.5)
    await stage.job("patient")
    strict, patient = await stage.client.submit([Submission(job="strict"), Submission(job="patient")])
    await stage.pass_time(0.7)
    await stage.engine.start_worker(stage.seen.app)
    assert await stage.ended(strict) == ["expired"]
    assert await stage.ended(patient) == ["succeeded"]
    assert stage.seen.attempts_of(strict) == []


async def test_an_attempt_that_runs_too_long_times_out(stage: Stage) -> None:
    await stage.job("slow", "wait", timeout_s=0.3, retry=Retry(max_attempts=2, base_s=0.0))
    run = await stage.client.trigger_job("slow")
    assert await stage.ended(run) == ["timed_out", "timed_out"]
    assert (await stage.client.get_run(run)).state == "dead"


async def test_a_run_is_cancelled_wherever_it_stands(stage: Stage) -> None:
    await stage.job("hold", "hold")
    await stage.job("fails", "fail", retry=Retry(base_s=3600.0))
    running = await stage.client.trigger_job("hold")
    await eventually(lambda: stage.seen.calls)
    sleeping = await stage.client.trigger_job("hold", at=(await stage.now()) + timedelta(hours=1))
    retrying = await stage.client.trigger_job("fails")
    await eventually(lambda: _state(stage, retrying, "retrying"))
    for run in (running, sleeping, retrying):
        await stage.client.cancel_run(run)
    assert await stage.ended(running) == ["cancelled"]
    assert await stage.ended(sleeping) == ["cancelled"]
    assert sorted(await stage.ended(retrying)) == ["cancelled", "failed"]
    await stage.engine.stop_worker(stage.worker)
    waiting = await stage.client.trigger_job("hold")
    await stage.client.cancel_run(waiting)
    assert await stage.ended(waiting) == ["cancelled"]
    with pytest.raises(Conflict):
        await stage.client.cancel_run(waiting)
    with pytest.raises(NotFound):
        await stage.client.cancel_run("run_1_1")
    await stage.idle()


async def test_a_worker_without_the_task_never_receives_it(stage: Stage) -> None:
    await stage.engine.stop_worker(stage.worker)
    other = Seen()
    del other.app.tasks["hold"]
    await stage.engine.start_worker(other.app)
    stage.seen.gate.set()
    await stage.job("only-elsewhere", "hold")
    await stage.job("anywhere", "record")
    elsewhere, anywhere = await stage.client.submit([Submission(job="only-elsewhere"), Submission(job="anywhere")])
    assert await stage.ended(anywhere) == ["succeeded"]
    assert (await stage.client.get_run(elsewhere)).state == "waiting"
    await stage.engine.start_worker(stage.seen.app)
    assert await stage.ended(elsewhere) == ["succeeded"]
    assert other.attempts_of(elsewhere) == []
    await other.app.close()


async def test_a_large_input_arrives_whole_and_a_larger_one_is_refused(stage: Stage) -> None:
    await stage.job("large")
    text = "é" * 20_000
    run = await stage.client.trigger_job("large", input=[text])
    await stage.client.trigger_job("large", input=[text], at=(await stage.now()) + timedelta(seconds=0.5))
    await eventually(lambda: stage.seen.whats() == [text, text], 8)
    assert await stage.ended(run) == ["succeeded"]
    with pytest.raises(TooLarge):
        await stage.client.trigger_job("large", input=[text * 2])


async def test_poisoned_texts_break_nobody_else(stage: Stage) -> None:
    await stage.job("poison", "give", retry=Retry(max_attempts=1))
    await stage.job("plain")
    texts = [b'["raise"]', b'["return"]'] * 20
    poisoned = await stage.client.submit([Submission(job="poison", input=msgspec.Raw(text)) for text in texts])
    plain = await stage.client.submit([Submission(job="plain")] * 100)
    await stage.idle()
    outcomes = [await stage.ended(run) for run in poisoned[:2]]
    assert outcomes == [["failed"], ["succeeded"]]
    for run in plain:
        assert stage.seen.attempts_of(run) == [1]
    error = (await stage.client.attempts(poisoned[0]))[0].error or ""
    assert "in the text" in error
    assert "\0" not in error
    assert await stage.engine.pool.fetchval("SELECT count(*) FROM noonmark.node") == 1, "a life ended"


async def test_tenants_share_the_workers(stage: Stage) -> None:
    await stage.engine.pool.execute("INSERT INTO noonmark.tenant (name) VALUES ('small')")
    await stage.engine.stop_worker(stage.worker)
    small = stage.engine.client("small")
    await stage.job("big")
    await stage.client.submit([Submission(job="big", input=msgspec.Raw(b'["big"]'))] * 3_000)
    await small.create_job(JobSpec(name="small-job", task="record", input=msgspec.Raw(b'["small"]')))
    await small.submit([Submission(job="small-job")] * 300)
    await stage.engine.start_worker(stage.seen.app, concurrency=20, claim_max=20)
    await stage.idle(30)
    whats = stage.seen.whats()
    assert len(whats) == 3_300
    last_small = max(i for i, what in enumerate(whats) if what == "small")
    assert last_small < 900, "the small tenant waited behind the big one"
    with pytest.raises(NotFound):
        await small.get_job("big")


async def test_at_most_once_is_not_repeated_after_its_worker_is_lost(engine: Engine) -> None:
    await engine.start_node(limits=Limits(silence_us=1_500_000), heartbeat_s=0.3)
    seen = Seen()
    worker = await engine.start_worker(seen.app)
    stage = Stage(engine, engine.client(), seen, worker)
    await stage.job("once", "hold", delivery="at_most_once")
    await stage.job("more", "hold")
    once, more = await stage.client.submit([Submission(job="once"), Submission(job="more")])
    await eventually(lambda: len(seen.calls) == 2)
    [task] = [task for own, task in engine._workers if own is worker]
    task.cancel()  # without a farewell: it falls silent
    await asyncio.gather(task, return_exceptions=True)
    engine._workers.clear()
    for _ in range(2):
        await stage.pass_time(1)
        await engine.ticked("rescuer")
    seen.gate.set()
    await engine.start_worker(seen.app)
    assert await stage.ended(once) == ["lost"]
    gone = await stage.client.get_run(once)
    assert (gone.state, gone.reason) == ("dead", "at_most_once")
    assert await stage.ended(more) == ["lost", "succeeded"]
    nominal_us = from_datetime((await stage.client.get_run(more)).nominal_at)
    assert nominal_us % 1_000
    await seen.app.close()


async def test_at_most_once_is_not_repeated_after_its_worker_was_stopped(stage: Stage) -> None:
    await stage.job("once", "hold", delivery="at_most_once")
    await stage.job("more", "hold")
    once, more = await stage.client.submit([Submission(job="once"), Submission(job="more")])
    await eventually(lambda: len(stage.seen.calls) == 2)
    await stage.engine.stop_worker(stage.worker)  # with no time of grace: what runs is handed back
    stage.seen.gate.set()
    await stage.engine.start_worker(stage.seen.app)
    assert await stage.ended(more) == ["released", "succeeded"]
    assert await stage.ended(once) == ["released"]
    assert stage.seen.attempts_of(once) == [1]
    [dead] = (await stage.client.dead_letters("once")).items
    assert (dead.run, dead.reason) == (once, "at_most_once")
    told = [line.sentence for line in (await stage.client.explain_run(once)).story]
    assert told[-2].startswith("attempt 1 was handed back")
    assert "at most once" in told[-1]


async def test_at_most_once_goes_to_somebody_else_if_its_answer_was_lost(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node has granted the run, and its answer never arrives: the worker says so when it is asked."""
    await engine.start_node(limits=Limits(delivery_us=600_000), heartbeat_s=0.2)
    seen = Seen()
    stage = Stage(engine, engine.client(), seen, await engine.start_worker(seen.app))
    await stage.job("once", "record", delivery="at_most_once")
    hold, lost = Reports.hold, []

    def lose_the_first(self: Reports, grant: int, node: NodeClient, runs: int) -> bool:
        lost.append(grant)
        return len(lost) > 1 and hold(self, grant, node, runs)

    monkeypatch.setattr(Reports, "hold", lose_the_first)
    run = await stage.client.trigger_job("once")
    assert await stage.ended(run) == ["released", "succeeded"]
    assert stage.seen.attempts_of(run) == [2]
