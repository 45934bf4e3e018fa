"""Jobs are deleted: their waiting runs are withdrawn, their running ones asked to stop; their history stays."""

from noonmark.model.audit import entry
from noonmark.model.ids import RunKey, job_text
from noonmark.model.reason import Outcome, Reason
from noonmark.node.commands.chunks import in_chunks
from noonmark.node.commands.ends import record_end
from noonmark.node.commands.job_sets import refusals
from noonmark.node.commands.once import by_shard, remember
from noonmark.node.commands.turn import check_version, with_jobs_withdrawn
from noonmark.node.life import Life
from noonmark.store import jobs as store
from noonmark.store.audit import record
from noonmark.store.connect import Connection
from noonmark.store.fence import fenced
from noonmark.store.job_runs import delete_waiting_runs
from noonmark.wire.commands import DeleteJobs, Refusal


async def delete_jobs(life: Life, command: DeleteJobs) -> list[Refusal | None]:
    shards = command.shards(life.shard_count)

    async def delete(positions: list[int]) -> list[Refusal | None]:
        asked = [command.job_ids[position] for position in positions]

        async def action(connection: Connection, granted: list[RunKey]) -> list[Refusal | None]:
            jobs, answers = refusals(asked, await store.load_job_rows(connection, asked), command.tenant_id)
            for job in jobs:
                check_version(job, command.expected_version)
            now_us = life.clock.now_us()
            ids = [job.job_id for job in jobs]
            for key in granted:
                if key[0] in ids:
                    life.owner.cancel(key, now_us)
            texts = await store.load_specs(connection, jobs) if jobs else {}
            audit = [
                entry(command.caller, command.tenant_id, now_us, "job.delete", job_text(job_id), before=texts[job_id])
                for job_id in ids
            ]
            async with fenced(connection, life.node_id):
                if jobs:
                    rows = await delete_waiting_runs(connection, ids, granted)
                    await record_end(connection, rows, Outcome.WITHDRAWN, Reason.JOB_DELETED, now_us)
                    await store.delete_jobs(connection, jobs, now_us)
                    await record(connection, audit)
                await remember(connection, command, by_shard([shards[at] for at in positions], answers), now_us)
            life.owner.paused.difference_update(ids)
            return answers

        return await with_jobs_withdrawn(life, command, asked, action)

    return await in_chunks(shards, delete)
