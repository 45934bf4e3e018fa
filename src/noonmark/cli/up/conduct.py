"""Starts the processes in order, watches over them, stops them in order."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

import msgspec

from noonmark.cli.child import ChildFailed, ManagedProcess, Say, kill_on
from noonmark.cli.stopping import Signals
from noonmark.cli.up.database import Database
from noonmark.cli.up.follow import SAMPLE, RunFollower, make_sample
from noonmark.client import Client

READY_WITHIN_S = 120.0
LOOK_S = 0.1
TRIM_S = 60.0
WORKER_GRACE_S = 10.0
NODE_GRACE_S = 20.0
"""Longer than a node gives its own processes."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    host: str
    port: int
    url: str
    database_url: str
    data_dir: Path
    workers: int
    sample: bool
    token: str | None
    """What the node asks for besides keys."""
    key: str
    """What the workers and we show."""
    shards: int
    processes: int


class Conductor:
    def __init__(self, settings: Settings, database: Database, say: Say, greet: Callable[[], None]) -> None:
        self._settings = settings
        self._database = database
        self._say = say
        self._greet = greet
        environment = {"NOONMARK_DATABASE_URL": settings.database_url}
        if settings.token:
            environment["NOONMARK_TOKEN"] = settings.token
        node = ["node", "--host", settings.host, "--port", str(settings.port), "--shards", str(settings.shards)]
        node += ["--processes", str(settings.processes)]
        self._node = self._child("node", node, environment, must_start=True)
        environment = {"NOONMARK_TOKEN": settings.key}
        work = ["--server", settings.url, "--grace-s", f"{WORKER_GRACE_S - 2:g}", "noonmark.sample:app"]
        self._workers = [
            self._child(f"worker-{number}", ["worker", "--name", f"up-{number}", *work], environment)
            for number in range(1, settings.workers + 1)
        ]

    async def run(self) -> None:
        """Until a signal. Raises ChildFailed if the node could not be started."""
        signals = Signals()
        chores: list[asyncio.Task[Any]] = []
        keeping = asyncio.create_task(self._node.keep())
        database = asyncio.create_task(self._database.keep(signals.stop, self._say))
        kept = [keeping]
        client = Client(self._settings.url, self._settings.key)
        try:
            if not await _before(signals.stop, keeping, self._until_ready()):
                return
            self._node.was_ready = True
            if self._settings.sample and not await _before(signals.stop, keeping, make_sample(client)):
                return
            self._greet()
            if self._settings.sample:
                chores.append(asyncio.create_task(RunFollower(client, SAMPLE, self._say).run()))
            chores.append(asyncio.create_task(self._trim_logs()))
            kept += [asyncio.create_task(worker.keep()) for worker in self._workers]
            await _before(signals.stop, keeping, asyncio.Event().wait())
        finally:
            for chore in chores:
                chore.cancel()
            await asyncio.gather(*chores, return_exceptions=True)
            await client.close()
            await self._stop(signals)
            signals.stop.set()
            await asyncio.gather(*kept, database, return_exceptions=True)

    async def _stop(self, signals: Signals) -> None:
        children = [*self._workers, self._node]
        if any(child.pid for child in children):
            last = ", PostgreSQL" if self._database.embedded else ""
            self._say(f"\nStopping: the workers, the node{last}. Ctrl-C again hurries.")
        killing = asyncio.create_task(kill_on(signals.kill, children))
        await asyncio.gather(*(worker.stop(WORKER_GRACE_S, signals.hurry) for worker in self._workers))
        await self._node.stop(NODE_GRACE_S, signals.hurry)
        killing.cancel()

    async def _until_ready(self) -> None:
        import aiohttp

        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(READY_WITHIN_S), aiohttp.ClientSession() as session:
                while True:
                    with contextlib.suppress(aiohttp.ClientError, OSError):
                        async with session.get(f"{self._settings.url}/readyz") as answer:
                            if answer.status == 200:
                                return
                    await asyncio.sleep(LOOK_S)
        raise ChildFailed(
            f"the node was not ready within {READY_WITHIN_S:g} s. The end of its log:\n{self._node.log_tail()}"
        )

    async def _trim_logs(self) -> None:
        while True:
            await asyncio.sleep(TRIM_S)
            for child in (self._node, *self._workers):
                child.trim_log()

    def _child(
        self, name: str, arguments: list[str], environment: Mapping[str, str], *, must_start: bool = False
    ) -> ManagedProcess:
        log_file = self._settings.data_dir / f"{name}.log"
        return ManagedProcess(name, arguments, dict(environment), log_file, self._say, must_start=must_start)


async def _before(stop: asyncio.Event, keeping: "asyncio.Task[None]", doing: Coroutine[Any, Any, Any]) -> bool:
    """Whether it was done before `stop`. Raises what it raises, or what ended the node."""
    done = asyncio.create_task(doing)
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({done, stopping, keeping}, return_when=asyncio.FIRST_COMPLETED)
        if stop.is_set():
            return False
        if keeping.done():
            keeping.result()
        await done
        return True
    finally:
        done.cancel()
        stopping.cancel()
        await asyncio.gather(done, stopping, return_exceptions=True)
