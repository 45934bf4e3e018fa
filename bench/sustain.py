"""sustain: an offered load, kept up whatever comes of it, and how long each run takes from the call to its end."""

import argparse
import asyncio
import sys
import tempfile

import msgspec

from bench.database import fresh_database
from bench.fleet import ROOT, Fleet
from bench.generator import Offered
from bench.latency import RunTime, completed_per_s, percentile, run_times
from bench.question import Question, Sample
from noonmark.client import Client
from noonmark.wire.resources import JobSpec


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=int, default=60)
    add_load_options(parser)


def add_load_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rate", type=int, default=10_000, help="runs submitted a second")
    parser.add_argument("--warmup", type=int, default=5, help="seconds of load before those that count")
    parser.add_argument("--tick-ms", type=int, default=20, help="one call in this time")
    parser.add_argument("--jobs", type=int, default=1_000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--concurrency", type=int, default=1_000)


async def run(options: argparse.Namespace) -> Sample:
    async with fresh_database() as database:
        with Fleet(database.url) as fleet:
            fleet.start_node()
            fleet.start_workers(options.workers, options.concurrency)
            await fleet.ready()
            await fleet.workers_known()
            await create_jobs(fleet.server, options.jobs)
            await database.settle()
            node_s, workers_s, before = fleet.node.cpu_s(), fleet.workers_cpu_s(), await database.usage()
            offered = await offer(fleet.server, options)
            backlog = await database.value("SELECT count(*) FROM noonmark.run")
            drained = await database.finish_all(120)
            node_s, workers_s = fleet.node.cpu_s() - node_s, fleet.workers_cpu_s() - workers_s
            await asyncio.sleep(1.5)  # the server publishes its counters once a second
            after, dead = await database.usage(), await database.dead_tuples()
            rss_mb = fleet.node.peak_rss_mb()
        submitted = sum(call.runs for call in offered.calls)
        counted = [call for call in offered.calls if call.intended_us >= offered.counted_from_us]
        figures = latencies(await run_times(database, counted))
        attempts = await database.value("SELECT count(*) FROM noonmark.attempt")
    if drained and attempts < submitted:
        raise RuntimeError(f"{submitted} runs were acknowledged and {attempts} attempts are in history")
    figures |= {
        "offered_per_s": sum(call.runs for call in counted) / options.seconds,
        "refused_calls": offered.refused,
        "call_p99_ms": percentile([(call.answered_us - call.intended_us) / 1e3 for call in counted], 0.99),
        "backlog_at_end": backlog,
        "wal_bytes_per_run": (after.wal_bytes - before.wal_bytes) / submitted,
        "commits_per_run": (after.commits - before.commits) / submitted,
        "dead_tuples": dead,
        "node_us_per_run": node_s / submitted * 1e6,
        "worker_us_per_run": workers_s / submitted * 1e6,
        "postgres_us_per_run": (after.cpu_s - before.cpu_s) / submitted * 1e6,
        "node_rss_mb": rss_mb,
    }
    settings = {"postgres": database.settings} | {
        name: getattr(options, name)
        for name in ("rate", "seconds", "warmup", "tick_ms", "jobs", "workers", "concurrency")
    }
    return Sample(figures, settings)


async def create_jobs(server: str, count: int) -> None:
    async with Client(server) as client:
        await client.declare_tasks(["noop"])
        for start in range(0, count, 500):
            names = [f"load-{number}" for number in range(start, min(start + 500, count))]
            await client.create_jobs([JobSpec(name=name, task="noop") for name in names])


async def offer(server: str, options: argparse.Namespace) -> Offered:
    """The generator is a process of its own, so that measuring and offering do not share a loop."""
    arguments = {
        "--server": server,
        "--rate": options.rate,
        "--seconds": options.seconds,
        "--warmup": options.warmup,
        "--tick-ms": options.tick_ms,
        "--jobs": options.jobs,
    }
    command = [sys.executable, "-m", "bench.generator", *(str(part) for pair in arguments.items() for part in pair)]
    # Into a file: of a long run's answer, asyncio on a busy machine has lost the end that was still in the pipe.
    with tempfile.TemporaryFile() as answer:
        generator = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=answer)
        if await generator.wait():
            raise RuntimeError(f"the load generator ended with status {generator.returncode}")
        answer.seek(0)
        return msgspec.json.decode(answer.read(), type=Offered)


def latencies(times: list[RunTime]) -> dict[str, float]:
    """Each run from the moment its call was meant to begin: to the end of its task, and to the commit of that."""
    finished_ms = [time.end_to_end_ms for time in times]
    return {
        "completed_per_s": completed_per_s(times),
        "end_to_end_p50_ms": percentile(finished_ms, 0.50),
        "end_to_end_p95_ms": percentile(finished_ms, 0.95),
        "end_to_end_p99_ms": percentile(finished_ms, 0.99),
        "end_to_end_max_ms": max(finished_ms),
        "committed_p99_ms": percentile([(time.committed_us - time.intended_us) / 1e3 for time in times], 0.99),
    }


QUESTION = Question(
    "sustain",
    "Does it hold an offered load, and how long does a run take from the call to its end?",
    run,
    add_options,
    targets={"completed_per_s": 9_900, "end_to_end_p99_ms": 250},
)
