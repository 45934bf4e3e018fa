"""Hot statements touch what they name and no more, whatever the statistics say.

A queue table is empty at one moment and holds millions of rows at the next, and ANALYZE may meet it at any of them. So
each statement is carried out against large tables under statistics that lie, and the rows and buffers of all nodes of
its plan are counted.
"""

import ast
import asyncio
import json
import re
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import noonmark
from noonmark.embedded import EmbeddedPostgres
from noonmark.store.connect import OWNER_SETTINGS, Connection, connect
from noonmark.store.statement import statement
from tests.conftest import TEMPLATE, drop_database, new_database
from tests.store.hot import BASE, COLD, FILL, HISTORY_DAYS, HOT, POOLED

STORE = Path(noonmark.__file__).parent / "store"
COLD_NAMES = set(" ".join(COLD.values()).split())
_TABLES = """
SELECT oid, relname, relkind FROM pg_class
WHERE relnamespace = 'noonmark'::regnamespace AND relkind IN ('r', 'i', 'p', 'I')"""
_RELATION = f"""
SELECT pg_restore_relation_stats('schemaname', 'noonmark', 'relname', c.relname::text, 'relpages', {{pages}}::integer,
    'reltuples', {{tuples}}::real, 'relallvisible', 0)
FROM ({_TABLES}) c"""
_COLUMNS = f"""
FROM ({_TABLES}) c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'p')"""
_CLEAR_COLUMNS = f"""
SELECT pg_clear_attribute_stats('noonmark', c.relname::text, a.attname::text, c.relkind = 'p') {_COLUMNS}"""
_SAME_VALUES = f"""
SELECT pg_restore_attribute_stats('schemaname', 'noonmark', 'relname', c.relname::text, 'attname', a.attname::text,
    'inherited', c.relkind = 'p', 'null_frac', 0::real, 'avg_width', 8, 'n_distinct', 1::real) {_COLUMNS}"""
LIES = {
    "never analysed": [
        f"SELECT pg_clear_relation_stats('noonmark', c.relname::text) FROM ({_TABLES}) c", _CLEAR_COLUMNS,
    ],
    "analysed while empty": [_RELATION.format(pages="1000", tuples="0"), _CLEAR_COLUMNS],
    "analysed while huge": [_RELATION.format(pages="1", tuples="1e6"), _CLEAR_COLUMNS],
    "huge, and every value alike": [_RELATION.format(pages="1", tuples="1e6"), _SAME_VALUES],
    "true": ["ANALYZE"],
}  # fmt: skip


async def _filled(url: str) -> None:
    connection = await connect(url)
    for day in range(HISTORY_DAYS, 1, -1):
        from_at, to_at = BASE - timedelta(days=day), BASE - timedelta(days=day - 1)
        await connection.execute(
            f"CREATE TABLE noonmark.attempt_old_{day} PARTITION OF noonmark.attempt"
            f" FOR VALUES FROM ('{from_at}') TO ('{to_at}')"
        )
    await connection.execute(FILL)
    await connection.close()


@pytest.fixture(scope="module")
def large_url(postgres: EmbeddedPostgres) -> Iterator[str]:
    url = asyncio.run(new_database(postgres.url, TEMPLATE))
    asyncio.run(_filled(url))
    yield url
    asyncio.run(drop_database(postgres.url, url))


def _literal(value: object) -> str:
    return "NULL" if value is None else "'" + str(value).replace("'", "''") + "'"


async def _carried_out(connection: Connection, name: str) -> dict[str, Any]:
    """The plan, as it went; what it changed is rolled back."""
    arguments = ", ".join(map(_literal, HOT[name].arguments))
    await connection.execute(f"PREPARE hot AS {statement(name)}")
    transaction = connection.transaction()
    await transaction.start()
    try:
        call = f"EXECUTE hot ({arguments})" if arguments else "EXECUTE hot"
        text = await connection.fetchval(f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {call}")
    finally:
        await transaction.rollback()
        await connection.execute("DEALLOCATE hot")
    return dict(json.loads(text)[0]["Plan"])


def _rows(plan: dict[str, Any]) -> float:
    """Through this node and all below it: those that it gave, and those that it read in vain."""
    each = plan["Actual Rows"] + sum(count for key, count in plan.items() if key.startswith("Rows Removed by"))
    return float(each) * plan["Actual Loops"] + sum(map(_rows, plan.get("Plans", [])))


async def _astray(url: str, lie: str, settings: dict[str, str], names: Iterable[str]) -> dict[str, str]:
    """The statements that touched more than they may."""
    found: dict[str, str] = {}
    connection = await connect(url, settings)
    try:
        for sql in LIES[lie]:
            await connection.execute(sql)
        for name in names:
            plan = await _carried_out(connection, name)
            rows, blocks = _rows(plan), plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
            if rows > HOT[name].rows or blocks > HOT[name].blocks:
                found[name] = f"{rows:.0f} rows of {HOT[name].rows}, {blocks} blocks of {HOT[name].blocks}"
    finally:
        await connection.close()
    return found


@pytest.mark.parametrize("lie", LIES)
async def test_hot_statements_touch_what_they_name(large_url: str, lie: str) -> None:
    assert await _astray(large_url, lie, OWNER_SETTINGS, HOT) == {}


@pytest.mark.parametrize("planned", ["force_custom_plan", "force_generic_plan"])
@pytest.mark.parametrize("lie", LIES)
async def test_so_do_those_that_go_over_the_pool(large_url: str, lie: str, planned: str) -> None:
    assert await _astray(large_url, lie, {"jit": "off", "plan_cache_mode": planned}, POOLED) == {}


def test_every_statement_is_hot_or_cold() -> None:
    """A new one needs arguments in HOT, so that it is carried out here, or a place in COLD."""
    files = {path.stem for path in (STORE / "sql").glob("*.sql")}
    assert set(HOT) | COLD_NAMES == files
    assert set(HOT) & COLD_NAMES == set()
    assert set(POOLED) <= set(HOT)


def test_what_the_owners_connection_carries_is_hot() -> None:
    """By the modules whose functions take the owner's connection; COLD says what else they hold."""
    named: set[str] = set()
    modules = "commit commit_steps tick pages jobs job_runs requests dedup skips notices ownership audit"
    for module in modules.split():
        for function in ast.walk(ast.parse((STORE / f"{module}.py").read_text())):
            if isinstance(function, ast.AsyncFunctionDef) and function.args.args[0].arg == "connection":
                named |= set(re.findall(r"statement\('([a-z_]+)'\)", ast.unparse(function)))
    assert len(named) > 50
    assert named - set(HOT) == {"end_frozen_sessions", "lock_request"}
