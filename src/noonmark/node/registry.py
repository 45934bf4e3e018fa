"""Changes of rows without an owner (API keys, tenants, subscriptions): one transaction with the request's key."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from noonmark.model.request import KEPT_US, RequestRow
from noonmark.node.commands.once import known_answers
from noonmark.node.transport import Performed
from noonmark.store.connect import Connection, Pool
from noonmark.store.requests import NO_SHARD, keep_requests, lock_request
from noonmark.wire.commands import RequestKey


async def change_registry(
    pool: Pool,
    tenant_id: int,
    key: RequestKey | None,
    now_us: int,
    change: Callable[[Connection], Awaitable[Any]],
    kind: Any,
    *,
    secret: bool,
) -> Performed:
    """`kind` is the type of `change`'s answer. With `secret` a repetition learns that it was done, and no more."""
    async with pool.acquire() as pooled, pooled.transaction():
        connection: Connection = pooled  # type: ignore[assignment]
        if key is None:
            return Performed(await change(connection), replayed=False)
        await lock_request(connection, tenant_id, key.text)
        known = await known_answers(connection, tenant_id, key, now_us)
        if NO_SHARD in known:
            return Performed(msgspec.json.decode(known[NO_SHARD], type=kind), replayed=True)
        answer = await change(connection)
        text = None if secret else msgspec.json.encode(answer).decode()
        row = RequestRow(tenant_id, key.text, NO_SHARD, key.fingerprint, now_us + KEPT_US, text)
        await keep_requests(connection, [row])
        return Performed(answer, replayed=False)
