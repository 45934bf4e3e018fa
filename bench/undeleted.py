"""The measurement behind ADR 12: a queue whose ends delete rows, against one whose ends are history rows alone.

`python -m bench.undeleted [--held] [--seconds N]` does the same durable work both ways, in turn, over one connection:
COPY of 1,000 runs; a grant; the end of all of them. The first way deletes the runs, as the product does. The second
leaves them in partitions of ten seconds, which are dropped when all in them has ended. Vacuum is counted: the server
looks for work every ten seconds, and what it has left at the end is done before the reading. `--held` keeps a snapshot.
"""

import argparse
import asyncio
from typing import Any, NamedTuple

import asyncpg

from bench.database import Database, fresh_database
from bench.load import TENANT, intern_policy, load_jobs
from bench.machine import family_cpu_s
from bench.result import shown
from noonmark.clock import SECOND_US, monotonic_s
from noonmark.store.connect import OWNER_SETTINGS, Connection, connect
from noonmark.store.statement import statement

_BATCH = 1_000
_JOBS = 1_000
_SLICE_S = 10
_SHARDS = 64
_RUN = ("shard", "nominal_at", "job_id", "due_at", "tenant_id", "version", "policy_id", "priority", "reason")
_LIVE = """
SELECT count(*) FROM {table} r
WHERE r.shard = $1 AND NOT EXISTS (
    SELECT FROM noonmark.attempt a
    WHERE a.shard = r.shard AND a.job_id = r.job_id AND a.nominal_at = r.nominal_at AND a.final
)"""
"""What a new owner must ask of a shard when ends delete nothing."""


class _Way(NamedTuple):
    name: str
    schema: str
    deletes: bool


_WAYS = (_Way("ends delete", "noonmark", True), _Way("ends are history alone", "trial", False))


class _Slices:
    """The partitions of the second way: made ahead of their time, dropped behind it."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._there: list[int] = []

    async def keep(self, now_s: int, behind: int) -> None:
        current = now_s // _SLICE_S
        for number in (current, current + 1):
            if number not in self._there:
                from_s, to_s = number * _SLICE_S, (number + 1) * _SLICE_S
                await self._connection.execute(
                    f"CREATE TABLE trial.run_{number} PARTITION OF trial.run"
                    f" FOR VALUES FROM (to_timestamp({from_s})) TO (to_timestamp({to_s}))"
                )
                self._there.append(number)
        for number in [number for number in self._there if number < current - behind]:
            await self._connection.execute(f"DROP TABLE trial.run_{number}")
            self._there.remove(number)


async def _work(
    connection: Connection, way: _Way, keys: list[tuple[int, int, int]], number: int, policy_id: int
) -> None:
    rows = [(shard, at, job_id, at, TENANT, 1, policy_id, 5, 3) for shard, at, job_id in keys]
    await connection.copy_records_to_table("run", schema_name=way.schema, columns=_RUN, records=rows)
    at_us = keys[0][1]
    grant = (0, number, 1, at_us, [key[2] for key in keys], [key[1] for key in keys], [1] * len(keys))
    await connection.copy_records_to_table("grant", schema_name="noonmark", records=[grant])
    history = [
        (shard, job_id, nominal, 1, at_us, TENANT, 1, 1, nominal, at_us, at_us, 1, 10, True, None, None)
        for shard, nominal, job_id in keys
    ]
    async with connection.transaction():
        if way.deletes:
            await connection.execute(statement("delete_runs"), *zip(*keys, strict=True))
        await connection.execute(statement("delete_grants"), [0], [number])
        await connection.copy_records_to_table("attempt", schema_name="noonmark", records=history)


async def _measure(database: Database, way: _Way, seconds: int, *, held: bool) -> dict[str, float]:
    await database.execute("ALTER SYSTEM SET autovacuum_naptime = '10s'")
    await database.execute("SELECT pg_reload_conf()")
    policy_id = await intern_policy(database)
    await load_jobs(database, _JOBS, [], policy_id)
    job_ids = [row[0] for row in await database.connection.fetch("SELECT job_id FROM noonmark.job ORDER BY job_id")]
    await database.execute("CREATE SCHEMA trial")
    await database.execute("CREATE TABLE trial.run (LIKE noonmark.run INCLUDING ALL) PARTITION BY RANGE (nominal_at)")
    await database.settle()
    slices = _Slices(database.connection)
    holder = await asyncpg.connect(database.url)
    if held:
        await holder.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        await holder.fetchval("SELECT count(*) FROM noonmark.job")
    connection = await connect(database.url, OWNER_SETTINGS)
    marks = [(0, family_cpu_s(database.postmaster))]
    began_s, runs, number, kept_s = monotonic_s(), 0, 0, 0
    while (spent_s := monotonic_s() - began_s) < seconds:
        now_us = int(await connection.fetchval("SELECT clock_timestamp()"))
        if not way.deletes and now_us // SECOND_US != kept_s:
            kept_s = now_us // SECOND_US
            await slices.keep(kept_s, 1)
        keys = [(job_ids[n % _JOBS] & 4095, now_us + n, job_ids[n % _JOBS]) for n in range(_BATCH)]
        await _work(connection, way, keys, number, policy_id)
        runs, number = runs + _BATCH, number + 1
        if spent_s > seconds * len(marks) / 3:
            marks.append((runs, family_cpu_s(database.postmaster)))
    rate = runs / (monotonic_s() - began_s)
    takeover_s = -monotonic_s()
    await connection.fetchval(_LIVE.format(table=f"{way.schema}.run"), 1)
    takeover_s += monotonic_s()
    if not way.deletes:
        await slices.keep(kept_s + 10 * _SLICE_S, 1)
    await database.execute("VACUUM noonmark.run, noonmark.grant, noonmark.attempt")
    marks.append((runs, family_cpu_s(database.postmaster)))
    await connection.close()
    await holder.close()
    (_, start_s), (first, first_s), (second, second_s), (_, end_s) = marks[0], marks[1], marks[-2], marks[-1]
    return {
        "runs_per_s": rate,
        "postgres_us_per_run": (end_s - start_s) / runs * 1e6,
        "first_third_us": (first_s - start_s) / first * 1e6,
        "last_third_us": (end_s - second_s) / (runs - second) * 1e6,
        "takeover_of_a_shard_ms": takeover_s * 1e3,
    }


async def main(seconds: int, repeats: int, *, held: bool) -> None:
    for _ in range(repeats):
        for way in _WAYS:
            async with fresh_database() as database:
                figures = await _measure(database, way, seconds, held=held)
            told = "  ".join(f"{name}={shown(value)}" for name, value in figures.items())
            print(f"{way.name:24} {'snapshot held' if held else 'no snapshot':14} {told}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held", action="store_true")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    asyncio.run(main(options.seconds, options.repeats, held=options.held))
