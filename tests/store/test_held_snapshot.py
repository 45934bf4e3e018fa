"""Beside a held snapshot, what a node does every second costs no more after many rounds than at first."""

import asyncio
import json
from typing import Any

from noonmark.clock import SECOND_US
from noonmark.store.connect import OWNER_SETTINGS, Connection, connect
from noonmark.store.fence import fenced
from noonmark.store.ownership import expire_nodes, load_ownership, register_node, renew_lease, take_shards
from noonmark.store.statement import statement
from noonmark.store.tick import tick
from tests.conftest import SHARDS, eventually

ROUNDS = 120
PLACES = "SELECT ctid::text FROM noonmark.node UNION ALL SELECT ctid::text FROM noonmark.shard"


async def _touched(connection: Connection, sql: str, *arguments: object) -> int:
    """The buffers of a statement, whose change is rolled back."""
    transaction = connection.transaction()
    await transaction.start()
    text = await connection.fetchval(f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {sql}", *arguments)
    await transaction.rollback()
    plan: dict[str, Any] = json.loads(text)[0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


async def test_nothing_walks_over_what_a_snapshot_keeps(database_url: str, connection: Connection) -> None:
    owner = await connect(database_url, OWNER_SETTINGS)
    node_id = await register_node(connection, "http://here", "1", 60.0)
    taken = await take_shards(owner, node_id, SHARDS, 0, 0)
    terms = {one.shard: one.term for one in taken}
    at_us = taken[0].watermark_us

    async def round_() -> None:
        nonlocal at_us
        async with fenced(owner, node_id):  # the renewal meets a transaction under way, as it mostly does
            assert await renew_lease(connection, node_id, 60.0)
        await tick(owner, node_id, terms, after_us=at_us, until_us=at_us + 1, now_us=0, due=[])
        at_us += 1

    async def costs() -> dict[str, int]:
        shards, held = list(terms), list(terms.values())
        asked: dict[str, tuple[object, ...]] = {
            "advance_watermarks": (shards, held, node_id, at_us + 1, at_us),
            "renew_lease": (node_id, 60.0),
            "load_live_nodes": (),
            "load_ownership": (),
            "lock_expired_nodes": (),
        }
        return {name: await _touched(owner, statement(name), *arguments) for name, arguments in asked.items()}

    holder = await connect(database_url)
    try:
        await round_()
        await holder.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        await holder.fetchval("SELECT count(*) FROM noonmark.node")
        before, places = await costs(), await connection.fetch(PLACES)
        for _ in range(ROUNDS):
            await round_()
        after = await costs()
        assert await connection.fetch(PLACES) == places, "rows that every transaction reads were written anew"
    finally:
        holder.terminate()
        owner.terminate()
    # An index may have grown by a level, which is one more buffer for each key that is looked up.
    more = {name: (before[name], after[name]) for name in before if after[name] > before[name] + 4 * SHARDS}
    assert more == {}


async def test_a_renewal_that_was_waited_for_counts(database_url: str, connection: Connection) -> None:
    """Whoever declares a node dead by what it saw before it waited would bury one that has just renewed."""
    node_id = await register_node(connection, "http://here", "1", 60.0)
    await connection.execute("UPDATE noonmark.lease SET until = clock_timestamp() - interval '1 s'")
    renewing, burying = await connect(database_url), await connect(database_url)
    try:
        transaction = renewing.transaction()
        await transaction.start()
        assert await renew_lease(renewing, node_id, 60.0)
        with_lock = (
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )
        task = asyncio.create_task(expire_nodes(burying))
        await eventually(lambda: connection.fetchval(with_lock), 5)
        await transaction.commit()
        assert await asyncio.wait_for(task, 5) == []
        assert await connection.fetchval("SELECT alive FROM noonmark.node WHERE node_id = $1", node_id)
    finally:
        renewing.terminate()
        burying.terminate()


async def test_a_shard_keeps_its_place_from_owner_to_owner(connection: Connection) -> None:
    """Also for an older node, which reads the shard's row alone."""
    first = await register_node(connection, "http://first", "1", 60.0)
    taken = await take_shards(connection, first, 1, 0, 0)
    terms = {one.shard: one.term for one in taken}
    at_us = taken[0].watermark_us + 5
    await tick(connection, first, terms, after_us=taken[0].watermark_us, until_us=at_us, now_us=0, due=[])
    await connection.execute("UPDATE noonmark.lease SET until = clock_timestamp() - interval '1 s'")
    assert await expire_nodes(connection) == [first]
    shard = taken[0].shard
    assert await connection.fetchval("SELECT watermark FROM noonmark.shard WHERE shard = $1", shard) == at_us
    assert await connection.fetchval("SELECT count(*) FROM noonmark.watermark") == 0
    second = await register_node(connection, "http://second", "1", 60.0)
    [again] = [one for one in await take_shards(connection, second, SHARDS, 0, 0) if one.shard == shard]
    assert again.watermark_us == at_us


async def test_an_older_node_is_judged_by_its_own_row(connection: Connection) -> None:
    """It knows no rows of `lease` and renews in place."""
    older = (
        "INSERT INTO noonmark.node (address, version, lease_until) VALUES ('http://older', '0', $1) RETURNING node_id"
    )
    now_us = await connection.fetchval("SELECT clock_timestamp()")
    node_id = await connection.fetchval(older, now_us + 60 * SECOND_US)
    assert (await load_ownership(connection)).nodes == {node_id: "http://older"}
    assert await expire_nodes(connection) == []
    await connection.execute("UPDATE noonmark.node SET lease_until = clock_timestamp() - interval '1 s'")
    assert await expire_nodes(connection) == [node_id]


async def test_an_older_node_never_declares_a_newer_one_dead(connection: Connection) -> None:
    await register_node(connection, "http://newer", "1", 0.0)
    older = "SELECT count(*) FROM noonmark.node n WHERE n.alive AND n.lease_until < clock_timestamp()"
    assert await connection.fetchval(older) == 0
