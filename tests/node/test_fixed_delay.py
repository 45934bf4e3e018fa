"""Fixed delays: each run comes so long after the one before it ended, whatever happens to that one."""

from datetime import timedelta
from itertools import pairwise

from noonmark.clock import from_datetime
from noonmark.model.policy import Retry
from noonmark.schedule import Every, Manual
from noonmark.wire.resources import Job, JobPatch
from tests.conftest import Engine
from tests.node.conftest import Stage
from tests.node.tasks import Seen

SECOND_US = 1_000_000
DELAY = Every("1s", pace="delay")


async def ended_runs(stage: Stage, job: Job) -> list[tuple[int, int]]:
    """(nominal time, when it ended) of the ended runs of the schedule; no other run has a whole millisecond."""
    rows = await stage.engine.pool.fetch(
        "SELECT nominal_at, finished_at FROM noonmark.attempt WHERE final AND job_id = $1 ORDER BY 1",
        await stage.engine.pool.fetchval("SELECT job_id FROM noonmark.job WHERE name = $1", job.name),
    )
    return [(row[0], row[1]) for row in rows if row[0] % 1000 == 0]


async def waiting(stage: Stage, job: Job) -> list[tuple[int, str]]:
    runs = (await stage.client.list_runs(job.id)).items
    live = [run for run in runs if run.state in ("waiting", "parked", "running", "retrying")]
    return [(from_datetime(run.nominal_at), run.state) for run in live if from_datetime(run.nominal_at) % 1000 == 0]


async def reaches(stage: Stage, job: Job, count: int, within_s: float = 10.0) -> list[tuple[int, int]]:
    async def enough() -> bool:
        return len(await ended_runs(stage, job)) >= count

    await stage.until(enough, within_s)
    return await ended_runs(stage, job)


def apart_us(ended: list[tuple[int, int]]) -> list[int]:
    return [after[0] - before[1] for before, after in pairwise(ended)]


async def test_a_run_comes_one_delay_after_the_one_before_it_ended(stage: Stage) -> None:
    job = await stage.job("delayed", "hold", schedule=DELAY)
    assert job.next_at is not None
    assert timedelta(seconds=1) <= job.next_at - job.created_at < timedelta(seconds=1.5)
    for count in (1, 2, 3, 4):
        await stage.until(lambda count=count: len(stage.seen.calls) == count)
        await stage.pass_time(0.4)
        stage.seen.gate.set()
        assert await stage.ended(stage.seen.calls[-1][0]) == ["succeeded"]
        stage.seen.gate.clear()
    ended = await ended_runs(stage, job)
    assert len(ended) == 4
    assert all(SECOND_US <= us < SECOND_US + 1_000 for us in apart_us(ended))
    assert all(1.4 * SECOND_US <= b[0] - a[0] < 3 * SECOND_US for a, b in pairwise(ended))


async def test_a_fixed_delay_goes_on_after_a_failure_and_a_redrive_adds_no_second_run(stage: Stage) -> None:
    job = await stage.job("failing", "fail", schedule=DELAY, retry=Retry(max_attempts=2, base_s=0.0))
    ended = await reaches(stage, job, 2)
    assert all(SECOND_US <= us < SECOND_US + 1_000 for us in apart_us(ended))
    dead = (await stage.client.dead_letters("failing")).items
    assert len(dead) == 2
    assert await stage.client.redrive([letter.run for letter in dead]) == 2
    await reaches(stage, job, 6, 15)
    by_nominal = sorted(dict(await ended_runs(stage, job)))
    assert all(b - a > SECOND_US for a, b in pairwise(by_nominal)), "two runs at a time"
    assert len(await waiting(stage, job)) <= 1


async def test_a_trigger_beside_a_fixed_delay_leaves_it_alone(stage: Stage) -> None:
    job = await stage.job("delayed", schedule=DELAY)
    for _ in range(5):
        run = await stage.client.trigger_job(job.id)
        assert await stage.ended(run) == ["succeeded"]
    ended = await reaches(stage, job, 3)
    assert all(SECOND_US <= us < SECOND_US + 1_000 for us in apart_us(ended))
    assert len(await waiting(stage, job)) <= 1


async def test_a_cancelled_run_is_followed_wherever_it_stood(stage: Stage) -> None:
    """Beyond the lookahead, within it, and with a worker."""
    far = await stage.job("far", schedule=Every("10s", pace="delay"))
    near = await stage.job("near", schedule=Every("2s", pace="delay"))
    for job, delay_s in ((far, 10), (near, 2)):
        [(first_us, _)] = await waiting(stage, job)
        run = (await stage.client.list_runs(job.id)).items[0]
        await stage.client.cancel_run(run.id)
        assert await waiting(stage, job) == [(first_us + delay_s * SECOND_US, "waiting")]
    held = await stage.job("held", "hold", schedule=DELAY)
    await stage.until(lambda: stage.seen.calls, 5)
    await stage.client.cancel_run(stage.seen.calls[0][0])
    await reaches(stage, held, 1)
    await stage.until(lambda: len(stage.seen.calls) >= 2, 5)


async def test_a_run_that_comes_too_late_to_start_is_followed(stage: Stage) -> None:
    await stage.engine.stop_worker(stage.worker)
    job = await stage.job("late", schedule=DELAY, start_deadline_s=0.1)
    await stage.pass_time(1.5)
    await stage.engine.start_worker(stage.seen.app)
    ended = await reaches(stage, job, 2)
    outcomes = await stage.engine.pool.fetch("SELECT outcome FROM noonmark.attempt ORDER BY nominal_at LIMIT 1")
    assert outcomes[0][0] == 7
    assert apart_us(ended)[0] >= SECOND_US


async def test_a_paused_fixed_delay_stands_still_and_goes_on(stage: Stage) -> None:
    job = await stage.job("delayed", schedule=DELAY)
    await reaches(stage, job, 1)
    await stage.client.pause_job(job.id)
    count = len(await ended_runs(stage, job))
    await stage.pass_time(1.5)
    assert len(await ended_runs(stage, job)) == count
    [(current_run_us, state)] = await waiting(stage, job)
    assert state == "parked"
    await stage.client.resume_job(job.id)
    ended = await reaches(stage, job, count + 3)
    assert ended[count][0] == current_run_us
    assert all(us >= SECOND_US for us in apart_us(ended))


async def test_a_run_that_ends_during_a_pause_is_followed_after_it(stage: Stage) -> None:
    job = await stage.job("held", "hold", schedule=DELAY)
    await stage.until(lambda: stage.seen.calls, 5)
    await stage.client.pause_job(job.id)
    stage.seen.gate.set()
    await reaches(stage, job, 1)
    await stage.client.update_job(job.id, JobPatch(priority=3))
    await stage.pass_time(1.2)
    assert await waiting(stage, job) == []
    resumed_us = from_datetime((await stage.client.resume_job(job.id)).updated_at)
    [(next_us, _)] = await waiting(stage, job)
    assert 0 <= next_us - resumed_us - SECOND_US < 1_000
    await reaches(stage, job, 3)


async def test_a_change_gives_the_next_run_its_terms(stage: Stage) -> None:
    job = await stage.job("delayed", input=["old"], schedule=Every("2s", pace="delay"))
    [(first_us, _)] = await waiting(stage, job)
    await stage.client.update_job(job.id, JobPatch(task="hold"))
    assert await waiting(stage, job) == [(first_us, "waiting")], "its time stays"
    await stage.until(lambda: stage.seen.calls, 6)
    await stage.client.update_job(job.id, JobPatch(schedule=Every("30s", pace="delay")))
    stage.seen.gate.set()
    [(_, ended_us)] = await reaches(stage, job, 1)
    [(next_us, _)] = await stage.until(lambda: waiting(stage, job))
    assert 0 <= next_us - ended_us - 30 * SECOND_US < 1_000, "the new delay follows the run that was going on"
    changed = await stage.client.update_job(job.id, JobPatch(schedule=Every("1s", pace="delay"), task="record"))
    [(sooner_us, _)] = await waiting(stage, job)
    assert 0 <= sooner_us - from_datetime(changed.updated_at) - SECOND_US < 1_000
    await reaches(stage, job, 3)
    await stage.client.update_job(job.id, JobPatch(schedule=Manual()))
    count = len(stage.seen.calls)
    await stage.pass_time(1.5)
    assert len(stage.seen.calls) <= count + 1
    assert await waiting(stage, job) == []


async def test_a_paused_fixed_delay_can_be_changed(stage: Stage) -> None:
    job = await stage.job("delayed", input=["old"], schedule=Every("3s", pace="delay"))
    [(first_us, _)] = await waiting(stage, job)
    await stage.client.pause_job(job.id)
    await stage.client.update_job(job.id, JobPatch(priority=1))
    assert await waiting(stage, job) == [(first_us, "parked")]
    await stage.client.update_job(job.id, JobPatch(schedule=DELAY))
    assert await waiting(stage, job) == []
    resumed_us = from_datetime((await stage.client.resume_job(job.id)).updated_at)
    ended = await reaches(stage, job, 2)
    assert 0 <= ended[0][0] - resumed_us - SECOND_US < 1_000


async def test_a_fixed_delay_keeps_to_its_bounds(stage: Stage) -> None:
    now = (await stage.now()).replace(microsecond=0)
    start = now + timedelta(seconds=2)
    job = await stage.job("starts", schedule=Every("1s", pace="delay", start=start, max_runs=3))
    ends = await stage.job("ends", schedule=Every("1s", pace="delay", end=now + timedelta(seconds=4)))
    ended = await reaches(stage, job, 3)
    assert ended[0][0] == from_datetime(start)
    await reaches(stage, ends, 2)
    await stage.idle()
    await stage.pass_time(1.2)
    assert len(await ended_runs(stage, job)) == 3
    assert all(us <= from_datetime(now) + 4 * SECOND_US for us, _ in await ended_runs(stage, ends))
    for one in (job, ends):
        await stage.client.pause_job(one.id)
        resumed = await stage.client.resume_job(one.id)
        assert resumed.next_at is None


async def test_a_deleted_fixed_delay_is_over(stage: Stage) -> None:
    job = await stage.job("gone", "hold", schedule=DELAY)
    await stage.until(lambda: stage.seen.calls, 5)
    await stage.client.delete_job(job.id)
    await stage.idle()
    await stage.pass_time(1.2)
    assert len(stage.seen.calls) == 1


async def test_a_fixed_delay_goes_on_under_the_next_node(engine: Engine) -> None:
    """With a run that waits, and with one that runs meanwhile."""
    first, second = await engine.start_node(), await engine.start_node()
    engine.address = f"{first},{second}"
    seen = Seen()
    worker = await engine.start_worker(seen.app)
    engine.address = second
    stage = Stage(engine, engine.client(), seen, worker)
    jobs = [await stage.job(f"slow-{n}", "wait", input=[1.5], schedule=DELAY) for n in range(6)]
    jobs += [await stage.job(f"quick-{n}", schedule=DELAY) for n in range(6)]
    await reaches(stage, jobs[-1], 2)
    await stage.until(lambda: "wait" in seen.whats(), 5)
    await engine.stop_node(first)
    before = {job.id: len(await ended_runs(stage, job)) for job in jobs}
    for job in jobs:
        ended = await reaches(stage, job, before[job.id] + 2, 20)
        assert all(us >= SECOND_US for us in apart_us(ended))
        await stage.until(lambda job=job: waiting(stage, job), 5)
        assert len(await waiting(stage, job)) <= 1
    await seen.app.close()
