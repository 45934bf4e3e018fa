"""Nodes, workers, shards and declared tasks."""

from collections.abc import Collection
from typing import NamedTuple

from noonmark.store.connect import Pool
from noonmark.store.statement import statement


class NodeRecord(NamedTuple):
    node_id: int
    address: str
    version: str
    started_us: int
    leased: bool
    shards: int
    public_address: str
    process: int


class WorkerRecord(NamedTuple):
    worker_id: int
    name: str
    queues: list[str]
    tasks: list[str]
    concurrency: int
    started_us: int
    seen_us: int


class ShardRecord(NamedTuple):
    shard: int
    owner: int | None
    address: str | None
    term: int
    watermark_us: int


async def list_nodes(pool: Pool) -> list[NodeRecord]:
    return [NodeRecord(*row) for row in await pool.fetch(statement("list_nodes"))]


async def list_workers(pool: Pool, *, below: int, limit: int) -> list[WorkerRecord]:
    return [WorkerRecord(*row) for row in await pool.fetch(statement("list_workers"), below, limit)]


async def list_shards(pool: Pool) -> list[ShardRecord]:
    return [ShardRecord(*row) for row in await pool.fetch(statement("list_shards"))]


async def fetch_tasks(pool: Pool, names: Collection[str]) -> set[str]:
    return {row["name"] for row in await pool.fetch(statement("fetch_tasks"), list(names))}
