"""Jobs are made: all of a command, or none."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from functools import cache

from noonmark.errors import DuplicateName
from noonmark.model.audit import Entry, entry
from noonmark.model.caller import Caller
from noonmark.model.ids import JobId, job_text
from noonmark.model.job_row import JobRow
from noonmark.model.run import RunRow
from noonmark.node.commands.intern import make_plans
from noonmark.node.commands.once import by_shard, remember
from noonmark.node.commands.turn import admit, enter, fire, moment, take_turn
from noonmark.node.life import Life
from noonmark.planning.bounds import OccurrenceBounds, bounds_from
from noonmark.planning.changes import create
from noonmark.planning.plan import Plan
from noonmark.schedule import Timing
from noonmark.schedule import recurrence as read_recurrence
from noonmark.store.audit import record
from noonmark.store.connect import Connection
from noonmark.store.fence import fenced
from noonmark.store.jobs import insert_jobs, next_job_ids
from noonmark.wire.commands import CreateJobs
from noonmark.wire.resources import JobSpec


class NewJobs:
    """Definitions on their way to becoming jobs."""

    def __init__(self, tenant_id: int, plans: list[Plan], bounds: list[OccurrenceBounds], created_us: int) -> None:
        self.tenant_id = tenant_id
        self.plans = plans
        self.created_us = created_us
        self._bounds = bounds

    @classmethod
    async def plan(cls, life: Life, tenant_id: int, specs: Sequence[JobSpec]) -> "NewJobs":
        twice = [name for name, count in Counter(spec.name for spec in specs).items() if count > 1]
        if twice:
            raise DuplicateName(f"the name {twice[0]!r} appears twice in this request", field="name")
        created_us = life.clock.now_us()
        plans = await make_plans(life.pool, tenant_id, specs, [created_us] * len(specs))
        return cls(tenant_id, plans, await _first_bounds(plans, created_us), created_us)

    async def insert(
        self, life: Life, connection: Connection, shards: Sequence[int], caller: Caller
    ) -> tuple[list[JobId], list[RunRow]]:
        """Inside a transaction: the new jobs, and their first runs, which enter memory when it is committed."""
        now_us = life.clock.now_us()
        job_ids = await next_job_ids(connection, shards)
        jobs: list[JobRow] = []
        rows: list[RunRow] = []
        for plan, bounds, job_id, shard in zip(self.plans, self._bounds, job_ids, shards, strict=True):
            recurrence = enter(life, plan, shard)
            at = moment(life, plan, shard, now_us)
            job, own = create(plan, self.tenant_id, job_id, self.created_us, bounds, recurrence, at)
            jobs.append(job)
            rows += own
        taken = await insert_jobs(connection, jobs, [plan.text for plan in self.plans])
        if taken:
            raise DuplicateName(
                f"a job named {taken[0]!r} exists already", field="name", fix="choose another name, or update that job"
            )
        await fire(life, connection, rows)
        await record(connection, self._entries(job_ids, caller))
        return job_ids, rows

    def _entries(self, job_ids: Sequence[JobId], caller: Caller) -> list[Entry]:
        return [
            entry(caller, self.tenant_id, self.created_us, "job.create", job_text(job_id), after=plan.text)
            for plan, job_id in zip(self.plans, job_ids, strict=True)
        ]


async def create_jobs(life: Life, command: CreateJobs) -> list[JobId]:
    shards = command.shards(life.shard_count)
    new = await NewJobs.plan(life, command.tenant_id, command.specs)

    async def action(connection: Connection) -> list[JobId]:
        async with fenced(connection, life.node_id):
            job_ids, rows = await new.insert(life, connection, shards, command.caller)
            await remember(connection, command, by_shard(shards, job_ids), new.created_us)
        await admit(life, connection, rows)
        return job_ids

    return await take_turn(life, command, set(shards), action)


async def _first_bounds(plans: list[Plan], created_us: int) -> list[OccurrenceBounds]:
    """To count far ahead takes its time, so it is done on another thread and once for equal schedules."""

    @cache
    def one(timing: Timing) -> OccurrenceBounds:
        counted = None if timing.text is None or timing.max_runs is None else read_recurrence(timing.text)
        return bounds_from(timing, counted, created_us, timing.max_runs)

    if any(plan.timing.max_runs is not None for plan in plans):
        return await asyncio.to_thread(lambda: [one(plan.timing) for plan in plans])
    return [one(plan.timing) for plan in plans]
