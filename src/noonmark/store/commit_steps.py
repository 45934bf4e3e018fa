"""The steps of a commit that concern runs and grants, each one statement inside the committer's transaction."""

from collections.abc import Iterable

from noonmark.model.ids import GrantId, JobId
from noonmark.model.reason import Reason
from noonmark.model.run import AttemptRow, DeadRow, GrantRow
from noonmark.shard.outbox import Requeue
from noonmark.store.columns import columns
from noonmark.store.connect import Connection
from noonmark.store.statement import statement


async def requeue_runs(connection: Connection, requeues: Iterable[Requeue]) -> None:
    await connection.execute(statement("requeue_runs"), *columns(requeues, 10))


async def mark_cancelling(connection: Connection, places: Iterable[tuple[int, int, JobId]]) -> None:
    await connection.execute(statement("mark_cancelling"), *columns(places, 3), Reason.CANCEL_REQUESTED)


async def insert_dead(connection: Connection, dead: Iterable[DeadRow]) -> None:
    """Copies the runs' rows, so it comes before they are deleted."""
    await connection.execute(statement("insert_dead"), *columns(dead, 8))


async def delete_runs(connection: Connection, places: Iterable[tuple[int, int, JobId]]) -> None:
    await connection.execute(statement("delete_runs"), *columns(places, 3))


async def insert_grant(connection: Connection, grant: GrantRow) -> None:
    await connection.execute(statement("insert_grant"), *grant)


async def delete_grants(connection: Connection, finished: Iterable[tuple[int, GrantId]]) -> None:
    await connection.execute(statement("delete_grants"), *columns(finished, 2))


async def copy_attempts(connection: Connection, attempts: Iterable[AttemptRow]) -> None:
    await connection.copy_records_to_table("attempt", schema_name="noonmark", records=attempts)
