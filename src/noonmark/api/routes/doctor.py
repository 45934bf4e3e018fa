"""/v1/doctor: facts about the database, the work and this node."""

import re
import shutil
from pathlib import Path

import msgspec

from noonmark.api.call import Call
from noonmark.clock import own_time_us, to_datetime
from noonmark.node.node import Node
from noonmark.schedule.zones import tz_version
from noonmark.store.connect import Pool
from noonmark.store.reads import doctor as reads
from noonmark.wire.doctor import DatabaseFacts, Examination, NodeFacts, TableFacts, Unserved, WorkFacts

_BUCKET = re.compile(r'^noonmark_lateness_seconds_bucket\{le="([^"]+)"\} ([0-9.e+]+)$', re.MULTILINE)


async def examine(call: Call) -> Examination:
    """The facts that `noonmark doctor` judges: the database, the work of all tenants, and the node that answers."""
    pool = call.node.pool
    return Examination(database=await _database(pool), work=await _work(pool), node=_node(call.node))


async def examine_node(call: Call) -> NodeFacts:
    """The facts about the node that answers."""
    return _node(call.node)


async def _database(pool: Pool) -> DatabaseFacts:
    found = await reads.examine_database(pool)
    free, whole = _disk(found.data_directory)
    tables = [
        TableFacts(
            name=table.name,
            live_rows=table.live_rows,
            dead_rows=table.dead_rows,
            size_bytes=table.size_bytes,
            vacuumed_at=None if table.vacuumed_us is None else to_datetime(table.vacuumed_us),
        )
        for table in await reads.examine_tables(pool)
    ]
    return DatabaseFacts(
        now=to_datetime(found.now_us),
        version=found.version,
        version_number=found.version_number,
        migration=found.migration,
        settings=msgspec.json.decode(found.settings, type=dict[str, str]),
        connections=found.connections,
        max_connections=found.max_connections,
        size_bytes=found.size_bytes,
        oldest_transaction_s=found.oldest_transaction_s,
        tables=tables,
        disk_free_bytes=free,
        disk_bytes=whole,
    )


async def _work(pool: Pool) -> WorkFacts:
    shards = await reads.examine_shards(pool)
    due = await reads.examine_due_runs(pool)
    keys = await reads.list_expiring_keys(pool)
    return WorkFacts(
        shards=shards.shards,
        shards_without_owner=shards.without_owner,
        watermark_age_s=shards.watermark_age_s,
        due_runs=sum(kind.runs for kind in due),
        counted_up_to=reads.COUNTED,
        oldest_due_s=max((kind.oldest_s for kind in due), default=0.0),
        unserved=[Unserved(queue=kind.queue, task=kind.task, runs=kind.runs) for kind in due if not kind.served],
        dead_letters=await reads.count_dead(pool),
        keys_expired=[key.prefix for key in keys if key.expired],
        keys_expiring=[key.prefix for key in keys if not key.expired],
    )


def _node(node: Node) -> NodeFacts:
    grants, p95_s = lateness(node.metrics_text().decode())
    return NodeFacts(
        address=node.address,
        version=node.version,
        tz_version=tz_version(),
        own_time=to_datetime(own_time_us()),
        database_time=to_datetime(node.clock.now_us()),
        grants=grants,
        lateness_p95_s=p95_s,
    )


def lateness(metrics: str) -> tuple[int, float | None]:
    """How many, and the least bound that 95 % of them stayed within; None if that is beyond all bounds or unknown."""
    buckets = [(float(bound), float(count)) for bound, count in _BUCKET.findall(metrics)]
    total = buckets[-1][1] if buckets else 0.0
    within = next((bound for bound, count in buckets if total and count >= 0.95 * total), None)
    return int(total), within if within != float("inf") else None


def _disk(data_directory: str | None) -> tuple[int | None, int | None]:
    """The folder itself is the database's alone; one above it is on the same disk and may be looked at."""
    if data_directory is None:
        return None, None
    path = Path(data_directory)
    for folder in (path, *path.parents[:2]):
        try:
            usage = shutil.disk_usage(folder)
        except OSError:
            continue
        return usage.free, usage.total
    return None, None
