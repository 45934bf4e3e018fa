"""A small batch as one statement: one exchange with the database, not one for each table and two for the transaction.

The statements are those of the ordinary way (`commit.py`), each as a part of one, with its parameters numbered anew. A
statement outside of a transaction block is a transaction of its own: the fence, which it asks at its end, undoes it all
if the node was declared dead. All parts see the tables as they were before it, so a batch with two parts that concern
the same rows goes the ordinary way.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import asyncpg

from noonmark.shard.outbox import Batch
from noonmark.store.columns import columns, run_record
from noonmark.store.connect import Connection
from noonmark.store.fence import FENCED, CommitUnknown, Fenced, NotCommitted
from noonmark.store.statement import statement

_FEW = 20
_FEW_GRANTS = 4
_PARAMETER = re.compile(r"\$(\d+)")


def is_small(batch: Batch) -> bool:
    """Few rows, and no row that two parts would touch."""
    if batch.requeues or batch.cancelling or batch.dead or batch.fixed_delay_ends or batch.notices or batch.troubles:
        return False
    if batch.created and batch.ended:
        return False
    rows = (batch.created, batch.ended, batch.attempts, batch.audit, batch.requests, batch.finished_grants)
    return len(batch.grants) <= _FEW_GRANTS and all(len(part) <= _FEW for part in rows)


async def commit_few(connection: Connection, node_id: int, batch: Batch) -> None:
    parts: list[tuple[str, Sequence[Any]]] = []
    if batch.created:
        parts.append(("insert_runs", columns(map(run_record, batch.created), 13)))
    if batch.ended:
        parts.append(("delete_runs", columns(batch.ended, 3)))
    parts += [("insert_grant", grant) for grant in batch.grants]
    if batch.finished_grants:
        parts.append(("delete_grants", columns(batch.finished_grants, 2)))
    if batch.attempts:
        parts.append(("insert_attempts", columns(batch.attempts, 16)))
    if batch.audit:
        parts.append(("insert_audit", columns(batch.audit, 11)))
    if batch.requests:
        parts.append(("keep_requests", columns(batch.requests, 6)))
    text = _composed(tuple(name for name, _ in parts))
    arguments = [argument for _, given in parts for argument in given]
    try:
        await connection.fetchval(text, node_id, len(batch.created), *arguments)
    except asyncpg.PostgresError as error:
        if error.sqlstate == FENCED:
            raise Fenced(str(error)) from error
        if connection.is_closed():
            raise CommitUnknown(f"{type(error).__name__}: {error}") from error
        raise NotCommitted(error) from error
    except (asyncpg.InterfaceError, OSError, TimeoutError) as error:
        raise CommitUnknown(f"{type(error).__name__}: {error}") from error


@cache
def _composed(names: tuple[str, ...]) -> str:
    """If a submitted run has the key of another, the fence fails: no node has the id -1."""
    used = 2
    parts: list[str] = []
    for number, name in enumerate(names):
        text = statement(name).strip()
        numbers = {int(found) for found in _PARAMETER.findall(text)}
        for own in sorted(numbers, reverse=True):
            text = re.sub(rf"\${own}\b", f"${own + used}", text)
        parts.append(f"part{number} AS (\n{text}{' RETURNING 1' if name == 'insert_runs' else ''}\n)")
        used += len(numbers)
    made = "(SELECT count(*) FROM part0)" if names and names[0] == "insert_runs" else "0"
    ask = f"SELECT noonmark.fence(CASE WHEN {made} = $2::bigint THEN $1::bigint ELSE -1 END)"
    return f"WITH {', '.join(parts)}\n{ask}" if parts else ask
