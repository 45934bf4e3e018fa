"""`noonmark node list`, `node shards` and `worker list`: the fleet, and the owners of shards."""

from noonmark.cli.one_node import by_node
from noonmark.cli.session import Api, watches


@watches
async def list_nodes(api: Api) -> None:
    """List the nodes; of one with several processes their sum."""
    processes = await api.client.nodes()
    api.show_list(
        processes,
        by_node(processes),
        {
            "address": lambda node: node.address,
            "processes": lambda node: len(node.processes),
            "state": lambda node: node.state,
            "shards": lambda node: node.shards,
            "version": lambda node: node.versions,
            "started": lambda node: min(process.started_at for process in node.processes),
        },
        {
            "ids": lambda node: ", ".join(str(process.id) for process in node.processes),
            "reached at": lambda node: ", ".join(process.address for process in node.processes),
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
