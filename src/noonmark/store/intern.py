"""Interned policies and schedules: the text is the key, the number is what rows carry."""

from collections.abc import Collection

import msgspec

from noonmark.model.ids import PolicyId, ScheduleId
from noonmark.model.policy import Policy
from noonmark.store.connect import Connection, Pool
from noonmark.store.statement import statement

_encode = msgspec.json.Encoder(order="deterministic").encode


async def intern_policies(pool: Pool, policies: Collection[Policy]) -> dict[Policy, PolicyId]:
    texts = {_encode(policy).decode(): policy for policy in policies}
    ids = await _intern(pool, list(texts), "intern_policies", "load_policy_ids")
    return {policy: PolicyId(ids[text]) for text, policy in texts.items()}


async def intern_schedules(pool: Pool, texts: Collection[str]) -> dict[str, ScheduleId]:
    ids = await _intern(pool, list(texts), "intern_schedules", "load_schedule_ids")
    return {text: ScheduleId(number) for text, number in ids.items()}


async def _intern(pool: Pool, texts: list[str], insert: str, load: str) -> dict[str, int]:
    if not texts:
        return {}
    found = {row[1]: row[0] for row in await pool.fetch(statement(load), texts)}
    missing = [text for text in texts if text not in found]
    if missing:
        await pool.execute(statement(insert), missing)
        found |= {row[1]: row[0] for row in await pool.fetch(statement(load), missing)}
    return found


async def load_policies(connection: Connection, policy_ids: Collection[int]) -> dict[PolicyId, Policy]:
    rows = await connection.fetch(statement("load_policies"), list(policy_ids))
    return {PolicyId(row[0]): msgspec.json.decode(row[1], type=Policy) for row in rows}
