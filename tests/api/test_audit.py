"""The audit as it is asked for: the latest first, by subject, actor, action and time; and it cannot be altered."""

from datetime import timedelta

import aiohttp
import asyncpg
import pytest

from noonmark.clock import to_datetime
from noonmark.model.audit import Entry, entry
from noonmark.model.caller import Caller as Asker
from noonmark.store.audit import record
from noonmark.store.connect import Pool
from tests.api.conftest import Caller, RunningNode, StartNode
from tests.api.holders import ROOT, Holder, make_tenants

ADA = Asker("ada", key_id=7, address="192.0.2.7", agent="noonmark-cli/1", door="cli")


@pytest.fixture
async def node(start_node: StartNode) -> RunningNode:
    return await start_node(token=ROOT)


@pytest.fixture
async def root(node: RunningNode, session: aiohttp.ClientSession) -> Holder:
    return Holder(Caller(session, node.address), ROOT)


async def write(pool: Pool, *entries: Entry) -> None:
    async with pool.acquire() as connection:
        await record(connection, entries)  # type: ignore[arg-type]


async def test_an_entry_says_all_of_it(root: Holder, node: RunningNode, pool: Pool) -> None:
    now_us = node.clock.now_us()
    await write(pool, entry(ADA, 1, now_us, "job.change", "job_1", before='{"a": 1}', after='{"a": 2}'))
    [told] = (await root("GET", "/v1/audit")).json["entries"]
    assert told.pop("id").startswith("audit_")
    assert told.pop("at").startswith(to_datetime(now_us).strftime("%Y-%m-%dT%H:%M:%S"))
    assert told == {
        "actor": "ada", "key": "key_7", "door": "cli", "address": "192.0.2.7", "agent": "noonmark-cli/1",
        "action": "job.change", "subject": "job_1", "before": {"a": 1}, "after": {"a": 2},
    }  # fmt: skip


async def test_pages_stay_right_while_entries_come(root: Holder, node: RunningNode, pool: Pool) -> None:
    now_us = node.clock.now_us()
    # Fifty of them at once, by COPY, and several at the same microsecond.
    await write(pool, *(entry(ADA, 1, now_us + n // 7, "job.create", f"job_{n}") for n in range(50)))
    seen: list[str] = []
    cursor = ""
    while True:
        page = (await root("GET", f"/v1/audit?limit=9{cursor}")).json
        seen += [told["subject"] for told in page["entries"]]
        await write(pool, entry(ADA, 1, now_us + 100, "job.create", "job_late"))
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert seen == [f"job_{n}" for n in reversed(range(50))]


async def test_filters(root: Holder, node: RunningNode, pool: Pool) -> None:
    now_us = node.clock.now_us()
    bob = Asker("bob")
    await write(
        pool,
        entry(ADA, 1, now_us - 3_000_000, "job.create", "job_1"),
        entry(bob, 1, now_us - 2_000_000, "job.change", "job_1"),
        entry(ADA, 1, now_us - 1_000_000, "key.create", "key_1"),
    )

    async def found(query: str) -> list[str]:
        answer = await root("GET", f"/v1/audit?{query}")
        assert answer.status == 200, answer.body
        return [told["action"] for told in answer.json["entries"]]

    def at(seconds: float) -> str:
        return (to_datetime(now_us) + timedelta(seconds=seconds)).isoformat().replace("+", "%2B")

    assert await found("subject=job_1") == ["job.change", "job.create"]
    assert await found("subject=job_1&actor=ada") == ["job.create"]
    assert await found("actor=ada") == ["key.create", "job.create"]
    assert await found("action=job.") == ["job.change", "job.create"]
    assert await found("action=job.change") == ["job.change"]
    assert await found(f"from={at(-2)}") == ["key.create", "job.change"], "the first moment counts"
    assert await found(f"to={at(-2)}") == ["job.change", "job.create"], "and so does the last"
    assert await found(f"from={at(-2.5)}&to={at(-1.5)}") == ["job.change"]
    assert await found("actor=a%00da") == []
    for query, field in (("from=2026-01-01T00:00:00", "from"), ("cursor=x", "cursor"), ("limit=0", "limit")):
        answer = await root("GET", f"/v1/audit?{query}")
        assert (answer.status, answer.json["field"]) == (422, field)


async def test_each_tenant_has_its_own(root: Holder, node: RunningNode, pool: Pool) -> None:
    await make_tenants(root, "acme")
    acme = await root.gives("admin", "acme")
    assert [told["action"] for told in (await acme("GET", "/v1/audit")).json["entries"]] == ["key.create"]
    assert (await root("GET", "/v1/audit")).json["entries"] == []
    whole = (await root("GET", "/v1/audit?installation=true")).json["entries"]
    assert [(told["action"], told["subject"]) for told in whole] == [("tenant.create", "acme")]


async def test_nothing_in_it_can_be_altered(pool: Pool, node: RunningNode) -> None:
    await write(pool, entry(ADA, 1, node.clock.now_us(), "job.create", "job_1"))
    partition = await pool.fetchval("SELECT tableoid::regclass::text FROM noonmark.audit")
    for table in ("noonmark.audit", partition):
        for statement in (f"UPDATE {table} SET actor = 'mallory'", f"DELETE FROM {table}"):
            with pytest.raises(asyncpg.PostgresError, match="append-only"):
                await pool.execute(statement)
    with pytest.raises(asyncpg.PostgresError, match="append-only"):
        await pool.execute("TRUNCATE noonmark.audit")
    assert await pool.fetchval("SELECT actor FROM noonmark.audit") == "ada"


async def test_a_list_by_subject_reads_its_own_index(pool: Pool, node: RunningNode) -> None:
    now_us = node.clock.now_us()
    await write(pool, *(entry(ADA, 1, now_us - n, "run.submit", f"job_{n % 100}") for n in range(5000)))
    await pool.execute("ANALYZE noonmark.audit")
    from noonmark.store.statement import statement

    plan = await pool.fetch(
        f"EXPLAIN {statement('list_audit_of_subject')}", 1, now_us + 1, 2**62, 0, None, None, 10, "job_5"
    )
    text = "\n".join(row[0] for row in plan)
    assert "subject" in text
    assert "Seq Scan" not in text
