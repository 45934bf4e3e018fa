"""sustain: an offered load, kept up whatever comes of it, and how long each run takes from the call to its end."""

import argparse
import asyncio
import sys
from bisect import bisect_right
from typing import Any

import msgspec

from bench.database import Database, fresh_database
from bench.fleet import ROOT, Fleet
from bench.generator import Call, Offered
from bench.question import Question, Sample
from noonmark.client import Client
from noonmark.wire.resources import JobSpec


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rate", type=int, default=10_000, help="runs submitted a second")
    parser.add_argument("--seconds", type=int, default=60)
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
            await _create_jobs(fleet.server, options.jobs)
            await database.settle()
            node_s, workers_s, before = fleet.node.cpu_s(), fleet.workers_cpu_s(), await database.usage()
            offered = await _offer(fleet.server, options)
            backlog = await database.value("SELECT count(*) FROM noonmark.run")
            drained = await database.finish_all(120)
            node_s, workers_s = fleet.node.cpu_s() - node_s, fleet.workers_cpu_s() - workers_s
            await asyncio.sleep(1.5)  # the server publishes its counters once a second
            after, dead = await database.usage(), await database.dead_tuples()
            rss_mb = fleet.node.peak_rss_mb()
        submitted = sum(call.runs for call in offered.calls)
        counted = [call for call in offered.calls if call.intended_us >= offered.counted_from_us]
        figures = await _latencies(database, counted)
        attempts = await database.value("SELECT count(*) FROM noonmark.attempt")
    if drained and attempts < submitted:
        raise RuntimeError(f"{submitted} runs were acknowledged and {attempts} attempts are in history")
    figures |= {
        "offered_per_s": sum(call.runs for call in counted) / options.seconds,
        "refused_calls": offered.refused,
        "call_p99_ms": _percentile([(call.answered_us - call.intended_us) / 1e3 for call in counted], 0.99),
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


async def _create_jobs(server: str, count: int) -> None:
    async with Client(server) as client:
        await client.declare_tasks(["noop"])
        for start in range(0, count, 500):
            names = [f"load-{number}" for number in range(start, min(start + 500, count))]
            await client.create_jobs([JobSpec(name=name, task="noop") for name in names])


async def _offer(server: str, options: argparse.Namespace) -> Offered:
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
    generator = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
    output, _ = await generator.communicate()
    if generator.returncode:
        raise RuntimeError(f"the load generator ended with status {generator.returncode}")
    return msgspec.json.decode(output, type=Offered)


async def _latencies(database: Database, calls: list[Call]) -> dict[str, float]:
    """Each run from the moment its call was meant to begin: to the end of its task, and to the commit of that.

    One node numbers runs by nominal time and a call's runs lie together, so the nominal time leads to the call.
    """
    calls = sorted(calls, key=lambda call: call.first_nominal_us)
    starts = [call.first_nominal_us for call in calls]
    rows: list[Any] = await database.connection.fetch(
        """
        WITH commits AS MATERIALIZED (
            SELECT xid, pg_xact_commit_timestamp(xid) AS at FROM (SELECT DISTINCT xmin AS xid FROM noonmark.attempt) x
        )
        SELECT (extract(epoch FROM a.nominal_at) * 1e6)::bigint, (extract(epoch FROM a.finished_at) * 1e6)::bigint,
            (extract(epoch FROM c.at) * 1e6)::bigint
        FROM noonmark.attempt a JOIN commits c ON c.xid = a.xmin
        WHERE a.final
        """
    )
    finished_ms: list[float] = []
    committed_ms: list[float] = []
    last_us = 0
    for nominal_us, finished_us, committed_us in rows:
        at = bisect_right(starts, nominal_us) - 1
        if at >= 0 and nominal_us <= calls[at].last_nominal_us:
            finished_ms.append((finished_us - calls[at].intended_us) / 1e3)
            committed_ms.append((committed_us - calls[at].intended_us) / 1e3)
            last_us = max(last_us, finished_us)
    span_s = (last_us - calls[0].intended_us) / 1e6
    return {
        "completed_per_s": len(finished_ms) / span_s,
        "end_to_end_p50_ms": _percentile(finished_ms, 0.50),
        "end_to_end_p95_ms": _percentile(finished_ms, 0.95),
        "end_to_end_p99_ms": _percentile(finished_ms, 0.99),
        "end_to_end_max_ms": max(finished_ms),
        "committed_p99_ms": _percentile(committed_ms, 0.99),
    }


def _percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


QUESTION = Question(
    "sustain",
    "Does it hold an offered load, and how long does a run take from the call to its end?",
    run,
    add_options,
    targets={"completed_per_s": 9_900, "end_to_end_p99_ms": 250},
)
