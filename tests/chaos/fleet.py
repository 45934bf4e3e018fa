"""Nodes and workers as real processes, to be killed, frozen and started again."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import asyncpg

from noonmark.client import Client
from noonmark.model.ids import parse_run
from tests.conftest import eventually, free_port

ROOT = Path(__file__).parents[2]


class Execution(NamedTuple):
    run: str
    attempt: int
    pid: int
    task: str


class Process:
    def __init__(self, arguments: list[str], log: Path, environment: dict[str, str]) -> None:
        self.log = log
        with log.open("ab") as out:
            self._popen = subprocess.Popen(
                [sys.executable, "-m", "noonmark", *arguments, "--log-format", "json"],
                cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=os.environ | environment,
            )  # fmt: skip
        self.pid = self._popen.pid

    def signal(self, number: signal.Signals) -> None:
        self._popen.send_signal(number)

    async def ended(self, within_s: float) -> int:
        return await asyncio.to_thread(self._popen.wait, within_s)

    def kill(self) -> None:
        self._popen.kill()
        self._popen.wait()

    @property
    def running(self) -> bool:
        return self._popen.poll() is None


class NodeProcess(Process):
    def __init__(self, database_url: Callable[[], str], folder: Path, port: int, options: Sequence[str]) -> None:
        self.address = f"http://127.0.0.1:{port}"
        arguments = ["node", "--database-url", database_url(), "--port", str(port), "--shards", "8"]
        arguments += options or ("--processes", "1")
        super().__init__(arguments, folder / f"node-{port}.log", {})


class Fleet:
    def __init__(self, database_url: Callable[[], str], folder: Path) -> None:
        self.database_url = database_url
        self.folder = folder
        self.counted = folder / "executions"
        self.counted.touch()
        self.nodes: list[NodeProcess] = []
        self.workers: list[Process] = []

    def start_node(self, *options: str) -> NodeProcess:
        node = NodeProcess(self.database_url, self.folder, free_port(), options)
        self.nodes.append(node)
        return node

    def start_worker(self, *options: str) -> Process:
        servers = ",".join(node.address for node in self.nodes)
        number = len(self.workers)
        worker = Process(
            ["worker", "--server", servers, "--name", f"worker-{number}", "--processes", "1", *options,
             "tests.chaos.tasks:app"],
            self.folder / f"worker-{number}.log",
            {"NOONMARK_CHAOS_FILE": str(self.counted)},
        )  # fmt: skip
        self.workers.append(worker)
        return worker

    async def ready(self, nodes: int, workers: int) -> None:
        """The shards lie evenly over that many nodes, and each of them has heard of that many workers."""
        await eventually(lambda: self.even(nodes), 30, 0.05)
        names = "SELECT count(*) FROM noonmark.worker WHERE seen_at > now() - interval '30 s'"
        await eventually(lambda: self._is(names, workers), 30, 0.05)

    async def installed(self) -> bool:
        return bool(await self.fetchval("SELECT to_regclass('noonmark.attempt') IS NOT NULL"))

    async def even(self, nodes: int) -> bool:
        rows = await self.fetch(
            "SELECT count(*) FROM noonmark.shard s JOIN noonmark.node n ON n.node_id = s.owner AND n.alive"
            " GROUP BY s.owner"
        )
        return sorted(row[0] for row in rows) == [8 // nodes] * nodes

    async def even_or_so(self, nodes: int) -> bool:
        """As even as eight can be."""
        rows = await self.fetch(
            "SELECT count(*) FROM noonmark.shard s JOIN noonmark.node n ON n.node_id = s.owner AND n.alive"
            " GROUP BY s.owner"
        )
        counts = [row[0] for row in rows]
        return sum(counts) == 8 and len(counts) == nodes and max(counts) - min(counts) <= 1

    async def owner_of(self, address: str) -> int:
        """How many shards the living node at this address owns."""
        return int(
            await self.fetchval(
                "SELECT count(*) FROM noonmark.shard s JOIN noonmark.node n ON n.node_id = s.owner AND n.alive"
                " WHERE n.address = $1",
                address,
            )
        )

    def executions(self) -> list[Execution]:
        lines = [line.split() for line in self.counted.read_text().splitlines()]
        return [Execution(run, int(attempt), int(pid), task) for run, attempt, pid, task in lines]

    async def fetch(self, query: str, *arguments: object) -> list[asyncpg.Record]:
        connection = await asyncpg.connect(self.database_url(), timeout=10)
        try:
            return await connection.fetch(query, *arguments)
        finally:
            await connection.close()

    async def fetchval(self, query: str, *arguments: object) -> object:
        return (await self.fetch(query, *arguments))[0][0]

    async def _is(self, query: str, value: object) -> bool:
        return await self.fetchval(query) == value

    async def history(self, run: str) -> list[tuple[int, int, bool]]:
        """(attempt, outcome, final) of a run's ended attempts."""
        job_id, nominal_us = parse_run(run)
        rows = await self.fetch(
            "SELECT attempt, outcome, final FROM noonmark.attempt WHERE job_id = $1"
            " AND nominal_at = 'epoch'::timestamptz + $2 * interval '1 microsecond' ORDER BY attempt",
            job_id,
            nominal_us,
        )
        return [tuple(row) for row in rows]

    async def metric(self, name: str) -> float:
        """The sum of a counter over the nodes that answer."""
        total = 0.0
        for node in self.nodes:
            if node.running:
                client = Client(node.address)
                text = (await client._http.call("GET", "/metrics")).decode()
                await client.close()
                total += sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))
        return total

    def close(self) -> None:
        for process in [*self.workers, *self.nodes]:
            if process.running:
                process.signal(signal.SIGCONT)
                process.kill()

    def logs(self) -> str:
        return "\n".join(f"== {path.name}\n{path.read_text()[-3000:]}" for path in sorted(self.folder.glob("*.log")))
