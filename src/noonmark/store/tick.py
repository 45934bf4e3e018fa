"""A tick's transaction: moves the watermark, wakes sleeping runs and makes due ones, all under the shards' terms."""

from collections.abc import Mapping, Sequence

from noonmark.model.reason import Reason
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
        if await advance_watermarks(connection, node_id, terms, after_us, until_us) != len(shards):
            raise Fenced(f"node {node_id} no longer owns all of the shards {shards}")
        rows = await wake_runs(connection, shards, after_us, until_us)
        if due:
            rows += await tick_runs(connection, due, now_us)
    return rows


async def advance_watermarks(
    connection: Connection, node_id: int, terms: Mapping[int, int], after_us: int, until_us: int
) -> int:
    """How many of the shards moved: those that stood at `after_us` and that the node owns under these terms."""
    status = await connection.execute(
        statement("advance_watermarks"), list(terms), list(terms.values()), node_id, until_us, after_us
    )
    return int(status.removeprefix("INSERT 0 "))


async def wake_runs(connection: Connection, shards: Sequence[int], after_us: int, until_us: int) -> list[RunRow]:
    return list(map(RunRow._make, await connection.fetch(statement("wake_runs"), shards, after_us, until_us)))


async def tick_runs(connection: Connection, due: Sequence[Due], now_us: int) -> list[RunRow]:
    reasons = (Reason.SCHEDULED, Reason.CAUGHT_UP)
    return list(map(RunRow._make, await connection.fetch(statement("tick_runs"), *columns(due, 8), now_us, *reasons)))


async def load_missed_ends(
    connection: Connection, shards: Sequence[int], after_us: int, missed_until_us: int
) -> list[MissedEnd]:
    """Schedules that came to an end for some jobs while these shards had no owner."""
    rows = await connection.fetch(statement("load_missed_ends"), shards, after_us, missed_until_us)
    return list(map(MissedEnd._make, rows))
