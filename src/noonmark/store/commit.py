"""One batch of an owner's decisions as one durable transaction; a small one goes another way (`commit_few.py`)."""

from collections.abc import Iterable

from noonmark.model.reason import Reason
from noonmark.model.run import RunRow
from noonmark.shard.outbox import Batch, FixedDelayEnd
from noonmark.store.audit import record
from noonmark.store.columns import columns, run_record
from noonmark.store.commit_few import commit_few, is_small
from noonmark.store.commit_steps import (
    copy_attempts,
    delete_grants,
    delete_runs,
    insert_dead,
    insert_grant,
    mark_cancelling,
    requeue_runs,
)
from noonmark.store.connect import Connection
from noonmark.store.fence import Fenced, fenced
from noonmark.store.notices import insert_notices, write_troubles
from noonmark.store.requests import keep_requests
from noonmark.store.statement import statement

_RUN_COLUMNS = (
    "shard", "nominal_at", "job_id", "due_at", "tenant_id", "version", "policy_id", "priority",
    "attempt", "failures", "reason", "input", "sleeps",
)  # fmt: skip

_FEW = 20
"""COPY is the cheaper way for many rows, but takes one exchange more."""


async def commit_batch(connection: Connection, node_id: int, batch: Batch) -> list[RunRow]:
    """Answers the runs that follow the ended runs of fixed delays: those that do not sleep wait from now on."""
    if is_small(batch):
        await commit_few(connection, node_id, batch)
        return []
    followers: list[RunRow] = []
    async with fenced(connection, node_id):
        if 0 < len(batch.created) <= _FEW:
            if await insert_runs(connection, batch.created) != len(batch.created):
                raise Fenced("a run that was asked for has the key of another")
        elif batch.created:
            await connection.copy_records_to_table(
                "run", schema_name="noonmark", columns=_RUN_COLUMNS, records=map(run_record, batch.created)
            )
        if batch.requeues:
            await requeue_runs(connection, batch.requeues.values())
        if batch.cancelling:
            await mark_cancelling(connection, batch.cancelling)
        if batch.dead:
            await insert_dead(connection, batch.dead)
        if batch.ended:
            await delete_runs(connection, batch.ended)
        if batch.fixed_delay_ends:
            followers = await follow_fixed_delays(connection, batch.fixed_delay_ends)
        if len(batch.grants) == 1:
            await insert_grant(connection, batch.grants[0])
        elif batch.grants:
            await connection.copy_records_to_table("grant", schema_name="noonmark", records=batch.grants)
        if batch.finished_grants:
            await delete_grants(connection, batch.finished_grants)
        if batch.attempts:
            await copy_attempts(connection, batch.attempts)
        await record(connection, batch.audit)
        await keep_requests(connection, batch.requests)
        if batch.notices:
            await insert_notices(connection, batch.notices)
        if batch.troubles:
            await write_troubles(connection, batch.troubles)
    return followers


async def follow_fixed_delays(connection: Connection, ended: Iterable[FixedDelayEnd]) -> list[RunRow]:
    """Makes the runs that follow, inside the transaction that ends the ones before them."""
    rows = await connection.fetch(statement("follow_fixed_delays"), *columns(ended, 4), Reason.SCHEDULED)
    return list(map(RunRow._make, rows))


async def insert_runs(connection: Connection, rows: Iterable[RunRow]) -> int:
    """Makes runs inside a transaction of the caller's; answers how many of them did not exist yet."""
    status = await connection.execute(statement("insert_runs"), *columns(map(run_record, rows), 13))
    return int(status.removeprefix("INSERT 0 "))
