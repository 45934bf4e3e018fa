"""Holds the lease, and keeps the node's share of the shards.

Protocol
- Every node renews its lease (`lease_s`) every `renew_s`, on a connection of its own. What it trusts of the lease is
  counted from before the renewal was sent, so its trust ends before the lease does.
- Any node that meets an expired lease declares that node dead (`reaper`), which frees its shards under new terms.
- Each node takes free shards up to its share, or gives away those above it. Giving away goes through the
  committer: all decisions for the shard are durable before the shard is free.
- A change of ownership rings a bell (NOTIFY), so that others look at once.
"""

import asyncio

import structlog

from noonmark.clock import SECOND_US, monotonic_s
from noonmark.model.ids import WorkerId
from noonmark.model.run import GrantRow, RunRow
from noonmark.node.life import Life
from noonmark.node.loop import Loop
from noonmark.shard.assignment import moves
from noonmark.shard.listening import NodeLife, last_heard_us
from noonmark.store.connect import Connection
from noonmark.store.fence import Fenced
from noonmark.store.notices import load_troubles
from noonmark.store.ownership import (
    CHANNEL,
    Taken,
    give_shards,
    load_node_lives,
    load_ownership,
    renew_lease,
    take_shards,
)
from noonmark.store.pages import load_granted_runs, load_grants, load_paused, load_schedules
from noonmark.store.workers import load_seen_workers

log = structlog.get_logger("noonmark.ownership")


class OwnershipLoop(Loop):
    name = "ownership"

    def __init__(self, life: Life) -> None:
        super().__init__(life.config.renew_s)
        self._life = life

    async def start(self) -> None:
        await self._life.lease.add_listener(CHANNEL, lambda *_: self.bell.set())

    async def tick(self) -> None:
        await renew(self._life)
        self._life.ownership = await load_ownership(self._life.lease)
        await balance(self._life)


async def renew(life: Life) -> None:
    before_s = monotonic_s()
    async with asyncio.timeout(life.config.lease_s):
        now_us = await renew_lease(life.lease, life.node_id, life.config.lease_s)
    if now_us is None:
        raise Fenced(f"node {life.node_id} was declared dead")
    life.clock.observe(before_s, now_us, monotonic_s())
    life.trusted_until_s = before_s + life.config.lease_s


async def balance(life: Life) -> None:
    plan = moves(life.ownership.owners, life.ownership.nodes, life.node_id)
    if plan.give:
        await give(life, plan.give)
    if plan.take:
        await take(life, plan.take)
    if not plan.give and not plan.take:
        life.balanced.set()


async def give(life: Life, shards: list[int]) -> None:
    async def action(connection: Connection) -> None:
        await give_shards(connection, life.node_id, shards)

    def prepare() -> None:
        for shard in shards:
            if life.terms.pop(shard, None) is not None:
                life.owner.drop(shard)
                life.timetable.drop(shard)

    await life.committer.perform(action, prepare)
    life.ownership_changes += len(shards)
    log.info("gave shards away", shards=len(shards), node_id=life.node_id)


async def take(life: Life, most: int) -> None:
    """Each shard's grants, runs and schedules are read before the next transaction of this node can touch it."""

    async def action(connection: Connection) -> list[Taken]:
        grace_us = round(life.config.grace_s * SECOND_US)
        taken = await take_shards(connection, life.node_id, most, life.clock.now_us(), grace_us)
        lives = await load_node_lives(connection, life.config.lease_s) if taken else []
        for one in taken:
            await _adopt(life, connection, one, lives)
        return taken

    taken = await life.committer.perform(action)
    if taken:
        life.tick_wanted.set()
        life.ownership_changes += len(taken)
        log.info("took shards", shards=len(taken), owned=len(life.terms), node_id=life.node_id)


async def _adopt(life: Life, connection: Connection, taken: Taken, lives: list[NodeLife]) -> None:
    shard = taken.shard
    grants: list[GrantRow] = await load_grants(connection, shard)
    granted: list[RunRow] = []
    heard_us: dict[WorkerId, int] = {}
    if grants:
        seen = await load_seen_workers(connection, {grant.worker_id for grant in grants})
        now_us, limits = life.clock.now_us(), life.config.limits
        heard_us = {
            worker_id: last_heard_us(seen_us, lives, life.began_us, now_us, limits)
            for worker_id, seen_us in seen.items()
        }
        granted = await load_granted_runs(connection, shard)
        await life.know_policies(connection, {row.policy_id for row in granted})
        life.owner.paused.update(await load_paused(connection, shard, [row.job_id for row in granted]))
    for schedule_id, text in (await load_schedules(connection, shard)).items():
        life.timetable.add(shard, schedule_id, text)
    life.owner.notice_rules.troubles.update(await load_troubles(connection, shard))
    life.terms[shard] = taken.term
    life.owner.adopt(shard, taken.watermark_us, grants, granted, life.clock.now_us(), heard_us)
