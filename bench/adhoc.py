"""adhoc: an idle system is asked for one run at a time: how long from the call to the first line of the task."""

import argparse
import asyncio
import random
import socket
import tempfile
import time
from pathlib import Path

from bench.database import fresh_database
from bench.fleet import Fleet
from bench.question import Question, Sample
from bench.tasks import STAMPS
from noonmark.client import Client
from noonmark.wire.resources import JobSpec, Submission

_WARMUP = 20


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--pause-ms", type=float, default=30.0, help="mean idle time between two samples")
    parser.add_argument("--via", choices=("trigger", "batch"), default="trigger", help="which call asks for the run")


async def run(options: argparse.Namespace) -> Sample:
    loop = asyncio.get_running_loop()
    chance = random.Random(1)
    pickups_ms: list[float] = []
    calls_ms: list[float] = []
    with tempfile.TemporaryDirectory(prefix="noonmark-bench-") as folder:
        address = str(Path(folder) / "stamps")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as stamps:
            stamps.bind(address)
            stamps.setblocking(False)
            async with fresh_database() as database:
                with Fleet(database.url) as fleet:
                    fleet.start_node()
                    fleet.start_workers(1, 100, {STAMPS: address})
                    await fleet.ready()
                    await fleet.workers_known()
                    async with Client(fleet.server) as client:
                        await client.create_job(JobSpec(name="stamp", task="stamp"))
                        await database.settle()
                        for _ in range(options.samples + _WARMUP):
                            await asyncio.sleep(options.pause_ms / 1000 * chance.uniform(0.5, 1.5))
                            called_ns = time.monotonic_ns()
                            call = asyncio.create_task(_ask(client, options.via))
                            started_ns = int(await asyncio.wait_for(loop.sock_recv(stamps, 64), 10))
                            await call
                            calls_ms.append((time.monotonic_ns() - called_ns) / 1e6)
                            pickups_ms.append((started_ns - called_ns) / 1e6)
                            fleet.check()
                settings = {"postgres": database.settings}
    pickups, calls = sorted(pickups_ms[_WARMUP:]), sorted(calls_ms[_WARMUP:])
    figures = {
        "pickup_p50_ms": pickups[len(pickups) // 2],
        "pickup_p95_ms": pickups[int(len(pickups) * 0.95)],
        "pickup_p99_ms": pickups[int(len(pickups) * 0.99)],
        "pickup_max_ms": pickups[-1],
        "call_p50_ms": calls[len(calls) // 2],
    }
    return Sample(figures, settings | {name: getattr(options, name) for name in ("samples", "pause_ms", "via")})


async def _ask(client: Client, via: str) -> None:
    if via == "trigger":
        await client.trigger_job("stamp")
    else:
        await client.submit([Submission(job="stamp")])


QUESTION = Question(
    "adhoc",
    "How long from a call on an idle system to the start of the task?",
    run,
    add_options,
    targets={"pickup_p50_ms": 3, "pickup_p99_ms": 10},
)
