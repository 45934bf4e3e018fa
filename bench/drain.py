"""drain: how fast a backlog of no-op runs goes through a real node and real workers.

The backlog lies in its table when the node starts. Warm, the default: the workers come when the node has read what its
memory holds (200,000 runs), as after a time without workers; the rest is read while it drains. Cold (`--cold`): the
workers wait for the node, and all of it is read while it drains, as after a restart.

The time goes from the first grant to the commit of the last finish, by the rows themselves.
"""

import argparse
import asyncio
from pathlib import Path

import aiohttp

from bench import limit
from bench.database import Database, fresh_database
from bench.fleet import Fleet, profiled
from bench.load import intern_policy, load_backlog
from bench.question import Question, Sample
from noonmark.clock import monotonic_s

_LIMIT_RUNS = 100_000
_BATCH = 1_000
_MEMORY = "noonmark_backlog_runs"


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, default=300_000)
    parser.add_argument("--jobs", type=int, default=1_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--concurrency", type=int, default=1_000)
    parser.add_argument("--processes", type=int, default=1, help="of the node")
    parser.add_argument("--cold", action="store_true", help="workers wait before the node starts")
    parser.add_argument("--profile", type=Path, metavar="DIR", help="let py-spy record node and worker (costs)")


async def run(options: argparse.Namespace) -> Sample:
    async with fresh_database() as database:
        bound = await limit.measure(database, _LIMIT_RUNS, _BATCH, options.jobs)
        policy_id = await intern_policy(database)
        await load_backlog(database, options.runs, options.jobs, policy_id)
        await database.settle()
        with Fleet(database.url) as fleet:
            if options.cold:
                fleet.start_workers(options.workers, options.concurrency)
                await asyncio.sleep(2.0)
            fleet.start_node(options.processes)
            await fleet.ready()
            if not options.cold:
                await _memory_filled(fleet)
                fleet.start_workers(options.workers, options.concurrency)
            await _first_grant(database, fleet)
            node_s, workers_s, before = fleet.node.cpu_s(), fleet.workers_cpu_s(), await database.usage()
            async with profiled(fleet, options.profile, 6):
                if not await database.finish_all(600):
                    raise RuntimeError(f"the backlog was not drained:\n{fleet.node.tail()}")
            node_s, workers_s = fleet.node.cpu_s() - node_s, fleet.workers_cpu_s() - workers_s
            after = await database.usage()
            rss_mb = fleet.node.peak_rss_mb()
        span_s = await database.committed_at() - float(
            await database.value("SELECT extract(epoch FROM min(granted_at)) FROM noonmark.attempt")
        )
        ended = await database.value("SELECT count(*) FROM noonmark.attempt WHERE final AND outcome = 1")
        attempts = await database.value("SELECT count(*) FROM noonmark.attempt")
    if ended != options.runs:
        raise RuntimeError(f"{options.runs} runs were waiting and {ended} succeeded")
    rate = options.runs / span_s
    figures = {
        "runs_per_s": rate,
        "ratio_to_limit": rate / bound["drain_runs_per_s"],
        "limit_runs_per_s": bound["drain_runs_per_s"],
        "node_us_per_run": node_s / options.runs * 1e6,
        "worker_us_per_run": workers_s / options.runs * 1e6,
        "postgres_us_per_run": (after.cpu_s - before.cpu_s) / options.runs * 1e6,
        "wal_bytes_per_run": (after.wal_bytes - before.wal_bytes) / options.runs,
        "attempts_per_run": attempts / options.runs,
        "node_rss_mb": rss_mb,
    }
    settings = {
        "postgres": database.settings,
        "runs": options.runs,
        "jobs": options.jobs,
        "processes": options.processes,
        "workers": options.workers,
        "concurrency": options.concurrency,
        "backlog": "inserted by SQL before the node started; workers came " + ("first" if options.cold else "last"),
    }
    return Sample(figures, settings)


async def _memory_filled(fleet: Fleet, timeout_s: float = 60.0) -> None:
    """The node holds all it will: what its metrics say stays the same."""
    last, until_s = -1.0, monotonic_s() + timeout_s
    async with aiohttp.ClientSession() as session:
        while True:
            fleet.check()
            async with session.get(f"{fleet.server}/metrics") as answer:
                text = await answer.text()
            held = sum(float(row.rpartition(" ")[2]) for row in text.splitlines() if row.startswith(_MEMORY))
            if held and held == last:
                return
            if monotonic_s() > until_s:
                raise RuntimeError("the node did not read its backlog")
            last = held
            await asyncio.sleep(0.5)


async def _first_grant(database: Database, fleet: Fleet, timeout_s: float = 60.0) -> None:
    until_s = monotonic_s() + timeout_s
    while not await database.value("SELECT EXISTS (SELECT FROM noonmark.grant)"):
        fleet.check()
        if monotonic_s() > until_s:
            raise RuntimeError(f"nothing was granted:\n{fleet.node.tail()}")
        await asyncio.sleep(0.02)


QUESTION = Question(
    "drain",
    "How fast does a backlog of no-op runs go through a real node and real workers?",
    run,
    add_options,
    targets={"runs_per_s": 35_000},
)
