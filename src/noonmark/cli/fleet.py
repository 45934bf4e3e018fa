"""`noonmark nodes`, `workers`, `shards`: who is there, and who decides what."""

from noonmark.cli.session import Api, asks


@asks
async def list_nodes(api: Api) -> None:
    """List the nodes."""
    nodes = await api.client.nodes()

    def as_table() -> object:
        from noonmark.cli.show import table

        rows = [(n.id, n.address, n.state, n.shards, n.version, n.started_at) for n in nodes]
        return table(["id", "address", "state", "shards", "version", "started"], rows)

    api.show(nodes, as_table)


@asks
async def list_workers(api: Api) -> None:
    """List the workers."""
    workers = await api.client.workers()

    def as_table() -> object:
        from noonmark.cli.show import table

        rows = [(w.id, w.name, w.queues, w.tasks, w.concurrency, w.started_at, w.seen_at) for w in workers]
        return table(["id", "name", "queues", "tasks", "concurrency", "started", "seen"], rows, "No worker is known.")

    api.show(workers, as_table)


@asks
async def list_shards(api: Api) -> None:
    """List the shards and their owners."""
    shards = await api.client.shards()

    def as_table() -> object:
        from noonmark.cli.show import table

        names = ["shard", "owner", "address", "term", "watermark_at"]
        return table(names, [[shard.get(name) for name in names] for shard in shards])

    api.show(shards, as_table)
