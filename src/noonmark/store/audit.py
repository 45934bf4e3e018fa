"""The audit: who changed what. An entry is written in the transaction of the change, and never altered.

How a command records its change:

    async def action(connection: Connection) -> None:
        async with fenced(connection, life.node_id):
            …the change itself…
            await record(connection, [entry(command.caller, command.tenant_id, now_us, "job.pause", job_text(job_id))])

A change that goes through the owner's outbox adds its entry there instead: `life.owner.outbox.audit.append(…)`.
"""

from collections.abc import Sequence

from noonmark.model.audit import Entry
from noonmark.store.connect import Connection
from noonmark.store.statement import statement

_COLUMNS = (
    "tenant_id", "at", "actor", "key_id", "door", "address", "agent", "action", "subject", "before", "after",
)  # fmt: skip
_FEW = 20
"""COPY is the cheaper way for many rows, but takes one exchange more."""


async def record(connection: Connection, entries: Sequence[Entry]) -> None:
    if 0 < len(entries) <= _FEW:
        await insert_audit(connection, entries)
    elif entries:
        await connection.copy_records_to_table("audit", schema_name="noonmark", columns=_COLUMNS, records=entries)


async def insert_audit(connection: Connection, entries: Sequence[Entry]) -> None:
    await connection.execute(statement("insert_audit"), *zip(*entries, strict=True))
