"""Installing and migrating the schema: from nothing, from several nodes at once, and past what this code knows."""

import asyncio

import pytest

from noonmark.errors import InvalidInput, SchemaTooNew
from noonmark.model.reason import Reason
from noonmark.store.connect import Connection, connect, open_pool
from noonmark.store.migrate import Migration, migrate, migrations
from noonmark.wire.resources import JobPatch
from tests.conftest import Engine, eventually


async def settings(connection: Connection) -> dict[str, str]:
    return dict(await connection.fetch("SELECT name, value FROM noonmark.setting"))  # type: ignore[arg-type]


async def test_four_nodes_install_at_once(empty_database_url: str) -> None:
    connections = [await connect(empty_database_url) for _ in range(4)]
    try:
        # Each asks for another number of shards; the first to come decides for all.
        counts = await asyncio.gather(*(migrate(one, 4 + n) for n, one in enumerate(connections)))
        assert len(set(counts)) == 1
        assert await connections[0].fetchval("SELECT count(*) FROM noonmark.shard") == counts[0]
        assert (await settings(connections[0]))["migration"] == str(migrations()[-1].number)
    finally:
        for one in connections:
            await one.close()


async def test_a_second_time_changes_nothing(connection: Connection) -> None:
    described = """
        SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = 'noonmark'::regnamespace AND a.attnum > 0 ORDER BY 1, 2
    """
    before = (await connection.fetch(described), await settings(connection))
    assert await migrate(connection, 500) == 8, "the number of shards is set once"
    assert (await connection.fetch(described), await settings(connection)) == before
    assert await connection.fetchval("SELECT count(*) FROM noonmark.shard") == 8


async def test_the_number_of_shards_is_bounded(connection: Connection) -> None:
    for count in (0, 4097):
        with pytest.raises(InvalidInput, match="out of bounds"):
            await migrate(connection, count)


def later(sql: str) -> list[Migration]:
    number = migrations()[-1].number + 1
    return [*migrations(), Migration(number, f"{number:04}_later", sql)]


async def test_older_code_lives_with_a_newer_schema_that_does_not_break_it(connection: Connection) -> None:
    await migrate(connection, 8, later("ALTER TABLE noonmark.job ADD COLUMN colour text"))
    assert await migrate(connection, 8) == 8
    assert (await settings(connection))["migration"] == str(migrations()[-1].number + 1), "it is not taken back"


async def test_older_code_refuses_a_newer_schema_that_breaks_it(connection: Connection) -> None:
    await migrate(connection, 8, later("-- breaking: jobs have colours\nALTER TABLE noonmark.job DROP COLUMN input"))
    with pytest.raises(SchemaTooNew, match="upgrade this node"):
        await migrate(connection, 8)
    assert await connection.fetchval("SELECT pg_try_advisory_lock(7953747912480254571)"), "the lock was left behind"


async def test_a_migration_that_fails_leaves_nothing_behind(connection: Connection) -> None:
    before = await settings(connection)
    with pytest.raises(Exception, match="division by zero"):
        await migrate(connection, 8, later("CREATE TABLE noonmark.half (n integer); SELECT 1 / 0"))
    assert await connection.fetchval("SELECT to_regclass('noonmark.half')") is None
    assert await settings(connection) == before
    assert await migrate(connection, 8) == 8


def test_migrations_are_numbered_without_gaps() -> None:
    assert [migration.number for migration in migrations()] == list(range(1, len(migrations()) + 1))


async def test_reasons_stand_in_their_table(connection: Connection) -> None:
    rows = await connection.fetch("SELECT code, name FROM noonmark.reason ORDER BY code")
    assert [tuple(row) for row in rows] == [(reason.value, reason.name.lower()) for reason in Reason]


async def test_every_table_that_grows_with_jobs_has_the_shard_first_in_its_key(connection: Connection) -> None:
    rows = await connection.fetch(
        """
        SELECT c.relname, a.attname FROM pg_class c
        JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
        WHERE c.relnamespace = 'noonmark'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        """
    )
    first = dict(rows)  # type: ignore[arg-type]
    fixed = {
        "setting", "tenant", "reason", "task", "schedule", "policy", "node", "lease", "worker", "api_key", "audit",
        "request", "subscription",
    }  # fmt: skip
    assert {table for table, column in first.items() if column != "shard"} == fixed


_OLD_JOB = """
INSERT INTO noonmark.schedule (text) VALUES ('every:1|phase 0|j0');
INSERT INTO noonmark.policy (spec) VALUES ('{{"task":"old_task"}}');
INSERT INTO noonmark.task (name) VALUES ('old_task');
INSERT INTO noonmark.job (shard, job_id, tenant_id, version, policy_id, schedule_id, priority, catch_up, created_at,
    updated_at, planned_from, name)
VALUES ({shard}, {job_id}, 1, 1, 1, 1, 5, 1, now(), now(), now(), 'old');
INSERT INTO noonmark.job_version (shard, job_id, version, created_at, spec)
VALUES ({shard}, {job_id}, 1, now(),
    '{{"name":"old","task":"old_task","schedule":{{"kind":"every","every":1}},"input":null,"queue":"default",
       "priority":5,"timeout_s":3600.0,"start_deadline_s":null,"retry":{{}},"delivery":"at_least_once","misfire":{{}},
       "jitter_s":0.0}}');
"""


async def test_jobs_of_the_first_schema_go_on_after_an_upgrade(empty_database_url: str) -> None:
    """A database as the first schema left it, with a schedule, a policy and a job, gets the newest code."""
    connection = await connect(empty_database_url)
    await migrate(connection, 4, migrations()[:1])
    shard = await connection.fetchval("SELECT noonmark.shard_for(1, 'old')")
    await connection.execute(_OLD_JOB.format(shard=shard, job_id=4096 + shard))
    await connection.close()
    pool = await open_pool(empty_database_url)
    engine = Engine(empty_database_url, pool)
    try:
        await engine.start_node()
        client = engine.client()
        job = await client.get_job("old")
        assert (job.state, job.canonical, job.labels) == ("active", "1s", {})

        async def fires() -> bool:
            return bool((await client.list_runs("old")).items)

        await eventually(fires)
        assert (await client.update_job("old", JobPatch(priority=7))).version == 2
    finally:
        await engine.close()
        await pool.close()
