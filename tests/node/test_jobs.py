"""Creating, changing, pausing, resuming and deleting jobs, and what becomes of their runs."""

import asyncio
from datetime import timedelta
from itertools import pairwise

import msgspec
import pytest

from noonmark.clock import from_datetime
from noonmark.errors import DuplicateName, JobPaused, NotFound, VersionConflict
from noonmark.schedule import At, Cron, Every, Manual, Now
from noonmark.wire.resources import JobPatch, JobSpec, Submission
from tests.conftest import eventually
from tests.node.conftest import Stage

SECOND_US = 1_000_000


async def planned(stage: Stage, ref: str) -> list[int]:
    """Nominal times of the rows of a job that wait for their time."""
    job = await stage.client.get_job(ref)
    runs = (await stage.client.list_runs(job.id)).items
    return sorted(from_datetime(run.nominal_at) for run in runs if run.state == "waiting")


async def test_a_job_for_now_runs_once(stage: Stage) -> None:
    await stage.job("once", input=["a"], schedule=Now())
    await eventually(lambda: stage.seen.whats() == ["a"])
    await stage.idle()
    assert len(await stage.finals()) == 1


async def test_a_job_at_a_time_is_a_row_until_then(stage: Stage) -> None:
    at = (await stage.now()) + timedelta(seconds=4.5)
    job = await stage.job("later", schedule=At(at))
    [sleeps] = await stage.engine.pool.fetch("SELECT sleeps, due_at FROM noonmark.run")
    assert tuple(sleeps) == (True, from_datetime(at))
    await stage.until(lambda: stage.seen.calls, 8)
    started = await stage.now()
    assert timedelta(0) <= started - at < timedelta(seconds=1)
    assert stage.seen.nominals_us == [from_datetime(at)]
    await stage.idle()
    assert (await stage.client.get_job(job.id)).next_at is None


async def test_cron_and_every_fire_at_their_nominal_times(stage: Stage) -> None:
    every = await stage.job("every", input=["every"], schedule=Every("1s"))
    await stage.job("cron", input=["cron"], schedule=Cron("* * * * * *"))
    await stage.until(lambda: len(stage.seen.calls) >= 6, 8)
    for what in ("every", "cron"):
        nominals = [us for us, call in zip(stage.seen.nominals_us, stage.seen.calls, strict=True) if call[2] == what]
        assert nominals == list(range(nominals[0], nominals[-1] + 1, SECOND_US))
        assert nominals[0] % SECOND_US == 0
        assert nominals[0] - from_datetime(every.created_at) <= 2 * SECOND_US


async def test_nothing_starts_after_a_pause_and_all_that_waits_continues_after_the_resume(stage: Stage) -> None:
    job = await stage.job("paused", input=["tick"], schedule=Every("1s"))
    await stage.job("blocker", "hold")
    await stage.until(lambda: stage.seen.calls)
    # More submissions than the worker takes at once, so that some wait when the pause comes.
    runs = await stage.client.submit([Submission(job="paused", input=msgspec.Raw(b'["bulk"]')) for _ in range(3_000)])
    await stage.client.pause_job(job.id)
    at_pause = len(stage.seen.calls)
    with pytest.raises(JobPaused):
        await stage.client.trigger_job(job.id)
    await stage.pass_time(1.5)  # two occurrences pass
    started = len(stage.seen.calls)
    granted = await stage.engine.pool.fetchval("SELECT count(*) FROM noonmark.run WHERE NOT parked")
    assert granted == 0
    # What was granted before the pause may still have been starting then, but no more than was granted.
    assert started - at_pause <= 1_000
    before_us = from_datetime((await stage.client.get_job(job.id)).updated_at)
    parked = await stage.engine.pool.fetchval("SELECT count(*) FROM noonmark.run WHERE parked")
    assert parked == 3_000 - len({call[0] for call in stage.seen.calls} & set(runs)) + await waiting_ticks(stage)
    resumed = await stage.client.resume_job(job.id)
    after_us = from_datetime(resumed.updated_at)
    await eventually(lambda: {call[0] for call in stage.seen.calls} >= set(runs), 15)
    await stage.until(lambda: max(stage.seen.nominals_us) > after_us + SECOND_US, 5)
    ticks = sorted(us for us, call in zip(stage.seen.nominals_us, stage.seen.calls, strict=True) if call[2] == "tick")
    assert len(ticks) == len(set(ticks))
    assert not [us for us in ticks if before_us < us <= after_us], "an occurrence of the pause was fired"
    assert len([call for call in stage.seen.calls if call[2] == "bulk"]) == 3_000


async def waiting_ticks(stage: Stage) -> int:
    return int(await stage.engine.pool.fetchval("SELECT count(*) FROM noonmark.run WHERE parked AND reason = 1"))


async def test_a_retry_of_a_paused_job_is_parked_and_continues(stage: Stage) -> None:
    job = await stage.job("failing", "hold", retry={"max_attempts": 3, "base_s": 0.0})  # type: ignore[arg-type]
    run = await stage.client.trigger_job(job.id)
    await eventually(lambda: stage.seen.calls)
    await stage.client.pause_job(job.id)
    await stage.engine.stop_worker(stage.worker)  # hands the run back
    await eventually(lambda: _state(stage, run, "parked"))
    await stage.engine.start_worker(stage.seen.app)
    stage.seen.gate.set()
    await stage.pass_time(0.5)
    assert await _state(stage, run, "parked")
    await stage.client.resume_job(job.id)
    assert await stage.ended(run) == ["released", "succeeded"]


async def _state(stage: Stage, run: str, state: str) -> bool:
    return (await stage.client.get_run(run)).state == state


async def test_inbox_rows_and_dead_letters_of_a_paused_job_do_not_start(stage: Stage) -> None:
    job = await stage.job("failing", "fail", retry={"max_attempts": 1}, input=[1])  # type: ignore[arg-type]
    dead = await stage.client.trigger_job(job.id)
    assert await stage.ended(dead) == ["failed"]
    async with stage.engine.pool.acquire() as connection, connection.transaction():
        # In the inbox before the pause, drained after it.
        await connection.execute("SELECT noonmark.submit('failing')")
        await stage.client.pause_job(job.id)
    started = len(stage.seen.calls)
    assert await stage.client.redrive([dead]) == 1
    await eventually(lambda: stage.engine.pool.fetchval("SELECT count(*) = 2 FROM noonmark.run"), 5)
    await stage.pass_time(0.3)
    assert len(stage.seen.calls) == started
    await stage.client.resume_job(job.id)
    await eventually(lambda: len(stage.seen.calls) == started + 2)


async def test_a_change_replaces_what_was_planned(stage: Stage) -> None:
    job = await stage.job("changing", input=["old"], schedule=Every("1s"))
    await stage.until(lambda: len(stage.seen.calls) >= 2, 5)
    changed = await stage.client.update_job(
        job.id, JobPatch(schedule=Every("2s"), input=msgspec.Raw(b'["new"]')), version=1
    )
    assert changed.version == 2
    changed_us = from_datetime(changed.updated_at)
    await stage.until(lambda: stage.seen.whats().count("new") >= 2, 8)
    fired = list(zip(stage.seen.nominals_us, stage.seen.whats(), strict=True))
    assert all((what == "new") == (us > changed_us) for us, what in fired)
    new = sorted(us for us, what in fired if what == "new")
    assert all(b - a == 2 * SECOND_US for a, b in pairwise(new))
    with pytest.raises(VersionConflict):
        await stage.client.update_job(job.id, JobPatch(priority=1), version=1)


@pytest.mark.parametrize("verb", ["update", "pause and resume"])
async def test_a_single_run_is_not_repeated_by_a_change_of_its_job(stage: Stage, verb: str) -> None:
    at = (await stage.now()) + timedelta(seconds=0.3)
    await stage.job("now", input=["now"], schedule=Now())
    await stage.job("at", input=["at"], schedule=At(at))
    await stage.until(lambda: sorted(stage.seen.whats()) == ["at", "now"], 5)
    await stage.idle()
    for name in ("now", "at"):
        if verb == "update":
            await stage.client.update_job(name, JobPatch(priority=1))
        else:
            await stage.client.pause_job(name)
            await stage.client.resume_job(name)
    await stage.pass_time(0.5)
    assert sorted(stage.seen.whats()) == ["at", "now"]
    assert len(await stage.finals()) == 2


async def test_a_single_run_keeps_its_time_when_its_job_changes_before(stage: Stage) -> None:
    at = (await stage.now()) + timedelta(seconds=2.5)
    job = await stage.job("at", schedule=At(at))
    await stage.client.update_job(job.id, JobPatch(priority=1))
    await stage.client.pause_job(job.id)
    assert await planned(stage, job.id) == []
    await stage.client.resume_job(job.id)
    await stage.until(lambda: stage.seen.nominals_us == [from_datetime(at)], 8)
    await stage.idle()
    assert len(await stage.finals()) == 1


async def test_an_occurrence_that_was_cancelled_ahead_stays_cancelled(stage: Stage) -> None:
    job = await stage.job("soon", schedule=Every("1s"))
    await stage.until(lambda: stage.seen.calls)
    run = max((await stage.client.list_runs(job.id)).items, key=lambda run: run.nominal_at)
    await stage.client.cancel_run(run.id)
    await stage.client.pause_job(job.id)
    await stage.client.resume_job(job.id)
    await stage.until(lambda: max(stage.seen.nominals_us) > from_datetime(run.nominal_at), 8)
    assert run.id not in {call[0] for call in stage.seen.calls}
    assert await stage.ended(run.id) == ["cancelled"]


async def test_a_deleted_job_stops_and_says_so(stage: Stage) -> None:
    job = await stage.job("gone", "hold", schedule=Every("1s"))
    later = await stage.client.trigger_job(job.id, at=(await stage.now()) + timedelta(hours=1))
    await stage.until(lambda: stage.seen.calls)
    running = stage.seen.calls[0][0]
    await stage.client.delete_job(job.id)
    started = len(stage.seen.calls)
    with pytest.raises(NotFound):
        await stage.client.get_job(job.id)
    assert await stage.ended(later) == ["withdrawn"]
    assert await stage.ended(running) == ["cancelled"]
    await stage.idle()
    await stage.pass_time(1.2)
    assert len(stage.seen.calls) <= started + 1
    await stage.job("gone")


async def test_a_name_is_taken_once(stage: Stage) -> None:
    await stage.job("same")
    with pytest.raises(DuplicateName):
        await stage.job("same")
    made = await asyncio.gather(*(stage.job("race") for _ in range(5)), return_exceptions=True)
    assert sum(isinstance(one, DuplicateName) for one in made) == 4
    assert await stage.engine.pool.fetchval("SELECT count(*) FROM noonmark.job") == 2


async def test_many_jobs_are_created_together(stage: Stage) -> None:
    specs = [JobSpec(name=f"job-{n}", task="record", schedule=Manual()) for n in range(2_000)]
    assert len(await stage.client.create_jobs(specs)) == 2_000
    assert len({row[0] for row in await stage.engine.pool.fetch("SELECT shard FROM noonmark.job")}) == 8


async def test_jitter_is_the_jobs_own_and_stays_within_the_window(stage: Stage) -> None:
    specs = [
        JobSpec(name=f"j{n}", task="record", schedule=Every("2s"), jitter_s=1.5, input=msgspec.Raw(b"[%d]" % n))
        for n in range(30)
    ]
    await stage.client.create_jobs(specs)
    await stage.until(lambda: len(stage.seen.calls) >= 75, 12)
    rows = await stage.engine.pool.fetch("SELECT job_id, nominal_at, due_at FROM noonmark.attempt")
    offsets: dict[int, set[int]] = {}
    for job_id, nominal_us, due_us in rows:
        assert nominal_us % SECOND_US == 0
        offsets.setdefault(job_id, set()).add(due_us - nominal_us)
    assert all(len(own) == 1 for own in offsets.values())
    assert all(0 <= min(own) < 1.5 * SECOND_US for own in offsets.values())
    assert len({min(own) for own in offsets.values()}) > 20
