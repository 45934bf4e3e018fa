"""submit: how many runs a second the API takes, one a call and many a call, and the database alone in the same run."""

import argparse
import asyncio
import os
import sys
from pathlib import Path

import msgspec

from bench.database import Database, fresh_database
from bench.fleet import ROOT, Fleet, profiled
from bench.load import intern_policy, load_jobs, stand_at_now
from bench.question import Question, Sample
from bench.submitter import Submitted

_OPTIONS = ("seconds", "warmup", "connections", "bulk_connections", "batch", "jobs")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=8.0, help="how long each way of submitting is measured")
    parser.add_argument("--warmup", type=float, default=2.0, help="seconds of load before those that count")
    parser.add_argument("--connections", type=int, default=32, help="that submit one run a call")
    parser.add_argument("--bulk-connections", type=int, default=2, help="that submit many runs a call")
    parser.add_argument("--batch", type=int, default=1_000, help="runs in a call that submits many")
    parser.add_argument("--jobs", type=int, default=1_000)
    parser.add_argument("--profile", type=Path, metavar="DIR", help="let py-spy record the node (which costs)")


async def run(options: argparse.Namespace) -> Sample:
    figures: dict[str, float] = {}
    ways = {"single": (options.connections, 1), "bulk": (options.bulk_connections, options.batch)}
    async with fresh_database() as database:
        await load_jobs(database, options.jobs, [], await intern_policy(database), name="load")
        for way, (connections, batch) in ways.items():
            raw = await _submit(database, options, connections, batch, "--database-url", database.url)
            figures |= _figures(f"database_{way}", raw)
            await database.execute("TRUNCATE noonmark.run")
        await stand_at_now(database)
        with Fleet(database.url) as fleet:
            fleet.start_node()
            await fleet.ready()
            acknowledged = 0
            for way, (connections, batch) in ways.items():
                node_s, before = fleet.node.cpu_s(), await database.usage()
                async with profiled(fleet, options.profile and options.profile / way, round(options.seconds)):
                    done = await _submit(database, options, connections, batch, "--server", fleet.server)
                node_s = fleet.node.cpu_s() - node_s
                if done.refused:
                    raise RuntimeError(f"{done.refused} calls were refused: {done.first_refusal}")
                acknowledged += done.runs
                stored = await database.value("SELECT count(*) FROM noonmark.run")
                if stored < acknowledged:
                    raise RuntimeError(f"{acknowledged} runs were acknowledged and {stored} are stored")
                share = done.seconds / (done.seconds + options.warmup) / done.runs * 1e6
                figures |= _figures(way, done)
                figures |= {
                    f"{way}_ratio_to_database": figures[f"{way}_per_s"] / figures[f"database_{way}_per_s"],
                    f"{way}_node_us": node_s * share,
                    f"{way}_postgres_us": ((await database.usage()).cpu_s - before.cpu_s) * share,
                    f"{way}_submitter_us": done.cpu_s * share,
                }
        settings = {"postgres": database.settings} | {name: getattr(options, name) for name in _OPTIONS}
    return Sample(figures | {"load_1m": os.getloadavg()[0]}, settings)


async def _submit(
    database: Database, options: argparse.Namespace, connections: int, batch: int, *target: str
) -> Submitted:
    """By a process of its own, so that asking and measuring do not share a loop."""
    await database.settle()
    arguments = {
        "--connections": connections,
        "--batch": batch,
        "--jobs": options.jobs,
        "--seconds": options.seconds,
        "--warmup": options.warmup,
    }
    words = [str(part) for pair in arguments.items() for part in pair]
    submitter = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.submitter", *target, *words, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await submitter.communicate()
    if submitter.returncode:
        raise RuntimeError(f"the submitter ended with status {submitter.returncode}")
    return msgspec.json.decode(output, type=Submitted)


def _figures(name: str, done: Submitted) -> dict[str, float]:
    calls_ms = sorted(done.calls_ms)
    return {
        f"{name}_per_s": done.runs / done.seconds,
        f"{name}_call_p50_ms": calls_ms[len(calls_ms) // 2],
        f"{name}_call_p99_ms": calls_ms[int(len(calls_ms) * 0.99)],
    }


QUESTION = Question(
    "submit",
    "How many runs a second can be submitted, one a call and many a call?",
    run,
    add_options,
    targets={"single_per_s": 3_000, "bulk_per_s": 50_000},
)
