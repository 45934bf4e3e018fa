"""When workers were last heard, by whichever node."""

from collections.abc import Collection, Sequence

from noonmark.model.ids import WorkerId
from noonmark.store.connect import Connection, Pool
from noonmark.store.statement import statement


async def see_workers(pool: Pool, heard: Sequence[tuple[WorkerId, int]]) -> None:
    """Keeps when this node heard them, unless another node's later word is kept already."""
    await pool.execute(
        statement("see_workers"), [worker_id for worker_id, _ in heard], [heard_us for _, heard_us in heard]
    )


async def load_seen_workers(connection: Connection, worker_ids: Collection[WorkerId]) -> dict[WorkerId, int]:
    """A worker whose row is gone has been silent for a day."""
    rows = await connection.fetch(statement("load_seen_workers"), list(worker_ids))
    return dict.fromkeys(worker_ids, 0) | {row[0]: row[1] for row in rows}
