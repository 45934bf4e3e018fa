"""A node's transactions: each one first proves that the node has not been declared dead.

The proof takes a key-share lock on the node's row. Declaring a node dead takes the conflicting lock, so it waits for
the transactions under way, and from then on every transaction of that node fails here, before it has written anything.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from noonmark.store.connect import Connection


class Fenced(Exception):
    """The node was declared dead, or lost a shard: it must write nothing more under this node id."""


@asynccontextmanager
async def fenced(connection: Connection, node_id: int) -> AsyncIterator[None]:
    try:
        await connection.execute(f"BEGIN; SELECT noonmark.fence({int(node_id)})")
        yield
        await connection.execute("COMMIT")
    except BaseException as error:
        if not connection.is_closed() and connection.is_in_transaction():
            await connection.execute("ROLLBACK")
        if isinstance(error, asyncpg.PostgresError) and error.sqlstate == "NM001":
            raise Fenced(str(error)) from error
        raise
