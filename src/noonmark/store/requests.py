"""Requests with a key that were carried out, and their answers.

The row of a request is written in the transaction of its effect, so it is there if and only if the effect is.
"""

from collections.abc import Sequence
from typing import NamedTuple

from noonmark.model.request import RequestRow
from noonmark.store.columns import columns
from noonmark.store.connect import Connection, Pool
from noonmark.store.statement import statement

NO_SHARD = -1
"""Of requests that change rows without a shard: keys, tenants, subscriptions."""
_MAX_FORGOTTEN = 5_000


class KnownRequest(NamedTuple):
    shard: int
    fingerprint: bytes
    answer: str | None


async def find_requests(connection: Connection | Pool, tenant_id: int, key: str, now_us: int) -> list[KnownRequest]:
    rows = await connection.fetch(statement("find_requests"), tenant_id, key, now_us)
    return [KnownRequest(*row) for row in rows]


async def lock_request(connection: Connection, tenant_id: int, key: str) -> None:
    await connection.execute(statement("lock_request"), tenant_id, key)


async def keep_requests(connection: Connection, rows: Sequence[RequestRow]) -> None:
    if rows:
        await connection.execute(statement("keep_requests"), *columns(rows, 6))


async def forget_requests(pool: Pool, shards: Sequence[int], now_us: int) -> bool:
    """Whether there may be more that have expired."""
    status = await pool.execute(statement("forget_requests"), [*shards, NO_SHARD], now_us, _MAX_FORGOTTEN)
    return status == f"DELETE {_MAX_FORGOTTEN}"
