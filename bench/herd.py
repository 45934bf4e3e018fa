"""herd: many jobs due at one instant, as at the top of an hour."""

import argparse
import asyncio

from bench.database import fresh_database
from bench.fleet import Fleet
from bench.load import intern_policy, intern_schedules, load_jobs, stand_at_now
from bench.question import Question, Sample

_DAY_S = 86_400


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--lead", type=int, default=10, help="seconds from the workers' arrival to the instant")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--concurrency", type=int, default=1_000)


async def run(options: argparse.Namespace) -> Sample:
    async with fresh_database() as database:
        policy_id = await intern_policy(database)
        schedules = await intern_schedules(database, [f"every:{_DAY_S}|phase 0|j0"])
        await load_jobs(database, options.jobs, schedules, policy_id)
        await database.settle()
        # The instant is chosen now; some seconds for the processes to start come on top of the lead.
        at = int(await database.value("SELECT ceil(extract(epoch FROM clock_timestamp()))")) + options.lead + 5
        await database.execute("UPDATE noonmark.schedule SET text = $1", f"every:{_DAY_S}|phase {at % _DAY_S}|j0")
        await stand_at_now(database)
        with Fleet(database.url) as fleet:
            fleet.start_node()
            fleet.start_workers(options.workers, options.concurrency)
            await fleet.ready()
            await fleet.workers_known()
            early_s = at - float(await database.value("SELECT extract(epoch FROM clock_timestamp())"))
            if early_s < 4:
                raise RuntimeError("the processes took too long to start: use a longer --lead")
            await asyncio.sleep(early_s + 0.5)
            fleet.check()
            done = await database.finish_all(120)
            rss_mb = fleet.node.peak_rss_mb()
        row = await database.connection.fetchrow(
            """
            SELECT count(*) FILTER (WHERE final) AS ended, count(*) AS attempts, max(late_ms) AS most,
                percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY late_ms) AS late
            FROM (
                SELECT final, extract(epoch FROM started_at - due_at)::float8 * 1000 AS late_ms FROM noonmark.attempt
                WHERE due_at >= to_timestamp($1)
            ) starts
            """,
            at,
        )
        done_s = await database.committed_at() - at
    if not done or row["ended"] != options.jobs:
        raise RuntimeError(f"{options.jobs} jobs were due and {row['ended']} ended")
    figures = {
        "lateness_p50_ms": row["late"][0],
        "lateness_p95_ms": row["late"][1],
        "lateness_max_ms": row["most"],
        "all_done_s": done_s,
        "runs_per_s": options.jobs / done_s,
        "attempts_per_run": row["attempts"] / options.jobs,
        "node_rss_mb": rss_mb,
    }
    settings = {
        "postgres": database.settings,
        "jobs": options.jobs,
        "workers": options.workers,
        "concurrency": options.concurrency,
    }
    return Sample(figures, settings)


QUESTION = Question(
    "herd",
    "How late are many jobs that are due at one instant, and when are all done?",
    run,
    add_options,
    targets={"all_done_s": 4},
)
