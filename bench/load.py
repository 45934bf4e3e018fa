"""Jobs and backlogs put into the tables by SQL, as they would be after months of use."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import msgspec

from bench.database import SHARDS, Database
from noonmark.model.policy import Policy

TENANT = 1
_TABLE = "noonmark.{}"
_SHARD = f"(('x' || substr(md5('{TENANT}/' || name), 1, 8))::bit(32)::bigint % {SHARDS})"
"""As `noonmark.shard_for`, written out so that ten million of them take seconds."""


async def intern_policy(database: Database, task: str = "noop") -> int:
    text = msgspec.json.encode(Policy(task=task), order="deterministic").decode()
    await database.execute("INSERT INTO noonmark.task (name) VALUES ($1) ON CONFLICT DO NOTHING", task)
    await database.execute("INSERT INTO noonmark.policy (spec) VALUES ($1) ON CONFLICT DO NOTHING", text)
    return int(await database.value("SELECT policy_id FROM noonmark.policy WHERE spec = $1", text))


async def intern_schedules(database: Database, texts: Sequence[str]) -> list[int]:
    rows = await database.connection.fetch(
        """
        INSERT INTO noonmark.schedule (text)
        SELECT t.text FROM unnest($1::text[]) WITH ORDINALITY AS t (text, rank) ORDER BY t.rank
        RETURNING schedule_id
        """,
        texts,
    )
    return [row[0] for row in rows]


async def load_jobs(
    database: Database,
    count: int,
    schedules: Sequence[int],
    policy_id: int,
    jitter_ms: int = 0,
    name: str = "bench",
) -> None:
    """Active jobs `NAME-1` and so on, in turn on the schedules, at their shards; missed occurrences are skipped."""
    async with _indexes_apart(database, "job"):
        await database.execute(
            f"""
            INSERT INTO noonmark.job (shard, job_id, tenant_id, version, policy_id, schedule_id, jitter_ms, priority,
                catch_up, created_at, updated_at, planned_from, name)
            SELECT {_SHARD}, n << 12 | {_SHARD}, {TENANT}, 1, $2::integer,
                ($3::integer[])[n % cardinality($3::integer[]) + 1], n * 7919 % greatest($4::bigint, 1), 5, 0,
                statement_timestamp(), statement_timestamp(), statement_timestamp(), name
            FROM (SELECT n, $5 || '-' || n AS name FROM generate_series(1, $1::bigint) n) jobs
            """,
            count,
            policy_id,
            schedules or [None],
            jitter_ms,
            name,
        )
    await database.value("SELECT setval('noonmark.job_sequence', $1::bigint)", count)


async def load_backlog(database: Database, count: int, jobs: int, policy_id: int) -> None:
    """Waiting runs of `jobs` jobs, asked for one after the other, a microsecond apart, until a moment ago."""
    await load_jobs(database, jobs, [], policy_id)
    async with _indexes_apart(database, "run"):
        await database.execute(
            """
            INSERT INTO noonmark.run
                (shard, nominal_at, job_id, due_at, tenant_id, version, policy_id, priority, reason)
            SELECT j.shard, r.at, j.job_id, r.at, j.tenant_id, j.version, j.policy_id, j.priority, 3
            FROM (
                SELECT n % $2::bigint + 1 AS sequence,
                    statement_timestamp() - ($1::bigint - n) * interval '1 microsecond' AS at
                FROM generate_series(1, $1::bigint) n
            ) r
            JOIN noonmark.job j ON j.job_id >> 12 = r.sequence
            ORDER BY r.at
            """,
            count,
            jobs,
        )
    await stand_at_now(database)  # a run that does not sleep lies within its shard's watermark


async def stand_at_now(database: Database) -> None:
    """As if a node had stopped this moment: nothing that loading took time for counts as missed."""
    await database.execute("UPDATE noonmark.shard SET watermark = clock_timestamp()")


@asynccontextmanager
async def _indexes_apart(database: Database, table: str) -> AsyncIterator[None]:
    """Millions of rows go in faster when the table's indexes are built afterwards, from their own definitions."""
    name = _TABLE.format(table)
    constraints = await database.connection.fetch(
        """
        SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE conrelid = $1::text::regclass AND contype IN ('p', 'u')
        """,
        name,
    )
    for constraint, _ in constraints:
        await database.execute(f"ALTER TABLE {name} DROP CONSTRAINT {constraint}")
    indexes = await database.connection.fetch(
        "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index"
        " WHERE indrelid = $1::text::regclass",
        name,
    )
    for index, _ in indexes:
        await database.execute(f"DROP INDEX {index}")
    yield
    for constraint, definition in constraints:
        await database.execute(f"ALTER TABLE {name} ADD CONSTRAINT {constraint} {definition}")
    for _, definition in indexes:
        await database.execute(definition)
