"""Facts about the database and the work in it, from which the doctor judges their health."""

from typing import NamedTuple

from noonmark.store.connect import Pool
from noonmark.store.statement import statement

COUNTED = 100_000


class DatabaseRecord(NamedTuple):
    now_us: int
    version: str
    version_number: int
    migration: int
    settings: str
    connections: int
    max_connections: int
    size_bytes: int
    oldest_transaction_s: float
    data_directory: str | None


class TableRecord(NamedTuple):
    name: str
    live_rows: int
    dead_rows: int
    size_bytes: int
    vacuumed_us: int | None


class ShardsRecord(NamedTuple):
    shards: int
    without_owner: int
    watermark_age_s: float


class DueRecord(NamedTuple):
    queue: str
    task: str
    runs: int
    oldest_s: float
    served: bool


class ExpiringKey(NamedTuple):
    prefix: str
    expired: bool


async def examine_database(pool: Pool) -> DatabaseRecord:
    row = await pool.fetchrow(statement("examine_database"))
    assert row is not None
    return DatabaseRecord(*row)


async def examine_tables(pool: Pool) -> list[TableRecord]:
    return [TableRecord(*row) for row in await pool.fetch(statement("examine_tables"))]


async def examine_shards(pool: Pool) -> ShardsRecord:
    row = await pool.fetchrow(statement("examine_shards"))
    assert row is not None
    return ShardsRecord(*row)


async def examine_due_runs(pool: Pool) -> list[DueRecord]:
    return [DueRecord(*row) for row in await pool.fetch(statement("examine_due_runs"), COUNTED)]


async def count_dead(pool: Pool) -> int:
    return int(await pool.fetchval(statement("count_dead"), COUNTED) or 0)


async def list_expiring_keys(pool: Pool) -> list[ExpiringKey]:
    return [ExpiringKey(*row) for row in await pool.fetch(statement("list_expiring_keys"))]
