"""Interned policies and schedules: the text is the key, and rows carry the number."""

from collections.abc import Collection

import msgspec

from noonmark.model.ids import PolicyId, ScheduleId
from noonmark.model.policy import Policy
from noonmark.store.connect import Connection, Pool
from noonmark.store.statement import statement

_encode = msgspec.json.Encoder(order="deterministic").encode


async def intern_policies(pool: Pool, policies: Collection[Policy]) -> dict[Policy, PolicyId]:
    texts = {_encode(policy).decode(): policy for policy in policies}
    ids = await load_policy_ids(pool, list(texts))
    missing = [text for text in texts if text not in ids]
    if missing:
        await pool.execute(statement("intern_policies"), missing)
        ids |= await load_policy_ids(pool, missing)
    return {policy: PolicyId(ids[text]) for text, policy in texts.items()}


async def load_policy_ids(pool: Pool, texts: list[str]) -> dict[str, int]:
    return {row[1]: row[0] for row in await pool.fetch(statement("load_policy_ids"), texts)} if texts else {}


async def intern_schedules(pool: Pool, texts: Collection[str]) -> dict[str, ScheduleId]:
    ids = await load_schedule_ids(pool, list(texts))
    missing = [text for text in texts if text not in ids]
    if missing:
        await pool.execute(statement("intern_schedules"), missing)
        ids |= await load_schedule_ids(pool, missing)
    return {text: ScheduleId(number) for text, number in ids.items()}


async def load_schedule_ids(pool: Pool, texts: list[str]) -> dict[str, int]:
    return {row[1]: row[0] for row in await pool.fetch(statement("load_schedule_ids"), texts)} if texts else {}


async def load_policies(connection: Connection, policy_ids: Collection[int]) -> dict[PolicyId, Policy]:
    rows = await connection.fetch(statement("load_policies"), list(policy_ids))
    return {PolicyId(row[0]): msgspec.json.decode(row[1], type=Policy) for row in rows}
