"""A real PostgreSQL for a test session, and a migrated database of its own for each test."""

import uuid
from collections.abc import AsyncIterator, Iterator

import asyncpg
import pytest

from noonmark.clock import SettableClock
from noonmark.embedded import temporary_postgres
from noonmark.store.connect import Pool, connect, open_pool
from noonmark.store.migrate import make_partitions, migrate

SHARDS = 8
_TEMPLATE = "api_template"


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    with temporary_postgres(settings={"fsync": "off"}) as server:
        yield server.url


async def _ensure_template(url: str) -> None:
    admin = await asyncpg.connect(url)
    try:
        if await admin.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", _TEMPLATE):
            return
        await admin.execute(f"CREATE DATABASE {_TEMPLATE}")
        template = await connect(_on(url, _TEMPLATE))
        await migrate(template, SHARDS)
        now_us = await template.fetchval("SELECT clock_timestamp()")
        await make_partitions(template, SettableClock(now_us))
        await template.close()
    finally:
        await admin.close()


@pytest.fixture
async def database_url(postgres_url: str) -> AsyncIterator[str]:
    await _ensure_template(postgres_url)
    name = f"api_{uuid.uuid4().hex[:12]}"
    admin = await asyncpg.connect(postgres_url)
    await admin.execute(f"CREATE DATABASE {name} TEMPLATE {_TEMPLATE}")
    yield _on(postgres_url, name)
    await admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
    await admin.close()


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[Pool]:
    pool = await open_pool(database_url)
    yield pool
    await pool.close()


def _on(url: str, database: str) -> str:
    head, _, query = url.partition("?")
    return f"{head.rpartition('/')[0]}/{database}?{query}"
