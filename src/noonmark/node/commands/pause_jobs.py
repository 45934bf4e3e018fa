"""Pauses jobs: none of their runs starts any more. Waiting runs are parked, running ones go on."""

from noonmark.model.audit import entry
from noonmark.model.ids import JobId, RunKey, job_text
from noonmark.node.commands.chunks import in_chunks
from noonmark.node.commands.job_sets import ACTIVE, PAUSED, refusals
from noonmark.node.commands.once import by_shard, remember
from noonmark.node.commands.turn import fire, instant_of_change, recurrence_of, with_jobs_withdrawn
from noonmark.node.life import Life
from noonmark.planning.changes import pause
from noonmark.planning.occurrences import Moment, owed_runs
from noonmark.store.audit import record
from noonmark.store.connect import Connection
from noonmark.store.fence import fenced
from noonmark.store.job_runs import delete_planned_runs, park_runs
from noonmark.store.jobs import load_job_rows, set_jobs_active
from noonmark.wire.commands import PauseJobs, Refusal


async def pause_jobs(life: Life, command: PauseJobs) -> list[Refusal | None]:
    shards = command.shards(life.shard_count)

    async def pause_some(positions: list[int]) -> list[Refusal | None]:
        asked = [command.job_ids[position] for position in positions]

        async def action(connection: Connection, granted: list[RunKey]) -> list[Refusal | None]:
            jobs, answers = refusals(asked, await load_job_rows(connection, asked), command.tenant_id)
            now_us = instant_of_change(life, asked)
            # The current run of a fixed delay waits on, parked.
            kept = granted + [(job.job_id, job.current_run_us) for job in jobs if job.current_run_us is not None]
            recurrences = [recurrence_of(life, job) for job in jobs]
            paused = [pause(job, one, now_us) for job, one in zip(jobs, recurrences, strict=True)]
            owed = [
                row
                for job, one in zip(jobs, recurrences, strict=True)
                for row in owed_runs(job, one, Moment(now_us, life.owner.watermarks[job.shard], now_us))
            ]
            ids = [job.job_id for job in jobs]
            audit = [
                entry(
                    command.caller, command.tenant_id, now_us, "job.pause", job_text(job.job_id),
                    before=ACTIVE, after=PAUSED,
                )
                for job in jobs
                if job.active
            ]  # fmt: skip
            async with fenced(connection, life.node_id):
                if jobs:
                    await delete_planned_runs(connection, ids, now_us, kept)
                    await fire(life, connection, owed)
                    await park_runs(connection, ids, granted)
                    await set_jobs_active(connection, paused, now_us, active=False)
                    await record(connection, audit)
                await remember(connection, command, by_shard([shards[at] for at in positions], answers), now_us)
            return answers

        return await with_jobs_withdrawn(life, command, asked, action, lambda: _park_retries(life, asked))

    return await in_chunks(shards, pause_some)


def _park_retries(life: Life, job_ids: list[JobId]) -> None:
    """If a run that a worker has must wait again, it is parked."""
    life.owner.paused.update(job_id for job_id, _ in life.owner.granted_of(set(job_ids)))
