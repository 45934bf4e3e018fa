"""limit: what the database alone does of the same durable work, over one connection and with no scheduler around it."""

import argparse
from typing import Any

from bench.database import Database, fresh_database
from bench.load import TENANT, intern_policy, load_jobs
from bench.question import Question, Sample
from noonmark.clock import monotonic_s
from noonmark.store.connect import OWNER_SETTINGS, Connection, connect
from noonmark.store.statement import statement

_RUN = ("shard", "nominal_at", "job_id", "due_at", "tenant_id", "version", "policy_id", "priority", "reason")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, default=200_000)
    parser.add_argument("--batch", type=int, default=1_000)
    parser.add_argument("--jobs", type=int, default=1_000)


async def run(options: argparse.Namespace) -> Sample:
    async with fresh_database() as database:
        figures = await measure(database, options.runs, options.batch, options.jobs)
        settings = {"postgres": database.settings, "runs": options.runs, "batch": options.batch, "jobs": options.jobs}
        return Sample(figures, settings)


async def measure(database: Database, runs: int, batch: int, jobs: int) -> dict[str, float]:
    """Each step of each batch is one transaction: COPY of the runs; one grant row; delete, COPY of history.

    The tables are the product's, and empty again afterwards.
    """
    policy_id = await intern_policy(database)
    await load_jobs(database, jobs, [], policy_id)
    job_ids = [row[0] for row in await database.connection.fetch("SELECT job_id FROM noonmark.job ORDER BY job_id")]
    await database.settle()
    connection = await connect(database.url, OWNER_SETTINGS)
    try:
        began_us = await connection.fetchval("SELECT clock_timestamp()")
        keys = [(job_ids[n % jobs] & 4095, began_us + n, job_ids[n % jobs]) for n in range(runs)]
        batches = [keys[start : start + batch] for start in range(0, runs, batch)]
        insert_s = -monotonic_s()
        for part in batches:
            await _insert(connection, part, policy_id)
        insert_s += monotonic_s()
        grant_s = finish_s = 0.0
        cpu_s = (await database.usage()).cpu_s
        for number, part in enumerate(batches):
            started_s = monotonic_s()
            await _grant(connection, number, part, began_us)
            granted_s = monotonic_s()
            await _finish(connection, number, part, began_us)
            grant_s += granted_s - started_s
            finish_s += monotonic_s() - granted_s
        cpu_s = (await database.usage()).cpu_s - cpu_s
    finally:
        await connection.close()
    await database.execute("TRUNCATE noonmark.run, noonmark.grant, noonmark.attempt, noonmark.job")
    return {
        "insert_us_per_run": insert_s / runs * 1e6,
        "grant_us_per_run": grant_s / runs * 1e6,
        "finish_us_per_run": finish_s / runs * 1e6,
        "postgres_us_per_run": cpu_s / runs * 1e6,
        "drain_runs_per_s": runs / (grant_s + finish_s),
        "runs_per_s": runs / (insert_s + grant_s + finish_s),
    }


async def _insert(connection: Connection, keys: list[tuple[int, int, int]], policy_id: int) -> None:
    rows = [(shard, at, job_id, at, TENANT, 1, policy_id, 5, 3) for shard, at, job_id in keys]
    await connection.copy_records_to_table("run", schema_name="noonmark", columns=_RUN, records=rows)


async def _grant(connection: Connection, number: int, keys: list[tuple[int, int, int]], at: int) -> None:
    row = (0, number, 1, at, [key[2] for key in keys], [key[1] for key in keys], [1] * len(keys))
    await connection.copy_records_to_table("grant", schema_name="noonmark", records=[row])


async def _finish(connection: Connection, number: int, keys: list[tuple[int, int, int]], at: int) -> None:
    columns: list[Any] = list(zip(*keys, strict=True))
    history = [
        (shard, job_id, nominal, 1, at, TENANT, 1, 1, nominal, at, at, 1, 10, True, None, None)
        for shard, nominal, job_id in keys
    ]
    async with connection.transaction():
        await connection.execute(statement("delete_runs"), *columns)
        await connection.execute(statement("delete_grants"), [0], [number])
        await connection.copy_records_to_table("attempt", schema_name="noonmark", records=history)


QUESTION = Question("limit", "What does the database alone do of the same durable work?", run, add_options)
