"""Notices and the troubles of watched jobs: written with the decisions that they tell of, read by a new owner."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from noonmark.clock import SECOND_US
from noonmark.model.ids import JobId, TenantId, shard_of
from noonmark.model.notice import NoticeRow, NoticeRule, Trouble
from noonmark.model.reason import Outcome
from noonmark.shard.silence import Expectation
from noonmark.store.connect import Connection, Pool
from noonmark.store.statement import statement


class Target(NamedTuple):
    """Where a subscription's notices go."""

    name: str
    kind: str
    url: str
    secret: str | None
    old_secret: str | None


async def insert_notices(connection: Connection, notices: Sequence[NoticeRow]) -> None:
    await connection.execute(statement("insert_notices"), *zip(*notices, strict=True))


async def write_troubles(connection: Connection, troubles: Mapping[JobId, Trouble | None]) -> None:
    begun = [
        (shard_of(job_id), job_id, trouble.since_us, _array(trouble.silent_for))
        for job_id, trouble in troubles.items()
        if trouble is not None
    ]
    ended = [(shard_of(job_id), job_id) for job_id, trouble in troubles.items() if trouble is None]
    if begun:
        await save_troubles(connection, begun)
    if ended:
        await delete_troubles(connection, ended)


async def save_troubles(connection: Connection, begun: Sequence[tuple[int, JobId, int, str]]) -> None:
    await connection.execute(statement("save_troubles"), *zip(*begun, strict=True))


async def delete_troubles(connection: Connection, ended: Sequence[tuple[int, JobId]]) -> None:
    await connection.execute(statement("delete_troubles"), *zip(*ended, strict=True))


async def load_troubles(connection: Connection, shard: int) -> dict[JobId, Trouble]:
    rows = await connection.fetch(statement("load_troubles"), shard)
    return {job_id: Trouble(since_us, frozenset(silent_for)) for job_id, since_us, silent_for in rows}


async def peek_subscriptions(pool: Pool) -> tuple[int, bool]:
    """How often they were changed, and whether there are any."""
    row = await pool.fetchrow(statement("peek_subscriptions"))
    assert row is not None
    return int(row[0]), row[1]


async def load_rules(pool: Pool) -> list[NoticeRule]:
    return [
        NoticeRule(number, TenantId(tenant_id), job_id, frozenset(events), _us(quiet_s), _us(late_s))
        for number, tenant_id, job_id, events, quiet_s, late_s in await pool.fetch(statement("load_rules"))
    ]


async def load_expectations(
    pool: Pool, shards: Sequence[int], job_ids: Sequence[int] | None, most: int
) -> list[tuple[Expectation, str | None]]:
    """Each with the text of the job's schedule, if it recurs by the clock."""
    found: list[tuple[Expectation, str | None]] = []
    for row in await pool.fetch(statement("load_expectations"), shards, job_ids, most, Outcome.SUCCEEDED):
        number, job_id, since_us, ends_us, text, skips, current_run_us, every_s, grace_s, succeeded_us = row
        every_us = None if every_s is None else _us(every_s)
        known = Expectation(
            number,
            job_id,
            since_us,
            ends_us,
            frozenset(skips or ()),
            current_run_us,
            every_us,
            _us(grace_s),
            succeeded_us,
        )
        found.append((known, text))
    return found


async def load_target(pool: Pool, delivery_job: int) -> Target | None:
    row = await pool.fetchrow(statement("load_target"), delivery_job)
    return None if row is None else Target(*row)


def _array(numbers: frozenset[int]) -> str:
    return "{" + ",".join(map(str, sorted(numbers))) + "}"


def _us(seconds: float) -> int:
    return round(seconds * SECOND_US)
