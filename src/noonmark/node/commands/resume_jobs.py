"""Resumes jobs: they fire from now on, and parked runs wait again. Occurrences in between are not caught up."""

import msgspec

from noonmark.errors import VersionConflict
from noonmark.model.audit import entry
from noonmark.model.ids import RunKey, job_text
from noonmark.model.job_row import JobRow
from noonmark.model.run import RunRow
from noonmark.node.commands.chunks import in_chunks
from noonmark.node.commands.fixed_delay import resumed_run
from noonmark.node.commands.intern import make_plans
from noonmark.node.commands.job_sets import ACTIVE, PAUSED, TRIES, refusals
from noonmark.node.commands.once import by_shard, remember
from noonmark.node.commands.turn import enter, fire, moment, readmit, stored_texts, with_jobs_withdrawn
from noonmark.node.life import Life
from noonmark.planning.changes import resume
from noonmark.store.audit import record
from noonmark.store.connect import Connection
from noonmark.store.fence import fenced
from noonmark.store.job_runs import unpark_runs
from noonmark.store.jobs import load_job_rows, set_jobs_active, without_ended
from noonmark.wire.commands import Refusal, ResumeJobs
from noonmark.wire.resources import JobSpec


async def resume_jobs(life: Life, command: ResumeJobs) -> list[Refusal | None]:
    shards = command.shards(life.shard_count)

    async def resume_some(positions: list[int]) -> list[Refusal | None]:
        for _ in range(TRIES - 1):
            try:
                return await once(positions)
            except VersionConflict:
                continue
        return await once(positions)

    async def once(positions: list[int]) -> list[Refusal | None]:
        asked = [command.job_ids[position] for position in positions]
        read, _ = await life.job_cache.load(command.tenant_id, asked, [])
        texts = await stored_texts(life, read)
        specs = [msgspec.json.decode(texts[job.job_id], type=JobSpec) for job in read]
        planned = await make_plans(life.pool, command.tenant_id, specs, [job.created_us for job in read])
        plans = {job.job_id: (job.version, plan) for job, plan in zip(read, planned, strict=True)}

        async def action(connection: Connection, granted: list[RunKey]) -> list[Refusal | None]:
            jobs, answers = refusals(asked, await load_job_rows(connection, asked), command.tenant_id)
            now_us = life.clock.now_us()
            resumed: list[JobRow] = []
            rows: list[RunRow] = []
            for job in jobs:
                version, plan = plans.get(job.job_id, (0, None))
                if job.active:
                    continue
                if plan is None or job.version != version:
                    raise VersionConflict("the job was changed meanwhile", field="version", fix="try again")
                at = moment(life, plan, job.shard, now_us)
                again, own = resume(plan, job, enter(life, plan, job.shard), at)
                resumed.append(again)
                rows += own
            ids = [job.job_id for job in resumed]
            life.owner.unpark(ids)
            audit = [
                entry(
                    command.caller, command.tenant_id, now_us, "job.resume", job_text(job_id),
                    before=PAUSED, after=ACTIVE,
                )
                for job_id in ids
            ]  # fmt: skip
            async with fenced(connection, life.node_id):
                if resumed:
                    current: list[RunRow] = []
                    for place, job in enumerate(resumed):
                        timing = plans[job.job_id][1].timing
                        watermark_us = life.owner.watermarks[job.shard]
                        resumed[place], own = await resumed_run(connection, job, timing, now_us, watermark_us)
                        current += own
                    await set_jobs_active(connection, resumed, now_us, active=True)
                    await unpark_runs(connection, ids, life.owner.watermarks)
                    await fire(life, connection, [*await without_ended(connection, rows), *current])
                    await record(connection, audit)
                await remember(connection, command, by_shard([shards[at] for at in positions], answers), now_us)
            await readmit(life, connection, [job.job_id for job in jobs])
            return answers

        return await with_jobs_withdrawn(life, command, asked, action)

    return await in_chunks(shards, resume_some)
