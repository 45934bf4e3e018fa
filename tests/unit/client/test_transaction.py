"""Submitting inside the caller's own transaction, on a real PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime

import asyncpg
import pytest

from noonmark import submit_in
from noonmark.embedded import temporary_postgres
from noonmark.store.migrate import migrate

ADD_JOB = """
INSERT INTO noonmark.job (shard, job_id, tenant_id, version, policy_id, priority, catch_up, created_at, updated_at,
    planned_from, name)
SELECT noonmark.shard_for(tenant_id, 'task:greet'), 1, tenant_id, 1, 1, 5, 1, now(), now(), now(), 'task:greet'
FROM noonmark.tenant WHERE name = 'default'
"""
INBOX = "SELECT due_at, priority, has_input, input::text AS input FROM noonmark.inbox ORDER BY inbox_id"


async def _prepare(dsn: str) -> None:
    connection = await asyncpg.connect(dsn)
    await migrate(connection)
    await connection.execute(ADD_JOB)
    await connection.close()


@pytest.fixture(scope="module")
def dsn() -> Iterator[str]:
    with temporary_postgres() as server:
        asyncio.run(_prepare(server.url))
        yield server.url


@pytest.fixture
async def connection(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(dsn)
    yield connection
    await connection.execute("DELETE FROM noonmark.inbox")
    await connection.close()


async def test_commit_makes_it_visible(connection):
    moment = datetime(2130, 1, 1, tzinfo=UTC)
    async with connection.transaction():
        await submit_in(connection, "task:greet", {"name": "you"}, at=moment, priority=9)
        await submit_in(connection, "task:greet")
    first, second = await connection.fetch(INBOX)
    assert (first["due_at"], first["priority"], first["input"]) == (moment, 9, '{"name":"you"}')
    assert (second["due_at"], second["priority"], second["has_input"]) == (None, None, False)


async def test_rollback_leaves_nothing(connection):
    transaction = connection.transaction()
    await transaction.start()
    await submit_in(connection, "task:greet")
    await transaction.rollback()
    assert not await connection.fetch(INBOX)


async def test_a_job_that_does_not_exist(connection):
    with pytest.raises(asyncpg.PostgresError, match="no job named"):
        await submit_in(connection, "nobody")


async def test_a_time_without_a_zone(connection):
    with pytest.raises(ValueError, match="time zone"):
        await submit_in(connection, "task:greet", at=datetime(2130, 1, 1))  # noqa: DTZ001
