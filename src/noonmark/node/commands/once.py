"""A request with a key is carried out once, however often it is sent and whichever process dies.

The owner writes the key with the effect, in one transaction (`remember`), so either both are there or none. A command
with a known key gets the answer from then. In a batch each shard has a row of its own, so a repetition does the rest,
whichever nodes own the shards by then.

Invariants
- In one life, commands with one key go one after the other; so the answers read before a command (`recall`) hold until
  its turn, unless the shard has changed hands meanwhile. Each turn checks that the terms are still the same.
- A former owner's transactions are over before the next owner can read: taking a shard waits for them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from noonmark.errors import AnswerNotKept, KeyReused
from noonmark.model.request import KEPT_US, RequestRow
from noonmark.store.connect import Connection, Pool
from noonmark.store.requests import KnownRequest, find_requests, keep_requests
from noonmark.wire.commands import ANSWERS, Command, RequestKey

KEY_HEADER = "Idempotency-Key"


async def known_answers(connection: Connection | Pool, tenant_id: int, key: RequestKey, now_us: int) -> dict[int, str]:
    """The earlier answers under the key, by shard, as JSON; refuses a key that came with another request."""
    known: list[KnownRequest] = await find_requests(connection, tenant_id, key.text, now_us)
    if any(one.fingerprint != key.fingerprint for one in known):
        fix = "use a new key for a new request; one key belongs to one path and body"
        raise KeyReused(KEY_HEADER, "this key came with another request within the last day", fix)
    if any(one.answer is None for one in known):
        raise AnswerNotKept(
            "the first request with this key was carried out; its answer was not kept",
            field=KEY_HEADER,
            fix="read what it made with a GET",
        )
    return {one.shard: str(one.answer) for one in known}


async def recall(pool: Pool, command: Command[Any], now_us: int) -> dict[int, Any]:
    """The earlier answers to the command, by shard."""
    if command.key is None:
        return {}
    known = await known_answers(pool, command.tenant_id, command.key, now_us)
    kind = ANSWERS[type(command)]
    return {shard: msgspec.json.decode(text, type=kind) for shard, text in known.items()}


async def remember(connection: Connection, command: Command[Any], answers: Mapping[int, Any], now_us: int) -> None:
    """Writes the key, inside the transaction of the effect; `answers` by shard."""
    if command.key is not None:
        await keep_requests(connection, request_rows(command, answers, now_us))


def request_rows(command: Command[Any], answers: Mapping[int, Any], now_us: int) -> list[RequestRow]:
    key = command.key
    if key is None:
        return []
    return [
        RequestRow(
            command.tenant_id, key.text, shard, key.fingerprint, now_us + KEPT_US, msgspec.json.encode(answer).decode()
        )
        for shard, answer in answers.items()
    ]


def by_shard(shards: Sequence[int], answers: Sequence[Any]) -> dict[int, list[Any]]:
    """The answers of a batch: for each shard those of its items, in their order."""
    found: dict[int, list[Any]] = {}
    for shard, answer in zip(shards, answers, strict=True):
        found.setdefault(shard, []).append(answer)
    return found


def in_order(shards: Sequence[int], answers: Mapping[int, Sequence[Any]]) -> list[Any]:
    """The other way round: as the items of those shards stand in the batch."""
    left = {shard: iter(some) for shard, some in answers.items()}
    return [next(left[shard]) for shard in shards]
