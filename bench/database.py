"""A PostgreSQL of its own for each repeat, with the schema, durable commits, and the server's own statistics."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import asyncpg

from bench.machine import family_cpu_s
from noonmark.clock import MonotonicClock, monotonic_s
from noonmark.embedded import temporary_postgres
from noonmark.store.connect import connect
from noonmark.store.migrate import make_partitions, migrate

SHARDS = 64
DURABLE = ("fsync", "synchronous_commit", "full_page_writes")


class Usage(NamedTuple):
    """The server's counters at one moment."""

    wal_bytes: int
    commits: int
    cpu_s: float


class Database:
    def __init__(self, url: str, postmaster: int, connection: Any, settings: dict[str, str]) -> None:
        self.url = url
        self.postmaster = postmaster
        self.connection = connection
        """For what the benchmark itself asks; plain asyncpg."""
        self.settings = settings

    async def value(self, query: str, *arguments: object) -> Any:
        return await self.connection.fetchval(query, *arguments)

    async def execute(self, query: str, *arguments: object) -> None:
        await self.connection.execute(query, *arguments)

    async def settle(self) -> None:
        """Loading is over: what it left to do is not charged to what is measured."""
        await self.execute("VACUUM ANALYZE")
        await self.execute("CHECKPOINT")

    async def usage(self) -> Usage:
        return Usage(
            int(await self.value("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')")),
            await self.value("SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"),
            family_cpu_s(self.postmaster),
        )

    async def dead_tuples(self) -> int:
        return int(await self.value("SELECT sum(n_dead_tup) FROM pg_stat_user_tables WHERE schemaname = 'noonmark'"))

    async def committed_at(self) -> float:
        """When the last row of history became durable, as a Unix time by the server's clock."""
        return float(
            await self.value(
                """
                SELECT extract(epoch FROM max(pg_xact_commit_timestamp(xid)))
                FROM (SELECT DISTINCT xmin AS xid FROM noonmark.attempt) commits
                """
            )
        )

    async def finish_all(self, timeout_s: float, condition: str = "true") -> bool:
        """Waits until no such run is left; asks rarely, since asking costs too."""
        until_s = monotonic_s() + timeout_s
        while await self.value(f"SELECT EXISTS (SELECT FROM noonmark.run WHERE {condition})"):
            if monotonic_s() > until_s:
                return False
            await asyncio.sleep(0.2)
        return True


@asynccontextmanager
async def fresh_database(shards: int = SHARDS) -> AsyncIterator[Database]:
    # Commit timestamps tell exactly when a finish became durable; they cost ten bytes a commit.
    with temporary_postgres(settings={"track_commit_timestamp": "on"}) as server:
        owner = await connect(server.url)
        await migrate(owner, shards)
        clock = MonotonicClock()
        before_s = monotonic_s()
        clock.observe(before_s, await owner.fetchval("SELECT clock_timestamp()"), monotonic_s())
        await make_partitions(owner, clock)
        await owner.close()
        connection = await asyncpg.connect(server.url)
        try:
            shown = {"version": await connection.fetchval("SHOW server_version")}
            for name in (*DURABLE, "shared_buffers", "max_wal_size"):
                shown[name] = await connection.fetchval(f"SHOW {name}")
            if any(shown[name] != "on" for name in DURABLE):
                raise RuntimeError(f"commits are not durable here, so the figures would mean nothing: {shown}")
            yield Database(server.url, server.pid, connection, shown)
        finally:
            await connection.close()
