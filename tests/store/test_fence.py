"""The fence on real connections: who declares a node dead waits for its transactions, and later ones of it fail."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from noonmark.clock import monotonic_s
from noonmark.shard.outbox import Batch
from noonmark.store.commit import commit_batch
from noonmark.store.connect import OWNER_SETTINGS, Connection, connect
from noonmark.store.fence import Fenced, NotCommitted, fenced
from noonmark.store.ownership import (
    end_frozen_sessions,
    end_node,
    expire_nodes,
    give_shards,
    name_session,
    register_node,
    renew_lease,
    take_shards,
)
from noonmark.store.tick import tick
from tests.conftest import eventually


@pytest.fixture
async def owner(database_url: str) -> AsyncIterator[Connection]:
    connection = await connect(database_url, OWNER_SETTINGS)
    yield connection
    connection.terminate()


async def register(owner: Connection, lease_s: float) -> int:
    node_id = await register_node(owner, "http://here", "1", lease_s)
    await name_session(owner, node_id)
    return node_id


async def bury_expired(connection: Connection) -> list[int]:
    """As the node's own loop does it."""
    while True:
        try:
            return await expire_nodes(connection)
        except asyncpg.LockNotAvailableError:
            await end_frozen_sessions(connection)


async def test_declaring_a_node_dead_waits_for_its_transaction(owner: Connection, connection: Connection) -> None:
    node_id = await register(owner, 60.0)
    async with fenced(owner, node_id):
        ending = asyncio.create_task(end_node(connection, node_id))
        waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        await eventually(lambda: owner.fetchval(waits), 5)
        await owner.execute("UPDATE noonmark.setting SET value = value")
        assert not ending.done()
    await asyncio.wait_for(ending, 5)
    with pytest.raises(Fenced, match="was declared dead"):
        await commit_batch(owner, node_id, Batch())


async def test_nothing_of_a_dead_node_is_written(owner: Connection, connection: Connection) -> None:
    node_id = await register(owner, 60.0)
    taken = await take_shards(owner, node_id, 8, 0, 0)
    assert len(taken) == 8
    await end_node(connection, node_id)
    before = await connection.fetch("SELECT * FROM noonmark.shard ORDER BY shard")
    terms = {one.shard: one.term for one in taken}
    with pytest.raises(Fenced):
        await tick(
            owner, node_id, terms, after_us=taken[0].watermark_us, until_us=taken[0].watermark_us + 1, now_us=0, due=[]
        )
    with pytest.raises(Fenced):
        await give_shards(owner, node_id, list(terms))
    with pytest.raises(Fenced):
        await take_shards(owner, node_id, 8, 0, 0)
    assert await renew_lease(owner, node_id, 3.0) is None
    assert await connection.fetch("SELECT * FROM noonmark.shard ORDER BY shard") == before
    assert not owner.is_in_transaction()


async def test_a_tick_under_an_old_term_is_refused_whole(owner: Connection, connection: Connection) -> None:
    node_id = await register(owner, 60.0)
    taken = await take_shards(owner, node_id, 8, 0, 0)
    terms = {one.shard: one.term for one in taken}
    await give_shards(owner, node_id, [3])
    await take_shards(owner, node_id, 1, 0, 0)
    watermarks = await connection.fetch("SELECT noonmark.ticked_until(s) FROM noonmark.shard s")
    with pytest.raises(Fenced, match="no longer owns"):
        await tick(
            owner, node_id, terms, after_us=taken[0].watermark_us, until_us=taken[0].watermark_us + 1, now_us=0, due=[]
        )
    assert await connection.fetch("SELECT noonmark.ticked_until(s) FROM noonmark.shard s") == watermarks


async def test_a_node_frozen_between_statements_frees_its_lock(owner: Connection, connection: Connection) -> None:
    node_id = await register(owner, 0.0)
    await owner.execute(f"BEGIN; SELECT noonmark.fence({node_id})")
    frozen_s = monotonic_s()
    with pytest.raises(asyncpg.LockNotAvailableError):
        await expire_nodes(connection)
    assert await eventually(lambda: _expired(connection), 5) == [node_id]
    assert monotonic_s() - frozen_s < 3.5


async def _expired(connection: Connection) -> list[int]:
    try:
        return await expire_nodes(connection)
    except asyncpg.LockNotAvailableError:
        return []


async def test_a_node_frozen_within_a_copy_frees_its_lock(owner: Connection, connection: Connection) -> None:
    """No timeout of PostgreSQL ends a COPY that waits for its client, so the session is ended by hand."""
    node_id = await register(owner, 0.0)
    never = asyncio.Event()

    async def rows() -> AsyncIterator[bytes]:
        yield b"0"
        await never.wait()

    async def copy() -> None:
        async with fenced(owner, node_id):
            await owner.copy_to_table("run", schema_name="noonmark", source=rows())

    copying = asyncio.create_task(copy())
    active = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'COPY%' AND wait_event = 'ClientRead'"
    await eventually(lambda: connection.fetchval(active), 5)
    assert await asyncio.wait_for(bury_expired(connection), 5) == [node_id]
    never.set()
    with pytest.raises(NotCommitted):
        await copying


async def test_the_sessions_of_living_nodes_are_left_alone(owner: Connection, connection: Connection) -> None:
    node_id = await register(owner, 60.0)
    async with fenced(owner, node_id):
        await end_frozen_sessions(connection)
        await owner.execute("UPDATE noonmark.setting SET value = value")
    assert await bury_expired(connection) == []
