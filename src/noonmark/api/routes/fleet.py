"""/v1/nodes, /v1/workers, /v1/shards, /v1/tasks, /v1/version: the fleet."""

from noonmark.api.bodies import NodeList, ShardInfo, ShardList, TaskNames, Version, WorkerPage
from noonmark.api.call import Call
from noonmark.api.middleware.pages import BelowId, Cursor, Limit, cut, decode_cursor, encode_cursor
from noonmark.api.validate import check_tasks
from noonmark.clock import to_datetime
from noonmark.store.reads import fleet as reads
from noonmark.wire.resources import NodeInfo, WorkerInfo


async def list_nodes(call: Call) -> NodeList:
    """The nodes that are not declared dead; `silent` ones let their lease pass and are about to be."""
    return NodeList(
        [
            NodeInfo(
                id=row.node_id,
                address=row.address,
                state="alive" if row.leased else "silent",
                shards=row.shards,
                version=row.version,
                started_at=to_datetime(row.started_us),
                node=row.public_address,
                process=row.process,
            )
            for row in await reads.list_nodes(call.node.pool)
        ]
    )


async def list_workers(call: Call, limit: Limit = 100, cursor: Cursor = None) -> WorkerPage:
    """The last registered first; `seen_at` says when each was last heard."""
    below = decode_cursor(cursor, BelowId).id
    rows, more = cut(await reads.list_workers(call.node.pool, below=below, limit=limit + 1), limit)
    workers = [
        WorkerInfo(
            id=row.worker_id,
            name=row.name,
            queues=row.queues,
            tasks=row.tasks,
            concurrency=row.concurrency,
            started_at=to_datetime(row.started_us),
            seen_at=to_datetime(row.seen_us),
        )
        for row in rows
    ]
    return WorkerPage(workers, encode_cursor(BelowId(workers[-1].id)) if more else None)


async def list_shards(call: Call) -> ShardList:
    return ShardList(
        [
            ShardInfo(
                shard=row.shard,
                owner=row.owner,
                address=row.address,
                term=row.term,
                watermark_at=to_datetime(row.watermark_us),
            )
            for row in await reads.list_shards(call.node.pool)
        ]
    )


async def declare_tasks(data: TaskNames, call: Call) -> TaskNames:
    """Makes tasks known before the first worker that has them, so that jobs can name them; the others stay known."""
    check_tasks(data.tasks)
    if data.tasks:
        await call.node.declare_tasks(data.tasks)
    return data


async def read_version(call: Call) -> Version:
    return Version(call.node.version)
