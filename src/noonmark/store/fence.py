"""A node's transactions: each one first proves that the node has not been declared dead.

The proof takes a key-share lock on the node's row. Declaring a node dead takes the conflicting lock, so it waits for
the transactions under way, and from then on every transaction of that node fails here, before it has written anything.

The error says whether the transaction was written:
    Fenced          the node was declared dead         nothing was written
    NotCommitted    it broke before COMMIT was sent    nothing was written
    CommitUnknown   COMMIT was sent, no answer came    it may have been written
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from noonmark.errors import NoonmarkError
from noonmark.store.connect import Connection

FENCED = "NM001"
"""The SQLSTATE that `noonmark.fence` raises."""
_GONE = (asyncpg.PostgresConnectionError, asyncpg.OperatorInterventionError, asyncpg.InsufficientResourcesError)
"""It is the server that went away."""


class Fenced(Exception):
    """The node was declared dead, or lost a shard: it must write nothing more under this node id."""


class NotCommitted(Exception):
    """The transaction failed, and left nothing behind."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.refused = isinstance(error, asyncpg.PostgresError) and not isinstance(error, _GONE)
        """The database refused the statement itself: another node would fare no better."""


class CommitUnknown(Exception):
    """The connection broke while the commit was under way."""


@asynccontextmanager
async def fenced(connection: Connection, node_id: int) -> AsyncIterator[None]:
    try:
        await connection.execute(f"BEGIN; SELECT noonmark.fence({int(node_id)})")
        yield
    except BaseException as error:
        if not connection.is_closed() and connection.is_in_transaction():
            await connection.execute("ROLLBACK")
        if isinstance(error, asyncpg.PostgresError) and error.sqlstate == FENCED:
            raise Fenced(str(error)) from error
        if isinstance(error, (NoonmarkError, Fenced)) or not isinstance(error, Exception):
            raise
        raise NotCommitted(error) from error
    try:
        await connection.execute("COMMIT")
    except Exception as error:
        if not connection.is_closed() and connection.is_in_transaction():
            await connection.execute("ROLLBACK")
            raise NotCommitted(error) from error
        raise CommitUnknown(f"{type(error).__name__}: {error}") from error
