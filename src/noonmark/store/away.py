"""Whether an error means that the database cannot be reached, or that it ended a connection: it may be back soon."""

import asyncpg

_CLASSES = ("08", "57P", "53300")
"""Of SQLSTATE: connections that fail or were ended, servers that stop or start, and too many connections."""


def is_away(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return any(map(is_away, error.exceptions))
    if isinstance(error, asyncpg.PostgresError):
        return (error.sqlstate or "").startswith(_CLASSES)
    # A statement that took longer than its connection allows is a TimeoutError.
    return isinstance(error, asyncpg.InterfaceError | ConnectionError | TimeoutError)
