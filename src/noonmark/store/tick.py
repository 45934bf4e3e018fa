"""A tick's transaction: wake what sleeps, make what is due, move the watermark, all under the shards' terms."""

from collections.abc import Mapping, Sequence

from noonmark.model.run import RunRow
from noonmark.shard.timetable import Due, MissedEnd
from noonmark.store.columns import columns
from noonmark.store.connect import Connection
from noonmark.store.fence import Fenced, fenced
from noonmark.store.statement import statement


async def tick(
    connection: Connection,
    node_id: int,
    terms: Mapping[int, int],
    *,
    after_us: int,
    until_us: int,
    now_us: int,
    due: Sequence[Due],
) -> list[RunRow]:
    """Advances shards that all stand at `after_us`; answers the runs that wait from now on."""
    shards = list(terms)
    async with fenced(connection, node_id):
        moved = await connection.execute(
            statement("advance_watermarks"), shards, list(terms.values()), node_id, until_us, after_us
        )
        if moved != f"INSERT 0 {len(shards)}":
            raise Fenced(f"node {node_id} no longer owns all of the shards {shards}")
        rows = await connection.fetch(statement("wake_runs"), shards, after_us, until_us)
        if due:
            rows += await connection.fetch(statement("tick_runs"), *columns(due, 8), now_us)
    return list(map(RunRow._make, rows))


async def load_missed_ends(
    connection: Connection, shards: Sequence[int], after_us: int, missed_until_us: int
) -> list[MissedEnd]:
    """Schedules that came to an end for some jobs while nobody fired for these shards."""
    rows = await connection.fetch(statement("load_missed_ends"), shards, after_us, missed_until_us)
    return list(map(MissedEnd._make, rows))
