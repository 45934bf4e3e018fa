"""Handles and repetitions against a real node and a real worker, from both halves of the SDK."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest

from noonmark import App, Retry, errors
from noonmark.client.handle import RunHandle
from tests.conftest import Engine, eventually
from tests.node.conftest import HEARTBEAT_S


class Lossy:
    """A proxy that lets a request through and then loses the answer, as often as it is told to."""

    def __init__(self, server: str) -> None:
        place = urlsplit(server)
        self._to = place.hostname, place.port
        self.address = ""
        self.lose = 0
        self.lost: list[bytes] = []

    async def pass_on(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        far, forth = await asyncio.open_connection(*self._to)

        async def requests() -> None:
            while data := await near.read(65536):
                forth.write(data)
            forth.close()

        sending = asyncio.create_task(requests())
        while data := await far.read(65536):
            if self.lose and data.startswith(b"HTTP/1.1 2"):
                self.lose -= 1
                self.lost.append(data)
                break
            back.write(data)
        sending.cancel()
        forth.close()
        back.close()


@asynccontextmanager
async def lossy(server: str) -> AsyncIterator[Lossy]:
    proxy = Lossy(server)
    listener = await asyncio.start_server(proxy.pass_on, "127.0.0.1", 0)
    proxy.address = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    yield proxy
    listener.close()


class Stage:
    def __init__(self, server: str) -> None:
        self.app = app = App(server)
        self.gate = asyncio.Event()

        @app.task(retry=Retry(max_attempts=1))
        async def hold(number: int) -> int:
            await self.gate.wait()
            if number < 0:
                raise ValueError("negative")
            return number

        self.hold = hold


@pytest.fixture
async def stage(engine: Engine) -> AsyncIterator[Stage]:
    await engine.start_node(heartbeat_s=HEARTBEAT_S)
    stage = Stage(engine.address)
    await engine.start_worker(stage.app)
    yield stage
    stage.gate.set()
    await stage.app.close()
    stage.app.sync.close()


async def running(run: RunHandle[int]) -> None:
    async def is_running() -> bool:
        return (await run.status()).state == "running"

    await eventually(is_running)


async def test_following_a_run_to_its_end(stage):
    run = await stage.hold.submit(7)
    states: list[str] = []
    async for state in run.follow(timeout_s=20):
        states.append(state.state)
        if state.state == "running":
            stage.gate.set()
    assert states[-2:] == ["running", "succeeded"]
    assert await run.result() == 7
    assert [line.code for line in (await run.explain()).story]


async def test_waiting_on_a_thread_without_a_loop(stage):
    run = stage.hold.sync
    waiting = asyncio.create_task(asyncio.to_thread(lambda: run.submit(7).result(timeout_s=20)))
    stage.gate.set()
    assert await waiting == 7


async def test_what_is_raised(stage):
    failing, stopped, slow = await stage.hold.submit_many([[-1], [1], [2]])
    for run in (failing, stopped, slow):
        await running(run)
    with pytest.raises(TimeoutError, match=f"{slow} is still running"):
        await slow.result(timeout_s=0.2)
    with pytest.raises(TimeoutError, match="is still running"):
        await asyncio.to_thread(stage.hold.sync.handle(slow).result, timeout_s=0.2)
    await stopped.cancel()
    with pytest.raises(errors.RunCancelled) as cancelled:
        await stopped.result(timeout_s=20)
    assert (cancelled.value.run, cancelled.value.state) == (stopped, "cancelled")
    stage.gate.set()
    with pytest.raises(errors.RunFailed, match="ValueError: negative") as failed:
        await failing.result(timeout_s=20)
    assert "Traceback" in failed.value.error
    with pytest.raises(errors.NotFound):
        await stage.app.handle("run_100_1").result()


async def test_a_dead_run_lives_again(stage):
    stage.gate.set()
    run = await stage.hold.submit(-1)
    with pytest.raises(errors.RunFailed):
        await run.result(timeout_s=20)
    assert (await run.retry()).state in ("waiting", "running", "dead")

    async def attempts() -> bool:
        return len(await run.attempts()) == 2

    await eventually(attempts)


async def test_a_lost_answer_leaves_one_run(stage, engine):
    stage.gate.set()
    async with lossy(engine.address) as proxy:
        behind = Stage(proxy.address)
        await behind.hold.submit(1)
        proxy.lose = 2
        run = await behind.hold.submit(2)
        assert await run.result(timeout_s=20) == 2
        proxy.lose = 1
        again = await asyncio.to_thread(behind.hold.sync.submit, 3)
        assert str(again) == await asyncio.to_thread(lambda: again.status().id)
        assert len(proxy.lost) == 3
        await behind.app.close()
        behind.app.sync.close()
    runs = [found.id async for found in stage.app.jobs.runs("task:hold", page=2)]
    assert len(runs) == len(set(runs)) == 3
    assert {run, again} < set(runs)


async def test_pages_are_fetched_as_they_are_needed(stage):
    for number in range(5):
        await stage.hold.schedule("0 9 * * *", name=f"job-{number}", input=[number])
    names = [job.name async for job in stage.app.jobs.list(name_prefix="job-", page=2)]
    assert names == [f"job-{number}" for number in range(5)]
    assert await asyncio.to_thread(lambda: [job.name for job in stage.app.sync.jobs.list(name_prefix="job-")]) == names
