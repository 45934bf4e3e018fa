"""Waiting runs read back from their rows, and the rows that a new owner reads first."""

from collections.abc import Sequence

from noonmark.model.ids import JobId
from noonmark.model.run import GrantRow, RunRow
from noonmark.shard.backlog import PageRequest
from noonmark.shard.live_run import LiveRun
from noonmark.store.columns import columns
from noonmark.store.connect import Connection
from noonmark.store.statement import statement

_EARLIEST_US = -62_135_596_800_000_000

_Place = tuple[int, int, int, int, int]
"""Shard, nominal time and job to begin with, the shard's watermark, how many runs at most."""


async def page_runs(
    connection: Connection, page: PageRequest, watermark_us: int, policy_ids: Sequence[int]
) -> list[RunRow]:
    """`policy_ids` are those of the lane's kind; a page of all lanes ignores them."""
    nominal_us, job_id = page.start
    place = (page.shard, max(nominal_us, _EARLIEST_US), job_id, watermark_us, page.limit)
    if page.lane is None:
        return await page_shard(connection, place)
    tenant_id, _, priority = page.lane
    return await page_lane(connection, place, tenant_id, policy_ids, priority)


async def page_shard(connection: Connection, place: _Place) -> list[RunRow]:
    return list(map(RunRow._make, await connection.fetch(statement("page_shard"), *place)))


async def page_lane(
    connection: Connection, place: _Place, tenant_id: int, policy_ids: Sequence[int], priority: int
) -> list[RunRow]:
    rows = await connection.fetch(statement("page_lane"), *place, tenant_id, policy_ids, priority)
    return list(map(RunRow._make, rows))


async def load_grants(connection: Connection, shard: int) -> list[GrantRow]:
    return [GrantRow(*row) for row in await connection.fetch(statement("load_grants"), shard)]


async def load_granted_runs(connection: Connection, shard: int) -> list[RunRow]:
    return list(map(RunRow._make, await connection.fetch(statement("load_granted_runs"), shard)))


async def load_paused(connection: Connection, shard: int, job_ids: Sequence[int]) -> list[JobId]:
    return [row[0] for row in await connection.fetch(statement("load_paused"), shard, job_ids)]


async def load_schedules(connection: Connection, shard: int) -> dict[int, str]:
    return dict(await connection.fetch(statement("load_schedules"), shard))  # type: ignore[arg-type]


async def load_inputs(connection: Connection, runs: Sequence[LiveRun]) -> dict[tuple[int, int], str | None]:
    keys = columns([(live.shard, live.nominal_us, live.job_id) for live in runs], 3)
    rows = await connection.fetch(statement("load_inputs"), *keys)
    return {(row[0], row[1]): row[2] for row in rows}
