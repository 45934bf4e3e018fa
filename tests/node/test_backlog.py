"""A backlog beyond the bounds of memory, and occurrences that nobody could fire in time."""

from datetime import timedelta

import msgspec

from noonmark.model.job import Misfire
from noonmark.schedule import Every
from noonmark.shard.limits import Limits
from noonmark.wire.resources import JobSpec, Submission
from tests.conftest import Engine, eventually
from tests.node.conftest import Stage
from tests.node.tasks import Seen

SECOND_US = 1_000_000


async def staged(engine: Engine, **settings: object) -> Stage:
    await engine.start_node(**settings)
    seen = Seen()
    await seen.app.close()
    client = engine.client()
    await client.declare_tasks(sorted(seen.app.tasks))
    return Stage(engine, client, seen, None)  # type: ignore[arg-type]


async def backlog_runs(stage: Stage) -> float:
    """As the node tells it; what the first tick has not reached yet is not counted."""
    text = (await stage.client._http.call("GET", "/metrics")).decode()
    lines = [
        line for line in text.splitlines() if line.startswith(("noonmark_backlog_runs{", "noonmark_backlog_spilled{"))
    ]
    values = [float(line.split()[-1]) for line in lines]
    return values[0] if len(values) == 2 and values[1] else 0.0


async def test_a_backlog_beyond_memory_drains_exactly_once(engine: Engine) -> None:
    stage = await staged(engine, limits=Limits(memory_runs=200, lane_runs=20, page_runs=50))
    specs = [JobSpec(name=f"job-{n}", task="record", priority=n % 3) for n in range(12)]
    await stage.client.create_jobs(specs)
    runs: list[str] = []
    for start in range(0, 4_000, 1_000):
        runs += await stage.client.submit(
            [Submission(job=f"job-{n % 12}", input=msgspec.Raw(b"[%d]" % n)) for n in range(start, start + 1_000)]
        )
    assert 0 < await eventually(lambda: backlog_runs(stage)) <= 260
    await engine.start_worker(stage.seen.app)
    await stage.idle(40)
    assert sorted(stage.seen.whats()) == list(range(4_000))
    assert sorted(call[0] for call in stage.seen.calls) == sorted(runs)


async def test_a_backlog_survives_a_change_of_its_node(engine: Engine) -> None:
    stage = await staged(engine, limits=Limits(memory_runs=100, lane_runs=20, page_runs=50))
    await stage.client.create_jobs([JobSpec(name=f"job-{n}", task="record") for n in range(12)])
    runs = await stage.client.submit([Submission(job=f"job-{n % 12}") for n in range(1_000)])
    await engine.stop_node()
    await engine.start_node(limits=Limits(memory_runs=100, lane_runs=20, page_runs=50))
    await engine.start_worker(stage.seen.app)
    await stage.idle(30)
    assert sorted(call[0] for call in stage.seen.calls) == sorted(runs)
    assert {call[1] for call in stage.seen.calls} == {1}


MISFIRES = {
    "skip": (Misfire("skip"), 0),
    "once": (Misfire("once"), 1),
    "all": (Misfire("all", 1_000), 12),
    "bounded": (Misfire("all", 5), 5),
}


async def test_after_an_outage_each_job_catches_up_as_its_policy_says(engine: Engine) -> None:
    stage = await staged(engine)
    # The last occurrence was 5 minutes ago, so none is near the edges of the outage.
    schedule = Every("10m", anchor=(await stage.now()).replace(microsecond=0) - timedelta(minutes=5))
    for name, (misfire, _) in MISFIRES.items():
        await stage.job(name, input=[name], schedule=schedule, misfire=misfire)
    await engine.stop_node()
    away = "interval '2 hours'"
    await engine.pool.execute(f"UPDATE noonmark.shard SET watermark = watermark - {away}")
    await engine.pool.execute(f"UPDATE noonmark.job SET planned_from = planned_from - {away} - interval '1 hour'")
    await engine.start_node()
    await engine.start_worker(stage.seen.app)
    for name, (_, expected) in MISFIRES.items():
        await eventually(lambda name=name, expected=expected: stage.seen.whats().count(name) >= expected, 10)
    await stage.idle()
    assert {name: stage.seen.whats().count(name) for name in MISFIRES} == {name: n for name, (_, n) in MISFIRES.items()}
    now_us = await engine.pool.fetchval("SELECT clock_timestamp()")
    latest_us = max(stage.seen.nominals_us)
    assert now_us - latest_us <= 601 * SECOND_US
    assert await engine.pool.fetchval("SELECT count(*) FROM noonmark.attempt WHERE final") == 18
    assert (
        await engine.pool.fetchval("SELECT count(*) FROM noonmark.gap WHERE to_at - from_at > interval '1 hour'") == 8
    )
