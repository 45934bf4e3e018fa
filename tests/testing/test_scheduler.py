"""What happens over the next three days, in milliseconds."""

import asyncio
import time
from datetime import UTC, datetime, timedelta

import pytest

from noonmark import App, Misfire, Retry, at, context, cron, delay, errors, every
from noonmark.testing import Scheduler

FRIDAY = "2026-03-27T00:00:00Z"


@pytest.fixture
def app() -> App:
    return App("http://127.0.0.1:1")


def test_a_cron_over_the_change_to_summer_time(app):
    seen: list[datetime] = []

    @app.task
    def report() -> str:
        seen.append(context().nominal_at)
        return "done"

    with Scheduler(app, FRIDAY) as s:
        s.schedule(report, cron("30 2 * * *", tz="Europe/Zurich"))
        s.advance(days=4)
        assert s.fires("report") == [
            "2026-03-27T02:30+01:00",
            "2026-03-28T02:30+01:00",
            "2026-03-29T03:00+02:00",
            "2026-03-30T02:30+02:00",
        ]
        assert s.fires("report", tz="UTC")[2] == "2026-03-29T01:00Z"
        assert [run.state for run in s.runs("report")] == ["succeeded"] * 4
        assert s.runs("report")[0].attempts[0].result == "done"
        assert s.next_fires("report", 1) == ["2026-03-31T02:30+02:00"]
    assert seen == [datetime.fromisoformat(text) for text in
                    ["2026-03-27T01:30Z", "2026-03-28T01:30Z", "2026-03-29T01:00Z", "2026-03-30T00:30Z"]]  # fmt: skip


def test_failures_wait_longer_each_time_and_then_die(app):
    @app.task(retry=Retry(max_attempts=4, base_s=60, factor=2))
    async def flaky() -> None:
        raise ConnectionError("nobody there")

    with Scheduler(app, FRIDAY) as s:
        run = s.submit(flaky)
        s.advance()
        assert (s.run(run).state, s.run(run).attempt) == ("retrying", 1)
        s.advance(hours=1)
        [dead] = s.dead()
        starts = [attempt.started_at - datetime.fromisoformat(FRIDAY) for attempt in dead.attempts]
        assert starts == [timedelta(minutes=m) for m in (0, 1, 3, 7)]
        assert (dead.reason, dead.attempt) == ("attempts_exhausted", 4)
        with pytest.raises(errors.RunFailed, match="nobody there"):
            run.result()
        assert s.redrive() == 1
        s.advance()
        assert (s.run(run).state, s.run(run).attempt) == ("retrying", 5)


def test_with_a_seed_the_backoff_is_spread(app):
    @app.task(retry=Retry(max_attempts=2, base_s=60))
    def flaky() -> None:
        raise OSError

    def second_attempt(seed: int) -> datetime:
        with Scheduler(app, FRIDAY, seed=seed) as s:
            run = s.submit(flaky)
            s.advance(hours=1)
            return s.run(run).attempts[1].started_at

    assert second_attempt(1) == second_attempt(1) != second_attempt(2)


def test_an_error_that_is_not_retried(app):
    @app.task(retry=Retry(no_retry=("ValueError",)))
    def strict() -> None:
        raise ValueError("never")

    with Scheduler(app) as s:
        s.submit(strict)
        s.advance()
        assert [run.reason for run in s.dead()] == ["not_retryable"]


def test_async_tasks_sleep_on_the_virtual_clock_beside_each_other(app):
    order: list[str] = []

    @app.task(timeout_s=7200)
    async def nap(name: str, minutes: int) -> str:
        await asyncio.sleep(minutes * 60)
        order.append(name)
        return name

    with Scheduler(app, FRIDAY) as s:
        long, short = s.submit(nap, "long", 90), s.submit(nap, "short", 30)
        s.advance(minutes=60)
        assert (s.run(long).state, short.result()) == ("running", "short")
        s.advance(minutes=60)
        assert (long.result(), order) == ("long", ["short", "long"])
        ended = s.run(long).attempts[0]
        assert ended.finished_at - ended.started_at == timedelta(minutes=90)


def test_timeouts(app):
    @app.task(timeout_s=60, retry=Retry(max_attempts=1))
    async def slow() -> None:
        await asyncio.sleep(61)

    @app.task(timeout_s=60, retry=Retry(max_attempts=1))
    def blocking() -> None: ...

    with Scheduler(app) as s:
        s.takes(blocking, seconds=90)
        s.submit(slow)
        s.submit(blocking)
        s.advance(minutes=2)
        assert [run.attempts[0].outcome for run in s.dead()] == ["timed_out", "timed_out"]


def test_a_fixed_delay_counts_from_the_end_of_the_run_before(app):
    @app.task
    def poll() -> None: ...

    with Scheduler(app, FRIDAY) as s:
        s.takes(poll, minutes=10)
        s.schedule(poll, delay("50m", max_runs=3))
        s.advance(days=1)
        assert s.fires("poll") == ["2026-03-27T00:50Z", "2026-03-27T01:50Z", "2026-03-27T02:50Z"]


def test_max_runs_does_not_count_what_passes_while_paused(app):
    @app.task
    def tick() -> None: ...

    with Scheduler(app, FRIDAY) as s:
        s.schedule(tick, every("1h", max_runs=3))
        s.advance(hours=1)
        s.pause("tick")
        s.advance(hours=5)
        with pytest.raises(errors.JobPaused):
            s.trigger("tick")
        s.resume("tick")
        s.advance(days=1)
        assert s.fires("tick") == ["2026-03-27T01:00Z", "2026-03-27T07:00Z", "2026-03-27T08:00Z"]


def test_a_retry_of_a_paused_job_waits_for_its_resume(app):
    @app.task(retry=Retry(max_attempts=2, base_s=60))
    def flaky() -> None:
        raise OSError

    with Scheduler(app) as s:
        s.schedule(flaky, every("1h"))
        s.advance(hours=1)
        s.pause("flaky")
        s.advance(days=1)
        [run] = s.runs("flaky")
        assert run.state == "parked"
        s.resume("flaky")
        s.advance()
        assert [run.state for run in s.runs("flaky")] == ["dead"]


@pytest.mark.parametrize(
    ("misfire", "caught_up"),
    [
        (Misfire("skip"), []),
        (Misfire("once"), ["2026-03-27T05:00Z"]),
        (Misfire("all", 2), ["2026-03-27T04:00Z", "2026-03-27T05:00Z"]),
        (Misfire("all", window_s=5000), ["2026-03-27T05:00Z"]),
    ],
)
def test_an_outage_ends_as_the_misfire_policy_says(app, misfire, caught_up):
    @app.task
    def tick() -> None: ...

    with Scheduler(app, FRIDAY) as s:
        s.schedule(tick, every("1h"), misfire=misfire)
        s.advance(hours=2)
        s.outage(hours=3, minutes=30)
        assert s.fires("tick") == ["2026-03-27T01:00Z", "2026-03-27T02:00Z", *caught_up]
        assert all(run.state == "succeeded" for run in s.runs())
        s.advance(hours=1)
        assert s.fires("tick")[-1] == "2026-03-27T06:00Z"


def test_triggers_inputs_and_times(app):
    @app.task
    def add(a: int, b: int = 1) -> int:
        return a + b

    with Scheduler(app, FRIDAY) as s:
        s.schedule(add, at(datetime(2026, 3, 28, tzinfo=UTC)), name="later", input={"a": 1})
        now = s.trigger("later", {"a": 10, "b": 20})
        tomorrow = s.trigger("later", at=datetime(2026, 3, 29, tzinfo=UTC))
        s.advance(hours=1)
        assert (now.result(), s.run(tomorrow).state) == (30, "waiting")
        s.cancel(tomorrow)
        s.advance(days=3)
        with pytest.raises(errors.RunCancelled):
            tomorrow.result()
        assert s.fires("later") == ["2026-03-28T00:00Z"]


def test_cancelling_and_deleting_stop_what_runs(app):
    @app.task
    async def forever() -> None:
        await asyncio.sleep(3000)

    with Scheduler(app) as s:
        first, second = s.submit(forever), s.submit(forever)
        s.advance(minutes=1)
        s.cancel(first)
        s.delete("task:forever")
        s.advance()
        assert [s.run(run).state for run in (first, second)] == ["cancelled", "cancelled"]


def test_a_start_deadline_during_an_outage(app):
    @app.task
    def urgent() -> None: ...

    with Scheduler(app, FRIDAY) as s:
        s.schedule(urgent, every("1h"), start_deadline_s=600)
        s.advance(minutes=30)
        s.outage(hours=1)
        assert [run.state for run in s.runs("urgent")] == ["expired"]


def test_tasks_that_use_the_sdk_themselves(app):
    @app.task
    async def child(number: int) -> int:
        await asyncio.sleep(5)
        return number * 2

    @app.task
    async def parent() -> int:
        runs = await child.submit_many([{"number": n} for n in range(3)])
        return sum([await run.result() for run in runs])

    @app.task
    def starter() -> None:
        child.sync.submit(21)

    with Scheduler(app) as s:
        total, started = s.submit(parent), s.submit(starter)
        s.advance(seconds=6)
        assert total.result() == 6
        assert s.run(started).state == "succeeded"
        assert sorted(run.attempts[0].result for run in s.runs("task:child")) == [0, 2, 4, 42]
        assert {job.name for job in app.sync.jobs.list()} == {"task:child", "task:parent", "task:starter"}


async def test_inside_an_async_test(app):
    @app.task
    async def hello(name: str) -> str:
        await asyncio.sleep(10)
        return f"Hello, {name}!"

    with Scheduler(app) as s:
        run = await hello.submit(name="Ada")
        s.advance(minutes=1)
        assert await run.result() == "Hello, Ada!"
        waiting = await hello.submit(name="Bob")
        with pytest.raises(RuntimeError, match=r"advance\(\)"):
            await waiting.result()


def test_real_threads_inside_a_task_are_waited_for(app):
    @app.task(timeout_s=5)
    async def threaded() -> str:
        await asyncio.to_thread(time.sleep, 0.05)
        return "waited"

    with Scheduler(app) as s:
        run = s.submit(threaded)
        s.advance(seconds=1)
        assert run.result() == "waited"


def test_blocking_tasks_see_no_event_loop(app):
    @app.task
    def blocking() -> int:
        return asyncio.run(asyncio.sleep(0, 7))

    with Scheduler(app) as s:
        run = s.submit(blocking)
        s.advance()
        assert run.result() == 7


def test_what_is_refused_in_real_life_is_refused_here(app):
    @app.task
    def tick(day: str) -> None: ...

    with Scheduler(app, FRIDAY) as s:
        with pytest.raises(TypeError, match="day"):
            s.schedule(tick, every("1h"))
        with pytest.raises(errors.NoonmarkError):
            s.schedule(tick, cron("61 * * * *"), input={"day": "x"})
        s.schedule(tick, every("1h"), input={"day": "x"})
        with pytest.raises(errors.DuplicateName):
            s.schedule(tick, every("1h"), input={"day": "x"})
        with pytest.raises(errors.NotFound):
            s.trigger("nobody")
        with pytest.raises(ValueError, match="forward"):
            s.advance(days=-1)
        with pytest.raises(ValueError, match="time zone"):
            s.advance(to="2026-04-01T00:00:00")
        assert [job.name for job in app.sync.jobs.list()] == ["tick"]


def test_afterwards_the_app_speaks_to_its_server_again(app):
    @app.task
    def tick() -> None: ...

    with Scheduler(app) as s:
        s.submit(tick)
    with pytest.raises(errors.Unavailable):
        tick.sync.submit()


def test_a_year_of_hours_takes_seconds_at_most(app):
    @app.task
    def tick() -> None: ...

    began = time.monotonic()
    with Scheduler(app) as s:
        s.schedule(tick, every("1h"))
        s.advance(days=365)
        assert len(s.fires("tick")) == 365 * 24
    assert time.monotonic() - began < 20
