"""`noonmark node list`, `node shards` and `worker list`: who is there, and who decides what."""

from noonmark.cli.session import Api, watches


@watches
async def list_nodes(api: Api) -> None:
    """List the nodes."""
    nodes = await api.client.nodes()
    api.show_list(
        nodes,
        nodes,
        {
            "id": lambda node: node.id,
            "address": lambda node: node.address,
            "state": lambda node: node.state,
            "shards": lambda node: node.shards,
            "version": lambda node: node.version,
            "started": lambda node: node.started_at,
        },
    )


@watches
async def list_workers(api: Api) -> None:
    """List the workers."""
    workers = await api.client.workers()
    api.show_list(
        workers,
        workers,
        {
            "id": lambda worker: worker.id,
            "name": lambda worker: worker.name,
            "queues": lambda worker: worker.queues,
            "concurrency": lambda worker: worker.concurrency,
            "seen": lambda worker: worker.seen_at,
        },
        {"tasks": lambda worker: worker.tasks, "started": lambda worker: worker.started_at},
        "No worker is known.",
    )


@watches
async def list_shards(api: Api) -> None:
    """List the shards and their owners."""
    shards = await api.client.shards()

    def as_table() -> object:
        from noonmark.cli.show import table

        names = ["shard", "owner", "address", "term", "watermark_at"]
        return table(names, [[shard.get(name) for name in names] for shard in shards])

    api.show(shards, as_table)
