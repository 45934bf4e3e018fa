"""The plans of the hot statements under the committer's settings: by key, whatever the statistics say.

A queue table is empty at one moment and holds millions of rows at the next, so each plan is asked for twice: with no
statistics at all, and with those of a table of 100,000 rows.
"""

import asyncio
import re
from collections.abc import Iterator

import pytest

from noonmark.embedded import EmbeddedPostgres
from noonmark.store.connect import OWNER_SETTINGS, Connection, connect
from noonmark.store.statement import statement
from tests.conftest import TEMPLATE, drop_database, new_database

BY_INDEX = {
    "advance_watermarks": ["shard_pkey"],
    "insert_dead": ["run_pkey"],
    "delete_grants": ["grant_pkey"],
    "delete_labels": ["job_label_pkey"],
    "delete_planned_runs": ["run_pkey"],
    "delete_troubles": ["trouble_pkey"],
    "delete_runs": ["run_pkey"],
    "delete_waiting_run": ["run_pkey"],
    "delete_waiting_runs": ["run_pkey"],
    "discard_dead": ["dead_pkey"],
    "drain_inbox": ["inbox_pkey"],
    "fetch_end_of_run": ["attempt"],
    "fetch_waiting_run": ["run_pkey"],
    "find_dedup_keys": ["job_dedup_pkey"],
    "find_ended_runs": ["attempt"],
    "find_known_runs": ["attempt", "run_pkey"],
    "follow_fixed_delays": ["job_pkey", "shard_pkey"],
    "has_run": ["run_pkey"],
    "hasten_run": ["run_pkey"],
    "insert_notices": ["job_pkey", "subscription_pkey"],
    "load_granted_runs": ["grant_pkey", "run_pkey"],
    "load_grants": ["grant_pkey"],
    "load_job_rows": ["job_pkey"],
    "load_job_rows_by_name": ["job_shard_tenant_id_name_key"],
    "load_inputs": ["run_pkey"],
    "load_missed_ends": ["job_ends"],
    "load_paused": ["job_pkey"],
    "load_policy_ids": ["policy_digest"],
    "load_schedule_ids": ["schedule_digest"],
    "load_schedules": ["job_tick"],
    "load_troubles": ["trouble_pkey"],
    "load_specs": ["job_version_pkey"],
    "load_waiting_runs": ["run_pkey"],
    "mark_cancelling": ["run_pkey"],
    "page_lane": ["run_pkey"],
    "page_shard": ["run_pkey"],
    "park_runs": ["run_pkey"],
    "redrive_dead": ["dead_pkey"],
    "requeue_runs": ["run_pkey"],
    "set_job_skips": ["job_pkey", "job_skip_pkey"],
    "tick_runs": ["job_tick", "job_skip_pkey"],
    "unpark_runs": ["run_pkey"],
    "wake_runs": ["run_sleeps"],
}

_FILL = """
INSERT INTO noonmark.job (shard, job_id, tenant_id, version, policy_id, schedule_id, priority, catch_up, created_at,
    updated_at, planned_from, name)
SELECT n % 8, n * 4096 + n % 8, 1, 1, 1, n % 300, 5, 1, now(), now(), now(), 'job-' || n
FROM generate_series(1, 100000) n;
UPDATE noonmark.job SET ends_at = now() + job_id % 1000 * interval '1 second' WHERE job_id / 4096 % 10 = 0;
INSERT INTO noonmark.run (shard, nominal_at, job_id, due_at, tenant_id, version, policy_id, priority, reason, sleeps)
SELECT n % 8, now() + n * interval '1 ms', n * 4096 + n % 8, now() + n * interval '1 ms', 1, 1, 1, 5, 1, n % 100 = 0
FROM generate_series(1, 100000) n;
INSERT INTO noonmark.grant SELECT n % 8, n, 1, now(), ARRAY[n], ARRAY[now()], ARRAY[1] FROM generate_series(1, 1000) n;
INSERT INTO noonmark.dead SELECT n % 8, n, now(), now(), 1, 1, 1, 5, 1, 1, 13 FROM generate_series(1, 1000) n;
INSERT INTO noonmark.inbox (shard, job_id, has_input) SELECT n % 8, n, false FROM generate_series(1, 1000) n;
INSERT INTO noonmark.job_version SELECT shard, job_id, 1, now(), '{}' FROM noonmark.job;
INSERT INTO noonmark.job_label SELECT shard, 1, 'team:' || job_id / 4096 % 10, name FROM noonmark.job;
INSERT INTO noonmark.job_dedup SELECT n % 8, n, 'key-' || n, now(), now() FROM generate_series(1, 10000) n;
INSERT INTO noonmark.job_skip SELECT n % 8, n, now() + n * interval '1 s' FROM generate_series(1, 1000) n;
INSERT INTO noonmark.attempt
SELECT n % 8, n, now(), 1, now(), 1, 1, 1, now(), now(), now(), 1, 10, true FROM generate_series(1, 1000) n;
"""


async def _filled(url: str) -> None:
    connection = await connect(url)
    await connection.execute(_FILL)
    await connection.execute("ANALYZE")
    await connection.close()


@pytest.fixture(scope="module")
def plan_urls(postgres: EmbeddedPostgres) -> Iterator[dict[str, str]]:
    urls = {name: asyncio.run(new_database(postgres.url, TEMPLATE)) for name in ("empty", "full")}
    asyncio.run(_filled(urls["full"]))
    yield urls
    for url in urls.values():
        asyncio.run(drop_database(postgres.url, url))


async def generic_plan(connection: Connection, name: str) -> str:
    sql = statement(name)
    parameters = max(map(int, re.findall(r"\$(\d+)", sql)))
    await connection.execute(f"PREPARE {name} AS {sql}")
    rows = await connection.fetch(f"EXPLAIN EXECUTE {name} ({', '.join(['NULL'] * parameters)})")
    return "\n".join(row[0] for row in rows)


@pytest.mark.parametrize("tables", ["empty", "full"])
async def test_hot_statements_find_their_rows_by_key(plan_urls: dict[str, str], tables: str) -> None:
    connection = await connect(plan_urls[tables], OWNER_SETTINGS)
    try:
        for name, indexes in BY_INDEX.items():
            plan = await generic_plan(connection, name)
            assert "Seq Scan" not in plan, f"{name}\n{plan}"
            assert "Hash Join" not in plan, f"{name}\n{plan}"
            assert "Bitmap" not in plan, f"{name}\n{plan}"
            for index in indexes:
                assert re.search(rf"Index (Only )?Scan (Backward )?using {index}", plan), f"{name}\n{plan}"
    finally:
        await connection.close()


@pytest.mark.parametrize("tables", ["empty", "full"])
async def test_the_condition_on_the_key_is_whole(plan_urls: dict[str, str], tables: str) -> None:
    """An index that is used for the shard alone, with the rest as a filter, would read the whole shard."""
    connection = await connect(plan_urls[tables], OWNER_SETTINGS)
    whole = {
        "delete_runs": ("shard", "nominal_at", "job_id"),
        "requeue_runs": ("shard", "nominal_at", "job_id"),
        "load_inputs": ("shard", "nominal_at", "job_id"),
        "load_granted_runs": ("shard", "nominal_at", "job_id"),
        "delete_waiting_run": ("shard", "nominal_at", "job_id"),
        "follow_fixed_delays": ("shard", "job_id"),
        "load_missed_ends": ("shard", "ends_at"),
        "wake_runs": ("shard", "due_at"),
        "tick_runs": ("shard", "schedule_id", "jitter_ms"),
        "find_dedup_keys": ("shard", "job_id", "key"),
        "find_known_runs": ("shard", "nominal_at", "job_id"),
        "page_shard": ("shard", "ROW(nominal_at, job_id)"),
        "page_lane": ("shard", "ROW(nominal_at, job_id)"),
    }
    try:
        for name, columns in whole.items():
            plan = await generic_plan(connection, name)
            conditions = re.findall(r"Index Cond: (.*)", plan)
            assert any(all(column in condition for column in columns) for condition in conditions), f"{name}\n{plan}"
            if name.startswith("page"):
                assert "Sort" not in plan, f"{name}\n{plan}"
    finally:
        await connection.close()
