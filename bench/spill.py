"""spill: a backlog far beyond memory: what the node needs of it while workers drain."""

import argparse
import asyncio

from bench.database import fresh_database
from bench.fleet import Fleet
from bench.load import intern_policy, load_backlog
from bench.question import Question, Sample


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, default=5_000_000)
    parser.add_argument("--jobs", type=int, default=1_000)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--concurrency", type=int, default=1_000)


async def run(options: argparse.Namespace) -> Sample:
    async with fresh_database() as database:
        policy_id = await intern_policy(database)
        await load_backlog(database, options.runs, options.jobs, policy_id)
        await database.settle()
        with Fleet(database.url) as fleet:
            node = fleet.start_node()
            await fleet.ready()
            fleet.start_workers(options.workers, options.concurrency)
            await fleet.workers_known()
            await asyncio.sleep(options.seconds)
            fleet.check()
            rss_mb = node.peak_rss_mb()
        row = await database.connection.fetchrow(
            """
            SELECT count(*) AS ended, extract(epoch FROM max(finished_at) - min(granted_at))::float8 AS span_s
            FROM noonmark.attempt WHERE final
            """
        )
        left = await database.value("SELECT count(*) FROM noonmark.run")
    if row["ended"] + left != options.runs:
        raise RuntimeError(f"of {options.runs} runs {row['ended']} ended and {left} wait")
    figures = {"node_rss_mb": rss_mb, "runs_per_s": row["ended"] / row["span_s"], "left": left}
    settings = {"postgres": database.settings} | {
        name: getattr(options, name) for name in ("runs", "jobs", "seconds", "workers", "concurrency")
    }
    return Sample(figures, settings)


QUESTION = Question(
    "spill",
    "What memory does a node need for a backlog of millions?",
    run,
    add_options,
    repeats=1,
    targets={"node_rss_mb": 1024},
)
