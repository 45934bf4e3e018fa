"""Real node and worker processes, started as a user would start them."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import aiohttp
import psutil

from bench.machine import family_cpu_s, family_peak_rss_mb
from noonmark.cli.lifeline import LIFELINE
from noonmark.clock import monotonic_s

ROOT = Path(__file__).resolve().parent.parent


class Process:
    def __init__(self, folder: Path, name: str, arguments: list[str], environment: dict[str, str]) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self.started_at = time.time()
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", *arguments],
                cwd=ROOT,
                env=os.environ | environment | {LIFELINE: "1"},
                stdin=subprocess.PIPE,  # the lifeline: it ends with this process
                stdout=log,
                stderr=log,
            )
        self.pid = self._process.pid

    def check(self) -> None:
        if (code := self._process.poll()) is not None:
            raise RuntimeError(f"{self.name} ended with status {code}:\n{self.tail()}")

    def tail(self) -> str:
        return self.log.read_bytes()[-3000:].decode(errors="replace")

    def cpu_s(self) -> float:
        return family_cpu_s(self.pid)

    def peak_rss_mb(self) -> float:
        return family_peak_rss_mb(self.pid)

    def signal_all(self, number: signal.Signals) -> None:
        """To it and whatever it has started."""
        for process in (psutil.Process(self.pid), *psutil.Process(self.pid).children(recursive=True)):
            process.send_signal(number)

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()


class Fleet:
    """One node and the workers of it; all are stopped, workers first, at the end of the block."""

    def __init__(self, database_url: str) -> None:
        self.database_url = database_url
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.server = f"http://127.0.0.1:{self.port}"
        self.folder = Path(tempfile.mkdtemp(prefix="noonmark-bench-"))
        self.workers: list[Process] = []
        self._node: Process | None = None

    @property
    def node(self) -> Process:
        assert self._node is not None
        return self._node

    def start_node(self, processes: int = 1) -> Process:
        arguments = ["noonmark", "node", "--database-url", self.database_url, "--port", str(self.port)]
        arguments += ["--processes", str(processes)]
        self._node = Process(self.folder, "node", arguments, {})
        return self._node

    def start_workers(self, count: int, concurrency: int, environment: dict[str, str] | None = None) -> None:
        for _ in range(count):
            arguments = ["noonmark", "worker", "bench.tasks:app", "--server", self.server]
            arguments += ["--concurrency", str(concurrency)]
            self.workers.append(Process(self.folder, f"worker-{len(self.workers) + 1}", arguments, environment or {}))

    def stop_workers_for_now(self) -> None:
        for worker in self.workers:
            worker.signal_all(signal.SIGSTOP)

    def continue_workers(self) -> None:
        for worker in self.workers:
            worker.signal_all(signal.SIGCONT)

    def check(self) -> None:
        for process in (*self.workers, *([self._node] if self._node else [])):
            process.check()

    async def ready(self, timeout_s: float = 60.0) -> None:
        """The node answers and owns its shards."""
        until_s = monotonic_s() + timeout_s
        async with aiohttp.ClientSession() as session:
            while True:
                self.check()
                try:
                    async with session.get(f"{self.server}/readyz") as answer:
                        if answer.status == 200:
                            return
                except aiohttp.ClientError:
                    pass
                if monotonic_s() > until_s:
                    raise RuntimeError(f"the node did not become ready:\n{self.node.tail()}")
                await asyncio.sleep(0.05)

    async def workers_known(self, timeout_s: float = 30.0) -> None:
        """All workers have registered."""
        until_s = monotonic_s() + timeout_s
        async with aiohttp.ClientSession() as session:
            while True:
                self.check()
                async with session.get(f"{self.server}/v1/workers") as answer:
                    found = await answer.json()
                if len(found["workers"]) >= len(self.workers):
                    return
                if monotonic_s() > until_s:
                    raise RuntimeError(f"the workers did not register:\n{self.workers[0].tail()}")
                await asyncio.sleep(0.05)

    def workers_cpu_s(self) -> float:
        return sum(worker.cpu_s() for worker in self.workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self.workers:
            worker.stop()
        if self._node is not None:
            self._node.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


@asynccontextmanager
async def profiled(fleet: Fleet, folder: Path | None, seconds: int) -> AsyncIterator[None]:
    """With a folder: py-spy, if it is in the PATH, records the node and the first worker meanwhile (which costs)."""
    recorders: list[asyncio.subprocess.Process] = []
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for process in (fleet.node, *fleet.workers[:1]):
            target = str(folder / f"{process.name}.txt")
            options = ["--pid", str(process.pid), "-d", str(seconds), "-r", "200", "-f", "raw", "-o", target]
            recorders.append(
                await asyncio.create_subprocess_exec(
                    "py-spy", "record", *options, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
                )
            )
    yield
    for recorder in recorders:
        await recorder.wait()
