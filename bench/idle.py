"""idle: what a node with one worker and nothing to do costs, in cores."""

import argparse
import asyncio

from bench.database import SHARDS, fresh_database
from bench.fleet import Fleet
from bench.question import Question, Sample
from noonmark.clock import monotonic_s

_SETTLE_S = 3.0


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--shards", type=int, default=SHARDS)
    parser.add_argument("--processes", type=int, default=1)


async def run(options: argparse.Namespace) -> Sample:
    async with fresh_database(options.shards) as database:
        with Fleet(database.url) as fleet:
            fleet.start_node(options.processes)
            await fleet.ready()
            fleet.start_workers(1, 100)
            await fleet.workers_known()
            await asyncio.sleep(_SETTLE_S)
            started_s, node_s, workers_s = monotonic_s(), fleet.node.cpu_s(), fleet.workers_cpu_s()
            before = await database.usage()
            await asyncio.sleep(options.seconds)
            fleet.check()
            after = await database.usage()
            took_s = monotonic_s() - started_s
            node_s, workers_s = fleet.node.cpu_s() - node_s, fleet.workers_cpu_s() - workers_s
    postgres_s = after.cpu_s - before.cpu_s
    figures = {
        "cores": (node_s + postgres_s) / took_s,
        "node_cores": node_s / took_s,
        "postgres_cores": postgres_s / took_s,
        "worker_cores": workers_s / took_s,
        "commits_per_s": (after.commits - before.commits) / took_s,
        "wal_bytes_per_s": (after.wal_bytes - before.wal_bytes) / took_s,
    }
    settings = {"shards": options.shards, "processes": options.processes, "seconds": options.seconds}
    return Sample(figures, {"postgres": database.settings, **settings})


QUESTION = Question("idle", "How much of a core does a node with nothing to do take?", run, add_options, repeats=1)
