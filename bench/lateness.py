"""lateness: many active schedules, some thousand due each second: how late their runs start.

With N schedules and D due a second, the jobs stand on N/D interned schedules `every N/D seconds`, one for each second.
"""

import argparse
import asyncio

from bench.database import Database, fresh_database
from bench.fleet import Fleet
from bench.load import intern_policy, intern_schedules, load_jobs, stand_at_now
from bench.question import Question, Sample
from noonmark.clock import monotonic_s


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--schedules", type=int, default=1_000_000)
    parser.add_argument("--due", type=int, default=10_000, help="runs due each second")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--warmup", type=int, default=10, help="seconds of firing before those that count")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--concurrency", type=int, default=1_000)
    parser.add_argument("--jitter-s", type=int, default=0, help="spread due times; 0: all of a second at one instant")


async def run(options: argparse.Namespace) -> Sample:
    period_s = max(1, options.schedules // options.due)
    async with fresh_database() as database:
        load_s = -monotonic_s()
        policy_id = await intern_policy(database)
        texts = [f"every:{period_s}|phase {phase}|j{options.jitter_s}" for phase in range(period_s)]
        schedules = await intern_schedules(database, texts)
        await load_jobs(database, options.schedules, schedules, policy_id, options.jitter_s * 1000)
        await database.settle()
        load_s += monotonic_s()
        print(f"   loaded {options.schedules:,} jobs in {load_s:.0f} s", flush=True)
        with Fleet(database.url) as fleet:
            fleet.start_workers(options.workers, options.concurrency)
            await asyncio.sleep(2.0)
            await stand_at_now(database)
            node = fleet.start_node()
            first_at = await _first_start(database, fleet)
            await asyncio.sleep(options.warmup)
            node_s, workers_s, before = node.cpu_s(), fleet.workers_cpu_s(), await database.usage()
            from_at = float(await database.value("SELECT ceil(extract(epoch FROM clock_timestamp()))"))
            until_at = from_at + options.seconds
            await asyncio.sleep(options.seconds)
            node_s, workers_s, after = (
                node.cpu_s() - node_s,
                fleet.workers_cpu_s() - workers_s,
                await database.usage(),
            )
            rss_mb = node.peak_rss_mb()
            fleet.check()
            await database.finish_all(60, f"due_at < to_timestamp({until_at})")
            left = await database.value(f"SELECT count(*) FROM noonmark.run WHERE due_at < to_timestamp({until_at})")
        row = await database.connection.fetchrow(
            """
            SELECT count(*) AS runs, max(late_ms) AS most,
                percentile_cont(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY late_ms) AS late
            FROM (
                SELECT extract(epoch FROM started_at - due_at)::float8 * 1000 AS late_ms FROM noonmark.attempt
                WHERE due_at >= to_timestamp($1) AND due_at < to_timestamp($2) AND attempt = 1
            ) starts
            """,
            from_at,
            until_at,
        )
        fired = row["runs"]
    expected = options.schedules // period_s * options.seconds
    figures = {
        "lateness_p50_ms": row["late"][0],
        "lateness_p95_ms": row["late"][1],
        "lateness_p99_ms": row["late"][2],
        "lateness_max_ms": row["most"],
        "fired_per_s": fired / options.seconds,
        "missing_runs": expected - fired,
        "unfinished_runs": left,
        "node_rss_mb": rss_mb,
        "first_fire_s": first_at - node.started_at,
        "node_us_per_run": node_s / fired * 1e6,
        "worker_us_per_run": workers_s / fired * 1e6,
        "postgres_us_per_run": (after.cpu_s - before.cpu_s) / fired * 1e6,
    }
    settings = {"postgres": database.settings, "period_s": period_s, "load_s": round(load_s)} | {
        name: getattr(options, name)
        for name in ("schedules", "due", "seconds", "warmup", "workers", "concurrency", "jitter_s")
    }
    return Sample(figures, settings)


async def _first_start(database: Database, fleet: Fleet, timeout_s: float = 120.0) -> float:
    until_s = monotonic_s() + timeout_s
    query = "SELECT extract(epoch FROM min(started_at)) FROM noonmark.attempt"
    while (found := await database.value(query)) is None:
        fleet.check()
        if monotonic_s() > until_s:
            raise RuntimeError(f"nothing was fired:\n{fleet.node.tail()}")
        await asyncio.sleep(0.1)
    return float(found)


QUESTION = Question(
    "lateness",
    "How late do runs start with many active schedules, and what memory does the node need?",
    run,
    add_options,
    repeats=1,
    targets={
        "lateness_p95_ms": 200,
        "lateness_p99_ms": 400,
        "node_rss_mb": 1024,
        "first_fire_s": 10,
        "fired_per_s": 9_900,
    },
)
