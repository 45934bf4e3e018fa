"""Nodes' leases and shards' owners."""

from typing import NamedTuple

from noonmark.shard.listening import NodeLife
from noonmark.store.connect import Connection, Pool
from noonmark.store.fence import fenced
from noonmark.store.statement import statement

CHANNEL = "noonmark_ownership"


class Taken(NamedTuple):
    shard: int
    term: int
    watermark_us: int


class Ownership(NamedTuple):
    """The addresses of living nodes by id, and the owners of shards."""

    nodes: dict[int, str]
    owners: dict[int, int | None]


async def register_node(
    connection: Connection,
    address: str,
    version: str,
    lease_s: float,
    public_address: str | None = None,
    process: int = 0,
) -> int:
    """Its id. A process of a node with several has an address of its own, beside the node's public one."""
    return int(
        await connection.fetchval(statement("register_node"), address, version, lease_s, public_address, process)
    )


async def name_session(connection: Connection, node_id: int) -> None:
    """By this name others find the session of a node that froze in the middle of a transaction."""
    await connection.execute(f"SET application_name = 'noonmark node {int(node_id)}'")


async def renew_lease(connection: Connection, node_id: int, lease_s: float) -> int | None:
    """The database's time in µs, or None if the node was declared dead."""
    now_us: int | None = await connection.fetchval(statement("renew_lease"), node_id, lease_s)
    return now_us


async def load_ownership(connection: Connection) -> Ownership:
    nodes = await load_live_nodes(connection)
    owners = {row[0]: row[1] for row in await connection.fetch(statement("load_ownership"))}
    return Ownership(nodes, owners)


async def load_live_nodes(connection: Connection) -> dict[int, str]:
    return {row[0]: row[1] for row in await connection.fetch(statement("load_live_nodes"))}


async def load_node_lives(connection: Connection, lease_s: float) -> list[NodeLife]:
    """Of the living and of those that died within the last minutes."""
    return [NodeLife(*row) for row in await connection.fetch(statement("load_node_lives"), lease_s)]


async def expire_nodes(connection: Connection) -> list[int]:
    """Declares nodes dead whose lease has passed, and frees their shards."""
    async with connection.transaction():
        await connection.execute("SET LOCAL lock_timeout = '1s'")
        dead = await lock_expired_nodes(connection)
        if dead:
            # Once more, now that no lease can be renewed: the first time may have waited for a renewal.
            dead = [row[0] for row in await connection.fetch(statement("lock_expired_nodes"))]
        if dead:
            await _declare_dead(connection, dead)
    return dead


async def lock_expired_nodes(connection: Connection) -> list[int]:
    return [row[0] for row in await connection.fetch(statement("lock_expired_nodes"))]


async def end_frozen_sessions(connection: Connection) -> None:
    """For when `expire_nodes` waits in vain: a node without a lease must not hold up its own end."""
    await connection.execute(statement("end_frozen_sessions"))


async def end_node(connection: Connection, node_id: int) -> None:
    """Ends a node's life on its own account; waits for the transaction that it may still have under way."""
    async with connection.transaction():
        await lock_node(connection, node_id)
        await _declare_dead(connection, [node_id])


async def lock_node(connection: Connection, node_id: int) -> None:
    await connection.execute(statement("lock_node"), node_id)


async def _declare_dead(connection: Connection, nodes: list[int]) -> None:
    await end_nodes(connection, nodes)
    await free_shards(connection, nodes)
    await connection.execute(f"NOTIFY {CHANNEL}")


async def end_nodes(connection: Connection, nodes: list[int]) -> None:
    await connection.execute(statement("end_nodes"), nodes)


async def free_shards(connection: Connection, nodes: list[int]) -> None:
    await connection.execute(statement("free_shards"), nodes)


async def forget_old_nodes(pool: Pool) -> None:
    await pool.execute(statement("forget_old_nodes"))


async def take_shards(connection: Connection, node_id: int, most: int, now_us: int, gap_us: int) -> list[Taken]:
    """Takes up to `most` shards without an owner, each under a new term; notes those that were left alone for long."""
    async with fenced(connection, node_id):
        taken = [Taken(*row) for row in await connection.fetch(statement("take_shards"), node_id, most)]
        late = [shard for shard in taken if shard.watermark_us < now_us - gap_us]
        if late:
            await record_gaps(connection, late, now_us)
    return taken


async def record_gaps(connection: Connection, late: list[Taken], now_us: int) -> None:
    await connection.execute(
        statement("record_gaps"), [one.shard for one in late], [one.watermark_us for one in late], now_us
    )


async def give_shards(connection: Connection, node_id: int, shards: list[int]) -> None:
    async with fenced(connection, node_id):
        await connection.execute(statement("give_shards"), shards, node_id)
        await connection.execute(f"NOTIFY {CHANNEL}")
