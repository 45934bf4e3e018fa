"""The plans of the lists, on tables with many rows: they walk an index, and no further than they must."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from noonmark.clock import NEVER_US
from noonmark.embedded import EmbeddedPostgres
from noonmark.store.connect import connect
from noonmark.store.statement import statement
from tests.conftest import TEMPLATE, drop_database, new_database

_FILL = """
INSERT INTO noonmark.job (shard, job_id, tenant_id, version, policy_id, schedule_id, priority, catch_up, created_at,
    updated_at, planned_from, name)
SELECT n % 8, n * 4096 + n % 8, 1 + n % 10, 1, 1, n % 300, 5, 1, now(), now(), now(), 'job-' || n
FROM generate_series(1, 20000) n;
INSERT INTO noonmark.run (shard, nominal_at, job_id, due_at, tenant_id, version, policy_id, priority, reason)
SELECT n % 8, now() + n * interval '1 ms', n * 4096 + n % 8, now(), 1 + n % 10, 1, 1, 5, 1
FROM generate_series(1, 60000) n;
INSERT INTO noonmark.attempt
SELECT n % 8, (n % 2000) * 4096 + n % 8, now() - n * interval '1 s', 1, now() + (n % 4 - 1) * interval '1 day',
    1 + n % 10, 1, 1, now(), now(), now(), 1, 10, true
FROM generate_series(1, 100000) n;
INSERT INTO noonmark.dead
SELECT n % 8, (n % 2000) * 4096 + n % 8, now() - n * interval '1 s', now() - n * interval '1 s', 1 + n % 10, 1, 1, 5,
    1, 1, 13
FROM generate_series(1, 40000) n;
"""
_FAR = NEVER_US
_SMALL_JOB = 8 * 4096
_LISTS: dict[str, tuple[Sequence[Any], Sequence[str], int]] = {
    # statement: (arguments, indexes, how many rows may be taken from them for a page of 100)
    "list_live_runs": ((3, 8, _FAR, 0, 0, 1_000, 101, ["waiting"], None, None, None), ["run_pkey"], 8_000),
    "list_running_runs": ((3, _FAR, 0, 0, 101, None, None, None), [], 10),
    "list_ended_runs": ((3, _FAR, 0, 0, 500, 101, [1], 0, _FAR, None, None, None), ["attempt_[0-9]+_tenant_id"], 510),
    "list_ended_runs_of_job": (
        (0, _SMALL_JOB, _FAR, 0, 500, 101, [1], 0, _FAR, None, None), ["attempt_[0-9]+_pkey"], 60,
    ),
    "list_dead": ((3, _FAR, 0, 0, 0, 500, 101, None, None), ["dead_tenant"], 500),
    "list_dead_of_job": ((0, _SMALL_JOB, _FAR, 0, _FAR, 500, 101, None, None), ["dead_pkey"], 60),
    "follow_runs": (([0], [_SMALL_JOB], [0]), ["run_pkey"], 1),
}  # fmt: skip


async def _filled(url: str) -> None:
    connection = await connect(url)
    await connection.execute(_FILL)
    await connection.execute("VACUUM ANALYZE")
    await connection.close()


@pytest.fixture(scope="module")
def full_url(postgres: EmbeddedPostgres) -> Iterator[str]:
    url = asyncio.run(new_database(postgres.url, TEMPLATE))
    asyncio.run(_filled(url))
    yield url
    asyncio.run(drop_database(postgres.url, url))


@pytest.mark.parametrize("name", _LISTS)
async def test_a_list_walks_its_index_and_stops(full_url: str, name: str) -> None:
    arguments, indexes, most = _LISTS[name]
    connection = await connect(full_url, {"jit": "off"})
    try:
        rows = await connection.fetch("EXPLAIN (ANALYZE, COSTS OFF) " + statement(name), *arguments)
    finally:
        await connection.close()
    plan = "\n".join(row[0] for row in rows)
    # A partition of a day to come is empty, and may be scanned; nowhere may many rows be read in vain.
    assert not re.search(r"Seq Scan on (run|dead)\b", plan), plan
    passed_by = sum(map(int, re.findall(r"Rows Removed by (?:Index Recheck|Filter): (\d+)", plan)))
    assert passed_by <= (2 * most if name == "list_live_runs" else 10), plan
    for index in indexes:
        assert re.search(rf"Index (Only )?Scan (Backward )?using {index}", plan), plan
    taken = re.findall(r"Index (?:Only )?Scan[^\n]* on (?:run|dead|attempt_\d+) [^\n]*rows=([\d.]+) loops=(\d+)", plan)
    read = sum(float(count) * int(loops) for count, loops in taken)
    assert read <= most, f"{read} rows\n{plan}"
