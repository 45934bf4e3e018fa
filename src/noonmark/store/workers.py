"""Workers as rows: their names, queues and tasks, and when they were last heard."""

from collections.abc import Collection, Sequence

from noonmark.model.ids import WorkerId
from noonmark.store.connect import Connection, Pool
from noonmark.store.statement import statement


async def register_worker(
    pool: Pool, name: str, queues: Sequence[str], tasks: Sequence[str], concurrency: int, tenant_id: int | None
) -> int:
    """Its id."""
    return int(await pool.fetchval(statement("register_worker"), name, queues, tasks, concurrency, tenant_id))


async def renew_worker(
    pool: Pool,
    worker_id: int,
    name: str,
    queues: Sequence[str],
    tasks: Sequence[str],
    concurrency: int,
    tenant_id: int | None,
) -> bool:
    """False if there is no such worker of this tenant."""
    found = await pool.fetchval(statement("renew_worker"), worker_id, name, queues, tasks, concurrency, tenant_id)
    return found is not None


async def declare_tasks(pool: Pool, names: Sequence[str]) -> None:
    await pool.execute(statement("declare_tasks"), names)


async def see_workers(pool: Pool, heard: Sequence[tuple[WorkerId, int]]) -> None:
    """Keeps when this node heard them, unless another node's later word is kept already."""
    await pool.execute(
        statement("see_workers"), [worker_id for worker_id, _ in heard], [heard_us for _, heard_us in heard]
    )


async def load_seen_workers(connection: Connection, worker_ids: Collection[WorkerId]) -> dict[WorkerId, int]:
    """A worker whose row is gone has been silent for a day."""
    rows = await connection.fetch(statement("load_seen_workers"), list(worker_ids))
    return dict.fromkeys(worker_ids, 0) | {row[0]: row[1] for row in rows}


async def forget_old_workers(pool: Pool) -> None:
    await pool.execute(statement("forget_old_workers"))
