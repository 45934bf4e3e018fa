"""Connections to PostgreSQL as Noonmark uses them: instants as whole microseconds, JSON as text, durable commits."""

import re
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import asyncpg

from noonmark.clock import NEVER_US
from noonmark.store.away import is_away

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]
    Pool = asyncpg.Pool[asyncpg.Record]
else:
    Connection = asyncpg.Connection
    Pool = asyncpg.Pool

_POSTGRES_EPOCH_US = 946_684_800_000_000
_INFINITY = 2**63 - 1

OWNER_SETTINGS = {
    "application_name": "noonmark node",
    # A frozen node must not hold the lock on its own row for longer than its lease.
    "idle_in_transaction_session_timeout": "2000",
    # Hot statements find rows of large tables by small arrays of keys; statistics of a queue table are never right. The
    # order of a join is pinned in the statement (OFFSET 0, LIMIT, places); where two indexes would do, an ORDER BY that
    # only the right one serves picks it, since sorting is off.
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_bitmapscan": "off",
    "enable_material": "off",
    "enable_sort": "off",
    "enable_incremental_sort": "off",
    "synchronous_commit": "on",
    "jit": "off",
}


def _encode_instant(instant_us: int) -> tuple[int]:
    return (_INFINITY if instant_us >= NEVER_US else instant_us - _POSTGRES_EPOCH_US,)


def _decode_instant(value: tuple[int]) -> int:
    instant = value[0]
    return NEVER_US if instant == _INFINITY else instant + _POSTGRES_EPOCH_US


async def prepare(connection: Any) -> None:
    await connection.set_type_codec(
        "timestamptz", schema="pg_catalog", encoder=_encode_instant, decoder=_decode_instant, format="tuple"
    )


async def connect(database_url: str, settings: dict[str, str] | None = None, timeout_s: float = 5.0) -> Connection:
    connection = await asyncpg.connect(database_url, timeout=timeout_s, server_settings=settings or {})
    await prepare(connection)
    return connection


async def read_clock(connection: Connection) -> int:
    """The database's time, which all decisions go by."""
    return int(await connection.fetchval("SELECT clock_timestamp()"))


async def ping(pool: Pool) -> None:
    """Returns if the database answers."""
    await pool.fetchval("SELECT 1")


class ReadPool(Pool):
    """Repeats a statement that only reads, once, on a new connection, when the server has ended the one it was on."""

    async def fetch(self, query: str, *args: Any, **more: Any) -> Any:
        return await self._again(super().fetch, query, *args, **more)

    async def fetchrow(self, query: str, *args: Any, **more: Any) -> Any:
        return await self._again(super().fetchrow, query, *args, **more)

    async def fetchval(self, query: str, *args: Any, **more: Any) -> Any:
        return await self._again(super().fetchval, query, *args, **more)

    async def _again(self, run: Callable[..., Awaitable[Any]], query: str, *args: Any, **more: Any) -> Any:
        try:
            return await run(query, *args, **more)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, ConnectionError) as error:
            if not is_away(error) or not _reads(query):
                raise
        await self.expire_connections()  # those that lie idle may have been ended with it
        return await run(query, *args, **more)


@lru_cache(maxsize=1_000)
def _reads(query: str) -> bool:
    plain = re.sub(r"--[^\n]*", "", query)
    return _BEGINS.match(plain) is not None and _CHANGES.search(plain) is None


_BEGINS = re.compile(r"\s*(SELECT|WITH)\b", re.IGNORECASE)
_CHANGES = re.compile(r"\b(INSERT|UPDATE|DELETE|MERGE|nextval|setval)\b", re.IGNORECASE)


async def _keep_as_it_is(connection: Any) -> None:
    """Nothing that the pool runs leaves a trace in its session, so nothing has to be reset between two uses."""


async def open_pool(database_url: str, size: int = 4) -> Pool:
    """For reads and for rows that have no owner; statements planned as usual."""
    pool = ReadPool(
        database_url,
        min_size=1,
        max_size=size,
        max_queries=50_000,
        max_inactive_connection_lifetime=300.0,
        connect=None,
        setup=None,
        init=prepare,
        reset=_keep_as_it_is,
        loop=None,
        connection_class=asyncpg.Connection,
        record_class=asyncpg.Record,
        timeout=5.0,
        command_timeout=30.0,
        server_settings={
            "application_name": "noonmark reads",
            "idle_in_transaction_session_timeout": OWNER_SETTINGS["idle_in_transaction_session_timeout"],
            "jit": "off",
        },
    )
    await pool
    return pool
