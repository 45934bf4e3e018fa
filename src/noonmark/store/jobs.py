"""Changes to jobs, each inside the transaction that the owner opened for it."""

from collections.abc import Sequence
from typing import NamedTuple

from noonmark.model.ids import JobId, job_id_of, shard_of
from noonmark.model.job_row import JobRow
from noonmark.model.reason import Reason
from noonmark.model.run import RunRow
from noonmark.store.columns import columns
from noonmark.store.connect import Connection, Pool
from noonmark.store.statement import statement


class NewInboxRow(NamedTuple):
    inbox_id: int
    job_id: JobId
    due_us: int | None
    priority: int | None
    has_input: bool
    input: str | None


async def next_job_ids(connection: Connection, shards: Sequence[int]) -> list[JobId]:
    numbers = await next_job_sequences(connection, len(shards))
    return [job_id_of(number, shard) for number, shard in zip(numbers, shards, strict=True)]


async def next_job_sequences(connection: Connection, count: int) -> list[int]:
    return [row[0] for row in await connection.fetch(statement("next_job_sequences"), count)]


async def insert_jobs(connection: Connection, jobs: Sequence[JobRow], specs: Sequence[str]) -> list[str]:
    """Answers the names that were taken already; if there are any, the caller rolls back."""
    first = jobs[0]
    rows = [
        (
            job.shard, job.job_id, job.policy_id, job.schedule_id, job.jitter_ms, job.priority, job.catch_up,
            job.planned_us, job.name, job.input, job.ends_us, job.runs_left, job.catch_up_s, job.delay_ms,
            job.current_run_us, _label_text(job),
        )
        for job in jobs
    ]  # fmt: skip
    inserted = await connection.fetch(statement("insert_jobs"), first.tenant_id, first.created_us, *columns(rows, 16))
    if len(inserted) < len(jobs):
        names = {row[0] for row in inserted}
        return [job.name for job in jobs if job.name not in names]
    await insert_versions(connection, jobs, specs, first.created_us)
    await insert_events(connection, jobs, "created", first.created_us)
    await insert_labels(connection, [(job, label) for job in jobs for label in job.labels or ()])
    return []


async def insert_labels(connection: Connection, labels: Sequence[tuple[JobRow, str]]) -> None:
    """All of jobs of one tenant."""
    if labels:
        rows = [(job.shard, job.name, label) for job, label in labels]
        await connection.execute(statement("insert_labels"), labels[0][0].tenant_id, *columns(rows, 3))


async def delete_labels(connection: Connection, labels: Sequence[tuple[JobRow, str]]) -> None:
    """All of jobs of one tenant."""
    if labels:
        rows = [(job.shard, job.name, label) for job, label in labels]
        await connection.execute(statement("delete_labels"), labels[0][0].tenant_id, *columns(rows, 3))


async def insert_versions(connection: Connection, jobs: Sequence[JobRow], specs: Sequence[str], at_us: int) -> None:
    rows = [(job.shard, job.job_id, job.version, spec) for job, spec in zip(jobs, specs, strict=True)]
    await connection.execute(statement("insert_versions"), at_us, *columns(rows, 4))


async def insert_events(connection: Connection, jobs: Sequence[JobRow], event: str, at_us: int) -> None:
    rows = [(job.shard, job.job_id, job.version) for job in jobs]
    await connection.execute(statement("insert_events"), at_us, event, *columns(rows, 3))


async def load_job_rows(connection: Connection, job_ids: Sequence[int]) -> list[JobRow]:
    keys = columns([(shard_of(job_id), job_id) for job_id in job_ids], 2)
    return [JobRow(*row) for row in await connection.fetch(statement("load_job_rows"), *keys)]


async def load_job_rows_by_name(
    connection: Connection, tenant_id: int, names: Sequence[tuple[int, str]]
) -> list[JobRow]:
    rows = await connection.fetch(statement("load_job_rows_by_name"), *columns(names, 2), tenant_id)
    return [JobRow(*row) for row in rows]


async def load_specs(connection: Connection, jobs: Sequence[JobRow]) -> dict[JobId, str]:
    rows = [(job.shard, job.job_id, job.version) for job in jobs]
    return {row[0]: row[1] for row in await connection.fetch(statement("load_specs"), *columns(rows, 3))}


async def update_jobs(
    connection: Connection, changes: Sequence[tuple[JobRow, JobRow]], specs: Sequence[str], at_us: int
) -> None:
    """(before, after) of each job, which gets a new version."""
    after = [job for _, job in changes]
    rows = [
        (
            j.shard, j.job_id, j.version, j.policy_id, j.schedule_id, j.jitter_ms, j.priority, j.catch_up, j.input,
            j.planned_us, j.ends_us, j.runs_left, j.catch_up_s, j.delay_ms, j.current_run_us, _label_text(j),
        )
        for j in after
    ]  # fmt: skip
    await connection.execute(statement("update_jobs"), at_us, *columns(rows, 16))
    await delete_labels(connection, [(old, one) for old, new in changes for one in _missing(old, new)])
    await insert_labels(connection, [(new, one) for old, new in changes for one in _missing(new, old)])
    await insert_versions(connection, after, specs, at_us)
    await insert_events(connection, after, "changed", at_us)


async def set_jobs_active(connection: Connection, jobs: Sequence[JobRow], at_us: int, *, active: bool) -> None:
    rows = [(j.shard, j.job_id, j.planned_us, j.ends_us, j.runs_left, j.current_run_us) for j in jobs]
    await connection.execute(statement("set_jobs_active"), active, at_us, *columns(rows, 6))
    await insert_events(connection, jobs, "resumed" if active else "paused", at_us)


async def delete_jobs(connection: Connection, jobs: Sequence[JobRow], at_us: int) -> None:
    await connection.execute(statement("delete_jobs"), *columns([(job.shard, job.job_id) for job in jobs], 2))
    await delete_labels(connection, [(job, label) for job in jobs for label in job.labels or ()])
    await insert_events(connection, jobs, "deleted", at_us)


def _label_text(job: JobRow) -> str | None:
    return "\n".join(job.labels) if job.labels else None


def _missing(one: JobRow, other: JobRow) -> list[str]:
    """Labels of the one that the other lacks."""
    return sorted(set(one.labels or ()) - set(other.labels or ()))


async def delete_waiting_run(connection: Connection, tenant_id: int, job_id: int, nominal_us: int) -> RunRow | None:
    row = await connection.fetchrow(statement("delete_waiting_run"), shard_of(job_id), job_id, nominal_us, tenant_id)
    return None if row is None else RunRow._make(row)


async def has_run(connection: Connection, job: JobRow, nominal_us: int) -> bool:
    return bool(await connection.fetchval(statement("has_run"), job.shard, nominal_us, job.job_id))


async def without_ended(connection: Connection, rows: Sequence[RunRow]) -> list[RunRow]:
    """Leaves out the runs that ended before: the key of a row that is gone would let them be made anew."""
    if not rows:
        return []
    ended = await find_ended_runs(connection, rows)
    return [row for row in rows if row.key not in ended]


async def find_ended_runs(connection: Connection, rows: Sequence[RunRow]) -> set[tuple[int, int]]:
    keys = columns([(row.shard, row.nominal_us, row.job_id) for row in rows], 3)
    return {(row[0], row[1]) for row in await connection.fetch(statement("find_ended_runs"), *keys)}


async def redrive_dead(
    connection: Connection, tenant_id: int, keys: Sequence[tuple[int, int]], now_us: int
) -> list[RunRow]:
    places = columns([(shard_of(job_id), nominal_us, job_id) for job_id, nominal_us in keys], 3)
    rows = await connection.fetch(statement("redrive_dead"), *places, tenant_id, now_us, Reason.REDRIVEN)
    return list(map(RunRow._make, rows))


async def discard_dead(
    connection: Connection, tenant_id: int, keys: Sequence[tuple[int, int]]
) -> list[tuple[JobId, int]]:
    """Answers the keys of those that were there."""
    places = columns([(shard_of(job_id), nominal_us, job_id) for job_id, nominal_us in keys], 3)
    return [(row[0], row[1]) for row in await connection.fetch(statement("discard_dead"), *places, tenant_id)]


async def hasten_run(connection: Connection, tenant_id: int, key: tuple[int, int], due_us: int) -> RunRow | None:
    """None if it does not wait for another attempt."""
    row = await connection.fetchrow(statement("hasten_run"), shard_of(key[0]), *key, tenant_id, due_us)
    return None if row is None else RunRow._make(row)


async def peek_inbox(pool: Pool, shards: Sequence[int]) -> bool:
    """Whether there is anything to drain."""
    return bool(await pool.fetchval(statement("peek_inbox"), shards))


async def drain_inbox(connection: Connection, shards: Sequence[int], most: int) -> list[NewInboxRow]:
    rows = [NewInboxRow(*row) for row in await connection.fetch(statement("drain_inbox"), shards, most)]
    return sorted(rows)
