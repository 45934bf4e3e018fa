"""Judges the facts: for each side of the installation ok, warn or fail, the figure, and the remedy."""

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from noonmark.cli.one_node import by_node
from noonmark.wire.doctor import DatabaseFacts, Examination, NodeFacts, TableFacts, WorkFacts
from noonmark.wire.resources import NodeInfo, WorkerInfo

Grade = Literal["ok", "warn", "fail"]

OLDEST_POSTGRES = 140_000
CLOCK_WARN_S, CLOCK_FAIL_S = 1.0, 30.0
WATERMARK_WARN_S, WATERMARK_FAIL_S = 10.0, 60.0
LATENESS_WARN_S, LATENESS_FAIL_S = 1.0, 10.0
DUE_WARN_S, DUE_FAIL_S = 60.0, 600.0
TRANSACTION_WARN_S, TRANSACTION_FAIL_S = 300.0, 3600.0
BLOAT_ROWS = 100_000
"""Fewer dead rows than this do not matter."""
DISK_WARN, DISK_FAIL = 0.15, 0.05
CONNECTIONS_WARN = 0.8
CONNECTIONS_OF_A_NODE, CONNECTIONS_OF_A_PROCESS = 6, 4
"""At the most: of a node that is one process, and of each process of a node that is several."""
SILENT_S = 60.0


class Check(msgspec.Struct, frozen=True):
    name: str
    grade: Grade
    figure: str
    advice: str = ""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """All that was learned, here and there."""

    examination: Examination
    nodes: Sequence[NodeInfo]
    workers: Sequence[WorkerInfo]
    others: Sequence[NodeFacts]
    """The facts from the other nodes."""
    unreached: Sequence[str]
    """Addresses of nodes that did not answer us."""
    client_version: str
    client_tz_version: str
    client_offset_s: float
    """Our clock less the database's."""
    client_error_s: float


def worst(checks: Sequence[Check]) -> Grade:
    grades = {check.grade for check in checks}
    return "fail" if "fail" in grades else "warn" if "warn" in grades else "ok"


def judge(facts: Facts) -> list[Check]:
    database, work = facts.examination.database, facts.examination.work
    every_node = [facts.examination.node, *facts.others]
    return [
        *_server(database, facts.nodes),
        *_clocks(facts, every_node),
        *_ownership(facts, work),
        _lateness(every_node),
        *_backlog(facts, work),
        *_bloat(database),
        _disk(database),
        *_versions(facts, every_node),
        _keys(work),
    ]


def _server(database: DatabaseFacts, processes: Sequence[NodeInfo]) -> Iterator[Check]:
    if database.version_number < OLDEST_POSTGRES:
        yield Check("database", "fail", f"PostgreSQL {database.version}", "use PostgreSQL 14 or newer")
    else:
        yield Check("database", "ok", f"PostgreSQL {database.version}, {_size(database.size_bytes)}")
    unsafe = [name for name in ("fsync", "full_page_writes") if database.settings.get(name) == "off"]
    if unsafe:
        advice = "turn them on, unless losing everything in a crash is fine"
        yield Check("durability", "fail", " and ".join(f"{name} is off" for name in unsafe), advice)
    else:
        yield Check("durability", "ok", "fsync and full_page_writes are on")
    yield _connections(database, processes)


def _connections(database: DatabaseFacts, processes: Sequence[NodeInfo]) -> Check:
    """Those that are taken, and those that the processes of all nodes will have taken when they are busy."""
    bound = max(database.max_connections, 1) * CONNECTIONS_WARN
    taken = f"{database.connections} of {database.max_connections}"
    coming = sum(CONNECTIONS_OF_A_PROCESS if one.process else CONNECTIONS_OF_A_NODE for one in processes)
    if database.connections > bound:
        return Check("connections", "warn", taken, "raise max_connections, or find who holds so many")
    if coming > bound:
        figure = f"{taken}; busy, {len(processes)} processes of nodes take up to {coming}"
        return Check("connections", "warn", figure, "raise max_connections, or start nodes with fewer --processes")
    return Check("connections", "ok", taken)


def _clocks(facts: Facts, nodes: list[NodeFacts]) -> Iterator[Check]:
    offset_s = max(abs(facts.client_offset_s) - facts.client_error_s, 0.0)
    advice = "set this machine's clock (NTP); times that you write without an offset may surprise"
    yield _graded("clock here", offset_s, CLOCK_WARN_S, CLOCK_FAIL_S, f"{offset_s:.2f} s from the database's", advice)
    apart = {node.address: abs((node.own_time - node.database_time).total_seconds()) for node in nodes}
    address, furthest_s = max(apart.items(), key=lambda pair: pair[1])
    figure = f"at most {furthest_s:.2f} s from the database's"
    yield _graded(
        "clock of nodes",
        furthest_s,
        CLOCK_WARN_S,
        CLOCK_FAIL_S,
        figure,
        f"set the clock of {address}; its logs are off",
    )


def _ownership(facts: Facts, work: WorkFacts) -> Iterator[Check]:
    nodes = by_node(facts.nodes)
    silent = [node.address for node in nodes if node.state != "alive"]
    unreached = sorted({*silent, *facts.unreached})
    alive = f"{len(nodes)} alive"
    if len(facts.nodes) > len(nodes):
        alive += f", with {len(facts.nodes)} processes"
    yield Check(
        "nodes",
        "warn" if unreached else "ok",
        f"no answer from {', '.join(unreached)}" if unreached else alive,
        "look at their logs; their shards move to others by themselves" if unreached else "",
    )
    without = work.shards_without_owner
    yield Check(
        "ownership",
        "fail" if without else "ok",
        f"{without} of {work.shards} shards have no owner" if without else f"all {work.shards} shards have an owner",
        "is any node running? If it lasts longer than half a minute, look at the nodes' logs" if without else "",
    )
    yield _graded(
        "watermark",
        work.watermark_age_s,
        WATERMARK_WARN_S,
        WATERMARK_FAIL_S,
        f"runs are made up to {abs(work.watermark_age_s):.1f} s {'ahead' if work.watermark_age_s <= 0 else 'ago'}",
        "the nodes do not keep up, or the database is slow: look at noonmark_commit_seconds",
    )


def _lateness(nodes: list[NodeFacts]) -> Check:
    counted = [node for node in nodes if node.grants]
    if not counted:
        return Check("lateness", "ok", "no run was started yet")
    if any(node.lateness_p95_s is None for node in counted):
        return Check("lateness", "fail", "beyond all bounds", "add workers, or raise their --concurrency")
    p95_s = max(node.lateness_p95_s or 0.0 for node in counted)
    figure = f"95 % of {sum(node.grants for node in counted)} started within {p95_s:g} s"
    return _graded(
        "lateness", p95_s, LATENESS_WARN_S, LATENESS_FAIL_S, figure, "add workers, or raise their --concurrency"
    )


def _backlog(facts: Facts, work: WorkFacts) -> Iterator[Check]:
    more = " or more" if work.due_runs >= work.counted_up_to else ""
    figure = f"{work.due_runs}{more} runs are due" + (f", for up to {work.oldest_due_s:.0f} s" if work.due_runs else "")
    yield _graded("backlog", work.oldest_due_s, DUE_WARN_S, DUE_FAIL_S, figure, "add workers for what waits longest")
    live = [
        worker
        for worker in facts.workers
        if (facts.examination.database.now - worker.seen_at).total_seconds() < SILENT_S
    ]
    yield Check(
        "workers",
        "ok" if live else "warn",
        f"{len(live)} seen lately",
        "" if live else "start one: noonmark worker MODULE:APP",
    )
    if work.unserved:
        named = ", ".join(f"{kind.task} in queue {kind.queue} ({kind.runs})" for kind in work.unserved[:5])
        yield Check("unserved", "fail", f"no worker serves: {named}", "start a worker with these tasks and queues")
    else:
        yield Check("unserved", "ok", "workers serve all that is due")
    dead = work.dead_letters
    yield Check(
        "dead letters",
        "warn" if dead else "ok",
        f"{dead}{' or more' if dead >= work.counted_up_to else ''}",
        "noonmark dead list, then redrive or discard them" if dead else "",
    )


def _bloat(database: DatabaseFacts) -> Iterator[Check]:
    autovacuum = database.settings.get("autovacuum") != "off"
    worst_table: TableFacts | None = max(database.tables, key=lambda table: table.dead_rows, default=None)
    dead = 0 if worst_table is None else worst_table.dead_rows
    bloated = worst_table is not None and dead > max(BLOAT_ROWS, worst_table.live_rows)
    if not autovacuum:
        yield Check("vacuum", "fail", "autovacuum is off", "turn it on: queue tables grow without bound")
    elif bloated and worst_table is not None:
        figure = f"{worst_table.name} has {dead} dead rows for {worst_table.live_rows} live ones"
        yield Check("vacuum", "warn", figure, f"VACUUM noonmark.{worst_table.name}; look for an old transaction")
    else:
        yield Check("vacuum", "ok", f"at most {dead} dead rows in a table")
    oldest_s = database.oldest_transaction_s
    yield _graded(
        "transactions",
        oldest_s,
        TRANSACTION_WARN_S,
        TRANSACTION_FAIL_S,
        f"the oldest has been open for {oldest_s:.0f} s",
        "end it (pg_stat_activity): nothing deleted since it began can be reclaimed",
    )


def _disk(database: DatabaseFacts) -> Check:
    free, whole = database.disk_free_bytes, database.disk_bytes
    if free is None or not whole:
        return Check(
            "disk", "ok", f"the database holds {_size(database.size_bytes)}; its disk cannot be seen from here"
        )
    share = free / whole
    figure = f"{_size(free)} of {_size(whole)} are free"
    if share < DISK_WARN:
        return Check("disk", "fail" if share < DISK_FAIL else "warn", figure, "make room before the database stops")
    return Check("disk", "ok", figure)


def _versions(facts: Facts, nodes: list[NodeFacts]) -> Iterator[Check]:
    versions = sorted({facts.client_version, *(node.version for node in facts.nodes)})
    skew = len(versions) > 1
    yield Check(
        "versions",
        "warn" if skew else "ok",
        f"{', '.join(versions)}{f'; this command is {facts.client_version}' if skew else ''}",
        "finish the upgrade" if skew else "",
    )
    zones = sorted({facts.client_tz_version, *(node.tz_version for node in nodes)})
    differ = len(zones) > 1
    yield Check(
        "time zones",
        "warn" if differ else "ok",
        f"{', '.join(zones)}{f'; here {facts.client_tz_version}' if differ else ''}",
        "bring the package tzdata to one version everywhere" if differ else "",
    )


def _keys(work: WorkFacts) -> Check:
    if work.keys_expired:
        return Check(
            "keys", "warn", f"expired lately: {', '.join(work.keys_expired[:5])}", "noonmark key rotate, or revoke it"
        )
    if work.keys_expiring:
        return Check(
            "keys", "warn", f"expire within two weeks: {', '.join(work.keys_expiring[:5])}", "noonmark key rotate"
        )
    return Check("keys", "ok", "none expires soon")


def _graded(name: str, value: float, warn: float, fail: float, figure: str, advice: str) -> Check:
    grade: Grade = "fail" if value > fail else "warn" if value > warn else "ok"
    return Check(name, grade, figure, "" if grade == "ok" else advice)


def _size(count: int) -> str:
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
