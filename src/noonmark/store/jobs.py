"""Changes to jobs, each inside the transaction that the owner opened for it."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from noonmark.model.ids import JobId, PolicyId, ScheduleId, TenantId, job_id_of, shard_of
from noonmark.model.reason import Reason
from noonmark.model.run import RunRow
from noonmark.store.commit import columns
from noonmark.store.connect import Connection, Pool
from noonmark.store.statement import statement


class JobRow(NamedTuple):
    """What the owner needs of a job to make runs of it."""

    job_id: JobId
    tenant_id: TenantId
    name: str
    version: int
    policy_id: PolicyId
    schedule_id: ScheduleId | None
    jitter_ms: int
    priority: int
    catch_up: int
    active: bool
    created_us: int
    planned_us: int
    """Occurrences after this count: the job was created, changed or resumed then, or starts right after."""
    input: str | None
    ends_us: int | None = None
    """Occurrences after this do not count."""
    runs_left: int | None = None
    """How many occurrences were left at `planned_us`; of a fixed delay, how many links may still be made."""
    catch_up_s: float | None = None
    delay_ms: int | None = None
    link_us: int | None = None
    """The current link of a fixed delay, at the moment when this was read."""
    labels: Sequence[str] | None = None
    """Each as `key` and as `key:value`."""
    skips: Sequence[int] | None = None
    """Occurrences that do not fire."""

    @property
    def shard(self) -> int:
        return shard_of(self.job_id)


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


async def insert_jobs(connection: Connection, heads: Sequence[JobRow], specs: Sequence[str]) -> list[str]:
    """Answers the names that were taken already; if there are any, the caller rolls back."""
    first = heads[0]
    rows = [
        (
            h.shard, h.job_id, h.policy_id, h.schedule_id, h.jitter_ms, h.priority, h.catch_up, h.planned_us, h.name,
            h.input, h.ends_us, h.runs_left, h.catch_up_s, h.delay_ms, h.link_us,
            None if not h.labels else "\n".join(h.labels),
        )
        for h in heads
    ]  # fmt: skip
    inserted = await connection.fetch(statement("insert_jobs"), first.tenant_id, first.created_us, *columns(rows, 16))
    if len(inserted) < len(heads):
        names = {row[0] for row in inserted}
        return [head.name for head in heads if head.name not in names]
    await insert_versions(connection, heads, specs, first.created_us)
    await insert_events(connection, heads, "created", first.created_us)
    await insert_labels(connection, [(head, label) for head in heads for label in head.labels or ()])
    return []


async def insert_labels(connection: Connection, labels: Sequence[tuple[JobRow, str]]) -> None:
    """All of jobs of one tenant."""
    if labels:
        rows = [(head.shard, head.name, label) for head, label in labels]
        await connection.execute(statement("insert_labels"), labels[0][0].tenant_id, *columns(rows, 3))


async def delete_labels(connection: Connection, head: JobRow, labels: Collection[str]) -> None:
    if labels:
        await connection.execute(statement("delete_labels"), head.shard, head.tenant_id, head.name, list(labels))


async def insert_versions(connection: Connection, heads: Sequence[JobRow], specs: Sequence[str], at_us: int) -> None:
    rows = [(h.shard, h.job_id, h.version, spec) for h, spec in zip(heads, specs, strict=True)]
    await connection.execute(statement("insert_versions"), at_us, *columns(rows, 4))


async def insert_events(connection: Connection, heads: Sequence[JobRow], event: str, at_us: int) -> None:
    rows = [(h.shard, h.job_id, h.version) for h in heads]
    await connection.execute(statement("insert_events"), at_us, event, *columns(rows, 3))


async def load_job_rows(connection: Connection, job_ids: Sequence[int]) -> list[JobRow]:
    keys = columns([(shard_of(job_id), job_id) for job_id in job_ids], 2)
    return [JobRow(*row) for row in await connection.fetch(statement("load_job_rows"), *keys)]


async def load_job_rows_by_name(
    connection: Connection, tenant_id: int, names: Sequence[tuple[int, str]]
) -> list[JobRow]:
    rows = await connection.fetch(statement("load_job_rows_by_name"), *columns(names, 2), tenant_id)
    return [JobRow(*row) for row in rows]


async def load_spec(connection: Connection, head: JobRow) -> str:
    return str(await connection.fetchval(statement("load_spec"), head.shard, head.job_id, head.version))


async def load_specs(connection: Connection, heads: Sequence[JobRow]) -> dict[JobId, str]:
    rows = [(head.shard, head.job_id, head.version) for head in heads]
    return {row[0]: row[1] for row in await connection.fetch(statement("load_specs"), *columns(rows, 3))}


async def update_job(
    connection: Connection, head: JobRow, spec: str, at_us: int, labels_before: Sequence[str] | None = None
) -> None:
    await connection.execute(
        statement("update_job"), head.shard, head.job_id, head.version, head.policy_id, head.schedule_id,
        head.jitter_ms, head.priority, head.catch_up, head.input, at_us, head.planned_us, head.ends_us, head.runs_left,
        head.catch_up_s, head.delay_ms, head.link_us, head.labels or None,
    )  # fmt: skip
    had, has = set(labels_before or ()), set(head.labels or ())
    await delete_labels(connection, head, had - has)
    await insert_labels(connection, [(head, label) for label in sorted(has - had)])
    await insert_versions(connection, [head], [spec], at_us)
    await insert_events(connection, [head], "changed", at_us)


async def set_job_active(connection: Connection, head: JobRow, at_us: int) -> None:
    await connection.execute(
        statement("set_job_active"), head.shard, head.job_id, head.active, at_us, head.planned_us, head.ends_us,
        head.runs_left, head.link_us,
    )  # fmt: skip
    await insert_events(connection, [head], "resumed" if head.active else "paused", at_us)


async def delete_job(connection: Connection, head: JobRow, at_us: int) -> None:
    await connection.execute(statement("delete_job"), head.shard, head.job_id)
    await delete_labels(connection, head, head.labels or ())
    await insert_events(connection, [head], "deleted", at_us)


async def delete_planned_runs(connection: Connection, head: JobRow, after_us: int, granted: Sequence[int]) -> None:
    await connection.execute(
        statement("delete_planned_runs"), head.shard, head.job_id, after_us, Reason.SCHEDULED, granted
    )


async def delete_waiting_runs(connection: Connection, head: JobRow, granted: Sequence[int]) -> list[RunRow]:
    rows = await connection.fetch(statement("delete_waiting_runs"), head.shard, head.job_id, granted)
    return list(map(RunRow._make, rows))


async def delete_waiting_run(connection: Connection, tenant_id: int, job_id: int, nominal_us: int) -> RunRow | None:
    row = await connection.fetchrow(statement("delete_waiting_run"), shard_of(job_id), job_id, nominal_us, tenant_id)
    return None if row is None else RunRow._make(row)


async def park_runs(connection: Connection, head: JobRow, granted: Sequence[int]) -> None:
    await connection.execute(statement("park_runs"), head.shard, head.job_id, granted)


async def unpark_runs(connection: Connection, head: JobRow, watermark_us: int) -> None:
    await connection.execute(statement("unpark_runs"), head.shard, head.job_id, watermark_us)


async def load_waiting_runs(connection: Connection, head: JobRow, watermark_us: int, most: int) -> list[RunRow]:
    rows = await connection.fetch(statement("load_waiting_runs"), head.shard, head.job_id, watermark_us, most)
    return list(map(RunRow._make, rows))


async def has_run(connection: Connection, head: JobRow, nominal_us: int) -> bool:
    return bool(await connection.fetchval(statement("has_run"), head.shard, nominal_us, head.job_id))


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
