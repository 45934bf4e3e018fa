"""Numbered migrations, safe to start from several nodes at once.

Each `migrations/NNNN_name.sql` runs once, in order, all of them under one advisory lock; the last number is kept in
`noonmark.setting`. A file that older code cannot live with says `-- breaking` in its first line and raises the *oldest
compatible* number: code whose newest migration is below that refuses to start.
"""

from importlib import resources
from typing import NamedTuple

from noonmark.clock import Clock, to_datetime
from noonmark.errors import InvalidInput, SchemaTooNew
from noonmark.model.ids import MAX_SHARDS
from noonmark.model.reason import SENTENCES
from noonmark.store.connect import Connection

_LOCK = 0x6E6F6F6E6D61726B


class Migration(NamedTuple):
    number: int
    name: str
    sql: str

    @property
    def breaking(self) -> bool:
        return self.sql.startswith("-- breaking")


def migrations() -> list[Migration]:
    files = resources.files("noonmark.store").joinpath("migrations").iterdir()
    found = [
        Migration(int(file.name[:4]), file.name.removesuffix(".sql"), file.read_text())
        for file in files
        if file.name.endswith(".sql")
    ]
    return sorted(found)


async def migrate(connection: Connection, shard_count: int = 64, known: list[Migration] | None = None) -> int:
    """Brings the schema up to date and answers the number of shards, which is set once, at install."""
    if not 1 <= shard_count <= MAX_SHARDS:
        raise InvalidInput("shards", f"{shard_count} is out of bounds", f"use 1 to {MAX_SHARDS}")
    known = migrations() if known is None else known
    await connection.execute("SELECT pg_advisory_lock($1)", _LOCK)
    try:
        async with connection.transaction():
            await connection.execute("CREATE SCHEMA IF NOT EXISTS noonmark")
            at, compatible = await _position(connection)
            newest = known[-1].number
            if compatible > newest:
                raise SchemaTooNew(
                    f"the database needs migration {compatible:04} or later, this Noonmark knows {newest:04}",
                    fix="upgrade this node",
                )
            for migration in known:
                if migration.number > at:
                    await connection.execute(migration.sql)
                    await _keep(connection, "migration", migration.number)
                    if migration.breaking:
                        await _keep(connection, "oldest_compatible", migration.number)
            if at == 0:
                await _install(connection, shard_count)
            await _write_reasons(connection)
        return int(await connection.fetchval("SELECT value FROM noonmark.setting WHERE name = 'shard_count'"))
    finally:
        await connection.execute("SELECT pg_advisory_unlock($1)", _LOCK)


async def _position(connection: Connection) -> tuple[int, int]:
    if await connection.fetchval("SELECT to_regclass('noonmark.setting') IS NULL"):
        return 0, 0
    rows = await connection.fetch(
        "SELECT name, value FROM noonmark.setting WHERE name IN ('migration', 'oldest_compatible')"
    )
    values = {row[0]: int(row[1]) for row in rows}
    return values.get("migration", 0), values.get("oldest_compatible", 0)


async def _keep(connection: Connection, name: str, value: int) -> None:
    await connection.execute(
        "INSERT INTO noonmark.setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = $2",
        name,
        str(value),
    )


async def _install(connection: Connection, shard_count: int) -> None:
    await _keep(connection, "shard_count", shard_count)
    # One watermark for all: shards that stand together are ticked together.
    await connection.execute(
        "INSERT INTO noonmark.shard (shard, watermark)"
        " SELECT n, statement_timestamp() FROM generate_series(0, $1 - 1) n",
        shard_count,
    )


async def _write_reasons(connection: Connection) -> None:
    """The codes by name, for reading the tables by hand."""
    await connection.executemany(
        "INSERT INTO noonmark.reason (code, name, sentence) VALUES ($1, $2, $3)"
        " ON CONFLICT (code) DO UPDATE SET name = $2, sentence = $3",
        [(reason, reason.name.lower(), sentence) for reason, sentence in SENTENCES.items()],
    )


async def load_node_secret(connection: Connection) -> str:
    """By which nodes know each other."""
    return str(await connection.fetchval("SELECT value FROM noonmark.setting WHERE name = 'node_secret'"))


async def make_partitions(connection: Connection, clock: Clock, days_ahead: int = 7) -> None:
    """One partition of history for each day (UTC) from yesterday on, and of the audit for each month."""
    await _make_audit_partitions(connection, clock, days_ahead)
    today = clock.now_us() // 86_400_000_000
    for day in range(today - 1, today + days_ahead + 1):
        from_s, to_s = day * 86_400, (day + 1) * 86_400
        await connection.execute(
            f"""
            DO $$ BEGIN
                IF to_regclass('noonmark.attempt_{day}') IS NULL THEN
                    PERFORM pg_advisory_xact_lock({_LOCK});
                    EXECUTE format(
                        'CREATE TABLE IF NOT EXISTS noonmark.attempt_{day} PARTITION OF noonmark.attempt
                         FOR VALUES FROM (%L) TO (%L)', to_timestamp({from_s}), to_timestamp({to_s}));
                END IF;
            END $$
            """
        )


async def _make_audit_partitions(connection: Connection, clock: Clock, days_ahead: int) -> None:
    now_us = clock.now_us()
    months = {to_datetime(now_us + day * 86_400_000_000).strftime("%Y-%m-01") for day in (-1, 0, days_ahead)}
    for month in sorted(months):
        name = f"audit_{month[:7].replace('-', '_')}"
        await connection.execute(
            f"""
            DO $$ BEGIN
                IF to_regclass('noonmark.{name}') IS NULL THEN
                    PERFORM pg_advisory_xact_lock({_LOCK});
                    EXECUTE format(
                        'CREATE TABLE IF NOT EXISTS noonmark.{name} PARTITION OF noonmark.audit
                         FOR VALUES FROM (%L) TO (%L)', timestamptz '{month} 00:00+00',
                        (timestamp '{month}' + interval '1 month') AT TIME ZONE 'UTC');
                END IF;
            END $$
            """
        )
