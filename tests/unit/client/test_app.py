"""Declaring tasks."""

from datetime import UTC, datetime

import pytest

import noonmark
from noonmark.errors import DuplicateName
from noonmark.schedule.spec import Cron, English, Every, Interval, Rrule, Solar, Times


def test_the_mode_follows_the_function():
    app = noonmark.App()

    @app.task
    async def on_loop() -> None: ...

    @app.task
    def in_thread() -> None: ...

    @app.task(mode="process", name="heavy", queue="big", timeout_s=5, retry=noonmark.Retry(max_attempts=1))
    def in_process() -> None: ...

    assert {name: task.mode for name, task in app.tasks.items()} == {
        "on_loop": "async",
        "in_thread": "thread",
        "heavy": "process",
    }
    assert (in_process.queue, in_process.timeout_s, in_process.retry.max_attempts) == ("big", 5, 1)
    assert in_process.standing_job == "task:heavy"


def test_a_task_is_callable_like_its_function():
    app = noonmark.App()

    @app.task
    def double(number: int) -> int:
        """Twice as much."""
        return number * 2

    assert double(21) == 42
    assert double.__doc__ == "Twice as much."


def test_two_tasks_of_one_name():
    app = noonmark.App()
    app.task(name="same")(lambda: None)
    with pytest.raises(DuplicateName, match="same"):
        app.task(name="same")(lambda: None)


def test_modes_that_cannot_be():
    app = noonmark.App()

    async def on_loop() -> None: ...

    with pytest.raises(TypeError, match="needs an async function"):
        app.task(mode="async")(lambda: None)
    with pytest.raises(TypeError, match="'async' or 'process'"):
        app.task(mode="thread")(on_loop)


def test_the_server_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("NOONMARK_SERVER", "http://elsewhere:1")
    monkeypatch.setenv("NOONMARK_TOKEN", "secret")
    app = noonmark.App()
    assert (app.server, app.token) == ("http://elsewhere:1", "secret")
    assert noonmark.App("http://here:2").server == "http://here:2"


def test_schedules():
    noon = datetime(2030, 1, 1, 12, tzinfo=UTC)
    assert noonmark.every("5s") == Every(every="5s")
    assert noonmark.delay("5m", max_runs=3) == Every(every="5m", pace="delay", max_runs=3)
    assert noonmark.cron("0 1 * * *", tz="Europe/Zurich") == Cron(cron="0 1 * * *", tz="Europe/Zurich")
    assert noonmark.rrule("FREQ=DAILY", tz="Europe/Zurich") == Rrule(rrule="FREQ=DAILY", tz="Europe/Zurich")
    assert noonmark.interval("R/2030-01-01T00:00Z/PT5M") == Interval(iso="R/2030-01-01T00:00Z/PT5M")
    assert noonmark.times([noon]) == Times(times=(noon,))
    assert noonmark.solar("sunset", latitude=1.5, longitude=2.5, offset="-30m") == Solar(
        solar="sunset", latitude=1.5, longitude=2.5, offset="-30m"
    )
    assert noonmark.english("every weekday at 9:30") == English(english="every weekday at 9:30")
    with pytest.raises(ValueError, match="time zone"):
        noonmark.at(datetime(2030, 1, 1))  # noqa: DTZ001
    with pytest.raises(ValueError, match="time zone"):
        noonmark.times([noon, datetime(2030, 1, 1)])  # noqa: DTZ001


def test_schedules_share_their_keywords():
    start = datetime(2030, 1, 1, tzinfo=UTC)
    made = noonmark.cron(
        "0 9 * * *", start=start, exclude=["sat-sun"], when_excluded="move", gap="skip", overlap="both"
    )
    assert made == Cron(
        cron="0 9 * * *", start=start, exclude=("sat-sun",), when_excluded="move", gap="skip", overlap="both"
    )
    assert noonmark.every("5m", only=["mon"], tz="Asia/Tokyo") == Every(every="5m", only=("mon",), tz="Asia/Tokyo")


def test_context_outside_of_a_run():
    with pytest.raises(RuntimeError, match="outside"):
        noonmark.context()
