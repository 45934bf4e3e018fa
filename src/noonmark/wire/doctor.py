"""The facts that `noonmark doctor` asks the server for; the command itself judges them (JSON)."""

from datetime import datetime

import msgspec


class TableFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A table, all of its partitions together."""

    name: str
    live_rows: int
    dead_rows: int
    """Rows that were changed or deleted and whose space was not reclaimed yet."""
    size_bytes: int
    vacuumed_at: datetime | None
    """When that was last done, by hand or by autovacuum."""


class DatabaseFacts(msgspec.Struct, frozen=True, kw_only=True):
    now: datetime
    version: str
    version_number: int
    """Such as 170002."""
    migration: int
    settings: dict[str, str]
    connections: int
    max_connections: int
    size_bytes: int
    oldest_transaction_s: float
    """Nothing that was deleted since its start can be reclaimed."""
    tables: list[TableFacts]
    disk_free_bytes: int | None
    """Of the database's disk, if this node is on the same machine and may look."""
    disk_bytes: int | None


class Unserved(msgspec.Struct, frozen=True, kw_only=True):
    """Runs that are due, of a task and a queue that no worker serves."""

    queue: str
    task: str
    runs: int


class WorkFacts(msgspec.Struct, frozen=True, kw_only=True):
    shards: int
    shards_without_owner: int
    watermark_age_s: float
    """Of the shard that is furthest behind."""
    due_runs: int
    """Waiting although due; counted up to `counted_up_to`."""
    counted_up_to: int
    oldest_due_s: float
    unserved: list[Unserved]
    dead_letters: int
    keys_expired: list[str]
    """Prefixes of keys that expired and were used until then."""
    keys_expiring: list[str]
    """Those that do so within two weeks."""


class NodeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about one node."""

    address: str
    version: str
    tz_version: str
    own_time: datetime
    """By the clock of its machine; decisions go by the database's."""
    database_time: datetime
    """At the same moment, as the node carries it."""
    grants: int
    """Since it started."""
    lateness_p95_s: float | None
    """From due time to grant; an upper bound."""


class Examination(msgspec.Struct, frozen=True, kw_only=True):
    database: DatabaseFacts
    work: WorkFacts
    node: NodeFacts
