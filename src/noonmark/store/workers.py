"""Workers as rows: who they are, what they serve, when they were last heard."""

from collections.abc import Sequence

from noonmark.store.connect import Pool
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


async def see_workers(pool: Pool, worker_ids: Sequence[int]) -> None:
    await pool.execute(statement("see_workers"), worker_ids)


async def forget_old_workers(pool: Pool) -> None:
    await pool.execute(statement("forget_old_workers"))
