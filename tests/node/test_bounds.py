"""Start, end, a number of runs, and how far back a job catches up."""

from datetime import timedelta

import pytest

from noonmark.clock import from_datetime
from noonmark.model.job import Misfire
from noonmark.schedule import Cron, Every, Times
from noonmark.wire.resources import Job, JobPatch
from tests.conftest import Engine, eventually
from tests.node.conftest import Stage
from tests.node.tasks import Seen

SECOND_US = 1_000_000


async def nominals(stage: Stage, job: Job) -> list[int]:
    runs = (await stage.client.list_runs(job.id)).items
    return sorted(from_datetime(run.nominal_at) for run in runs)


async def over(stage: Stage, job: Job) -> bool:
    return (await stage.client.get_job(job.id)).next_at is None


@pytest.mark.parametrize("ahead_s", [2, 5])
async def test_nothing_comes_before_the_start_or_after_the_end(stage: Stage, ahead_s: int) -> None:
    """Within the lookahead, where creating the job makes the runs, and beyond it, where ticks do."""
    start = (await stage.now()).replace(microsecond=0) + timedelta(seconds=ahead_s)
    end = start + timedelta(seconds=2)
    job = await stage.job("bounded", schedule=Every("1s", start=start, end=end))
    assert job.next_at == start
    first_us = from_datetime(start)
    await stage.until(lambda: over(stage, job), 12)
    await stage.until(lambda: len(stage.seen.calls) == 3, 5)
    await stage.pass_time(1.2)
    assert await nominals(stage, job) == [first_us, first_us + SECOND_US, first_us + 2 * SECOND_US]


async def test_so_many_runs_and_no_more(stage: Stage) -> None:
    job = await stage.job("few", schedule=Cron("* * * * * *", max_runs=5))
    await stage.until(lambda: over(stage, job), 12)
    await stage.pass_time(1.5)
    made = await nominals(stage, job)
    assert made == list(range(made[0], made[0] + 5 * SECOND_US, SECOND_US))


async def test_what_passes_during_a_pause_does_not_count(stage: Stage) -> None:
    job = await stage.job("few", schedule=Every("1s", max_runs=6))
    await stage.until(lambda: len(stage.seen.calls) == 2, 6)
    await stage.client.pause_job(job.id)
    await stage.client.pause_job(job.id)
    paused = from_datetime((await stage.client.get_job(job.id)).updated_at)
    await stage.pass_time(2.2)
    await stage.client.update_job(job.id, JobPatch(priority=2))
    resumed = from_datetime((await stage.client.resume_job(job.id)).updated_at)
    await stage.until(lambda: over(stage, job), 10)
    await stage.pass_time(1.5)
    made = await nominals(stage, job)
    assert len(made) == 6
    assert not [us for us in made if paused < us <= resumed]


async def test_the_count_goes_on_through_a_change_and_begins_anew_with_another_schedule(stage: Stage) -> None:
    job = await stage.job("few", schedule=Every("1s", max_runs=4))
    await stage.until(lambda: len(stage.seen.calls) == 2, 6)
    await stage.client.update_job(job.id, JobPatch(priority=2))
    await stage.until(lambda: over(stage, job), 8)
    await stage.pass_time(1.2)
    assert len(await nominals(stage, job)) == 4
    await stage.client.update_job(job.id, JobPatch(schedule=Every("1s", max_runs=3)))
    await stage.until(lambda: len(stage.seen.calls) == 7, 8)
    await stage.pass_time(1.2)
    assert len(await nominals(stage, job)) == 7


async def test_a_long_list_of_times_is_kept_whole(stage: Stage) -> None:
    """Its text is far longer than an index takes."""
    begin = (await stage.now()).replace(microsecond=0) + timedelta(seconds=2)
    # Spread by squares, so that the text does not compress well.
    times = tuple(begin + timedelta(seconds=n * n * 7919 + n) for n in range(900))
    await stage.job("listed", schedule=Times(times))
    await stage.job("too", schedule=Times(times))
    lengths = await stage.engine.pool.fetch("SELECT length(text) FROM noonmark.schedule")
    assert [row[0] > 5_000 for row in lengths] == [True]
    await stage.until(lambda: len(stage.seen.calls) == 2, 8)
    assert set(stage.seen.nominals_us) == {from_datetime(begin)}


AWAY = timedelta(hours=2)


async def away(stage: Stage, **misfires: tuple[Misfire, timedelta | None]) -> dict[str, list[int]]:
    """What jobs that fire every ten minutes catch up after two hours, and which end that long before now."""
    now = (await stage.now()).replace(microsecond=0)
    anchor = now - timedelta(minutes=5)
    for name, (misfire, ended) in misfires.items():
        await stage.job(name, input=[name], schedule=Every("10m", anchor=anchor, end=now + AWAY), misfire=misfire)
        if ended is not None:
            ends_us = from_datetime(now - ended)
            await stage.engine.pool.execute("UPDATE noonmark.job SET ends_at = $1 WHERE name = $2", ends_us, name)
    await stage.engine.stop_node()
    gap = "interval '2 hours'"
    await stage.engine.pool.execute(f"UPDATE noonmark.shard SET watermark = watermark - {gap}")
    await stage.engine.pool.execute(f"UPDATE noonmark.job SET planned_from = planned_from - {gap} - interval '1 hour'")
    await stage.engine.start_node()
    await stage.engine.start_worker(stage.seen.app)
    await eventually(lambda: stage.engine.pool.fetchval("SELECT count(*) > 0 FROM noonmark.attempt"), 10)
    await stage.idle()
    caught: dict[str, list[int]] = {name: [] for name in misfires}
    for us, name in zip(stage.seen.nominals_us, stage.seen.whats(), strict=True):
        caught[name].append((from_datetime(now) - us) // (60 * SECOND_US))
    return {name: sorted(minutes) for name, minutes in caught.items()}


@pytest.fixture
async def node(engine: Engine) -> Stage:
    await engine.start_node()
    seen = Seen()
    await seen.app.close()
    client = engine.client()
    await client.declare_tasks(sorted(seen.app.tasks))
    return Stage(engine, client, seen, None)  # type: ignore[arg-type]


async def test_what_was_missed_by_longer_than_the_window_is_not_caught_up(node: Stage) -> None:
    caught = await away(
        node,
        all=(Misfire("all", window_s=30 * 60), None),
        once=(Misfire("once", window_s=30 * 60), None),
        none=(Misfire("once", window_s=60), None),
        few=(Misfire("all", 2, window_s=30 * 60), None),
        unbounded=(Misfire("all"), None),
    )
    assert caught == {
        "all": [5, 15, 25], "once": [5], "none": [], "few": [5, 15], "unbounded": list(range(5, 125, 10)),
    }  # fmt: skip


async def test_a_job_that_ended_during_the_outage_catches_up_on_its_last_ones(node: Stage) -> None:
    """The latest missed one of the job is not the latest of the schedule that it shares with others."""
    hour = timedelta(hours=1)
    caught = await away(
        node,
        once=(Misfire("once"), hour),
        other=(Misfire("once"), hour + timedelta(minutes=20)),
        few=(Misfire("all", 3), hour),
        late=(Misfire("once", window_s=50 * 60), hour),
        skip=(Misfire("skip"), hour),
        going=(Misfire("once"), None),
        before=(Misfire("all"), timedelta(hours=3)),
    )
    assert caught == {
        "once": [65], "other": [85], "few": [65, 75, 85], "late": [], "skip": [], "going": [5], "before": [],
    }  # fmt: skip
