"""The SQL files: each can be prepared, each is used, and what stands in SQL and in Python says the same."""

import ast
import re
from pathlib import Path

import asyncpg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noonmark
from noonmark.embedded import EmbeddedPostgres
from noonmark.model.ids import shard_for, shard_of
from noonmark.model.reason import Reason
from noonmark.shard.limits import Limits
from noonmark.store.connect import Connection, connect
from tests.conftest import SHARDS, TEMPLATE, on

SOURCE = Path(noonmark.__file__).parent
FILES = sorted(path.stem for path in (SOURCE / "store" / "sql").glob("*.sql"))


def used_statements() -> set[str]:
    """Names given to `statement(...)`, directly or as an argument of a function that passes it on."""
    found: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        if "statement" in text:
            for node in ast.walk(ast.parse(text)):
                if (
                    isinstance(node, ast.Constant)
                    and isinstance(node.value, str)
                    and re.fullmatch(r"[a-z_]+", node.value)
                ):
                    found.add(node.value)
    return found


def named_statements() -> set[str]:
    text = "\n".join(path.read_text() for path in SOURCE.rglob("*.py"))
    return set(re.findall(r'\bstatement\("([a-z_]+)"\)', text))


def test_every_file_is_used() -> None:
    assert set(FILES) - used_statements() == set()


def test_every_statement_has_its_file() -> None:
    assert named_statements() - set(FILES) == set()


async def test_every_file_is_one_statement_that_can_be_prepared(connection: Connection) -> None:
    failed = {}
    for name in FILES:
        try:
            await connection.prepare((SOURCE / "store" / "sql" / f"{name}.sql").read_text())
        except asyncpg.PostgresError as error:
            failed[name] = str(error)
    assert failed == {}


def test_reasons_and_outcomes_have_names_in_sql() -> None:
    """Their numbers stand in the enums alone: a statement takes them as parameters."""
    number = re.compile(r"\b(?:reason|outcome)\s*(?:=|<>|!=|<|>|IN)\s*\(?\s*\d|\b(?:THEN|ELSE)\s+\d+\b", re.IGNORECASE)
    texts = {name: (SOURCE / "store" / "sql" / f"{name}.sql").read_text() for name in FILES}
    assert {name: number.findall(text) for name, text in texts.items() if number.search(text)} == {}
    assert {name for name, text in texts.items() if "4095" in text or "1024" in text} == set()


async def test_the_database_names_every_reason(connection: Connection) -> None:
    rows = await connection.fetch("SELECT code, name FROM noonmark.reason")
    assert {row[0]: row[1] for row in rows} == {reason.value: reason.name.lower() for reason in Reason}


@pytest.mark.parametrize("size", [0, 1, Limits().input_bytes_in_memory, Limits().input_bytes_in_memory + 1, 10_000])
async def test_sql_and_python_agree_on_the_inputs_that_memory_keeps(connection: Connection, size: int) -> None:
    text = "1" * size if size else None
    kept = text is None or size <= Limits().input_bytes_in_memory
    assert await connection.fetchval("SELECT noonmark.input_in_memory($1::json)", text) == (text if kept else "")


async def test_sql_and_python_agree_on_the_shard_of_a_job(connection: Connection) -> None:
    for job_id in (0, 1, 4095, 4096, 2**40 + 77):
        assert await connection.fetchval("SELECT noonmark.shard_of($1)", job_id) == shard_of(job_id)


async def test_named_numbers_cost_no_call(connection: Connection) -> None:
    """The planner puts the functions' bodies in the place of the calls."""
    rows = await connection.fetch(
        "EXPLAIN (VERBOSE, COSTS OFF) SELECT noonmark.input_in_memory(r.input) FROM noonmark.run r"
        " WHERE r.shard = noonmark.shard_of(8193)"
    )
    plan = "\n".join(row[0] for row in rows)
    assert "octet_length" in plan
    assert "in_memory" not in plan
    assert "shard_of" not in plan


NAMES = st.text(st.characters(min_codepoint=1, exclude_categories=["Cs"]), min_size=1, max_size=60)


async def test_sql_and_python_agree_on_the_shard_of_a_name(postgres: EmbeddedPostgres) -> None:
    pairs: list[tuple[int, str]] = []

    @settings(max_examples=300, database=None, derandomize=True)
    @given(st.integers(1, 2**31 - 1), NAMES)
    def collect(tenant_id: int, name: str) -> None:
        pairs.append((tenant_id, name))

    collect()
    connection = await connect(on(postgres.url, TEMPLATE))
    try:
        rows = await connection.fetch(
            "SELECT noonmark.shard_for(k.tenant_id, k.name) FROM unnest($1::integer[], $2::text[])"
            " WITH ORDINALITY AS k (tenant_id, name, n) ORDER BY n",
            [tenant_id for tenant_id, _ in pairs],
            [name for _, name in pairs],
        )
    finally:
        await connection.close()
    assert [row[0] for row in rows] == [shard_for(tenant_id, name, SHARDS) for tenant_id, name in pairs]
    assert len({row[0] for row in rows}) == SHARDS
