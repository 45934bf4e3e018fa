"""`noonmark doctor`: what it says of a healthy installation, and of each thing that can be wrong with one."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from noonmark.api.routes.doctor import lateness
from noonmark.cli.doctor.checks import Facts, judge, worst
from noonmark.wire.doctor import DatabaseFacts, Examination, NodeFacts, TableFacts, Unserved, WorkFacts
from noonmark.wire.resources import NodeInfo, WorkerInfo

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
DATABASE = DatabaseFacts(
    now=NOON, version="18.1", version_number=180001, migration=3,
    settings={"autovacuum": "on", "fsync": "on", "full_page_writes": "on"}, connections=10, max_connections=100,
    size_bytes=10**9, oldest_transaction_s=0.1, disk_free_bytes=50 * 10**9, disk_bytes=100 * 10**9,
    tables=[TableFacts(name="run", live_rows=10, dead_rows=50_000, size_bytes=1, vacuumed_at=NOON)],
)  # fmt: skip
WORK = WorkFacts(
    shards=8, shards_without_owner=0, watermark_age_s=0.2, due_runs=0, counted_up_to=100_000, oldest_due_s=0.0,
    unserved=[], dead_letters=0, keys_expired=[], keys_expiring=[],
)  # fmt: skip
NODE = NodeFacts(
    address="http://a", version="1", tz_version="2026a", own_time=NOON, database_time=NOON, grants=100,
    lateness_p95_s=0.05,
)  # fmt: skip
FACTS = Facts(
    examination=Examination(database=DATABASE, work=WORK, node=NODE),
    nodes=[NodeInfo(id=1, address="http://a", state="alive", shards=8, version="1", started_at=NOON)],
    workers=[WorkerInfo(id=1, name="w", queues=["q"], tasks=["t"], concurrency=1, started_at=NOON, seen_at=NOON)],
    others=[], unreached=[], client_version="1", client_tz_version="2026a", client_offset_s=0.01, client_error_s=0.02,
)  # fmt: skip
replace = msgspec.structs.replace


def of(part: str, **changes: Any) -> Facts:
    if part == "facts":
        return replace(FACTS, **changes)
    changed = replace(getattr(FACTS.examination, part), **changes)
    return replace(FACTS, examination=replace(FACTS.examination, **{part: changed}))


def processes(count: int) -> list[NodeInfo]:
    """Of one node."""
    return [
        NodeInfo(
            id=n, address=f"http://node:{n}", state="alive", shards=8, version="1", started_at=NOON, node="http://node",
            process=n,
        )
        for n in range(1, count + 1)
    ]  # fmt: skip


def test_a_healthy_installation():
    checks = judge(FACTS)
    assert worst(checks) == "ok", [check for check in checks if check.grade != "ok"]
    assert all(check.advice == "" for check in checks)


BLOATED = TableFacts(name="run", live_rows=1000, dead_rows=500_000, size_bytes=1, vacuumed_at=None)


@pytest.mark.parametrize(
    ("facts", "name", "grade", "said"),
    [
        (of("database", version_number=130000, version="13.0"), "database", "fail", "13.0"),
        (of("database", settings={"fsync": "off"}), "durability", "fail", "fsync is off"),
        (of("database", connections=95), "connections", "warn", "95 of 100"),
        (of("database", settings={"autovacuum": "off"}), "vacuum", "fail", "autovacuum is off"),
        (of("database", tables=[BLOATED]), "vacuum", "warn", "run has 500000 dead rows"),
        (of("database", oldest_transaction_s=400.0), "transactions", "warn", "400 s"),
        (of("database", oldest_transaction_s=4000.0), "transactions", "fail", "4000 s"),
        (of("database", disk_free_bytes=10**10), "disk", "warn", "10 GB of 100 GB"),
        (of("database", disk_free_bytes=10**9), "disk", "fail", "1 GB of 100 GB"),
        (of("database", disk_free_bytes=None), "disk", "ok", "cannot be seen"),
        (of("work", shards_without_owner=3), "ownership", "fail", "3 of 8"),
        (of("work", watermark_age_s=20.0), "watermark", "warn", "20.0 s"),
        (of("work", oldest_due_s=700.0, due_runs=5), "backlog", "fail", "5 runs are due"),
        (of("work", unserved=[Unserved(queue="q", task="t", runs=7)]), "unserved", "fail", "t in queue q (7)"),
        (of("work", dead_letters=2), "dead letters", "warn", "2"),
        (of("work", keys_expired=["nmk_a"]), "keys", "warn", "expired lately: nmk_a"),
        (of("work", keys_expiring=["nmk_b"]), "keys", "warn", "within two weeks: nmk_b"),
        (of("node", lateness_p95_s=5.0), "lateness", "warn", "within 5 s"),
        (of("node", lateness_p95_s=None), "lateness", "fail", "beyond"),
        (of("node", grants=0, lateness_p95_s=None), "lateness", "ok", "no run"),
        (of("node", own_time=NOON + timedelta(minutes=1)), "clock of nodes", "fail", "60.00 s"),
        (of("node", tz_version="2025b"), "time zones", "warn", "2025b, 2026a"),
        (of("facts", client_offset_s=-2.0), "clock here", "warn", "1.98 s"),
        (of("facts", client_version="2"), "versions", "warn", "1, 2"),
        (of("facts", unreached=["http://b"]), "nodes", "warn", "http://b"),
        (of("facts", workers=[]), "workers", "warn", "0 seen lately"),
        (of("facts", nodes=processes(2)), "nodes", "ok", "1 alive, with 2 processes"),
        (of("facts", nodes=[replace(processes(1)[0], state="silent"), *processes(1)]), "nodes", "warn", "http://node"),
        (of("facts", nodes=processes(20)), "connections", "ok", "10 of 100"),
        (of("facts", nodes=processes(21)), "connections", "warn", "21 processes of nodes take up to 84"),
    ],
)
def test_what_is_wrong_is_told_with_its_figure_and_what_to_do(facts, name, grade, said):
    [check] = [check for check in judge(facts) if check.name == name]
    assert check.grade == grade
    assert said in check.figure
    assert bool(check.advice) == (grade != "ok")
    assert worst(judge(facts)) in (grade, "fail")


def test_the_95th_percentile_is_the_bound_that_holds_it():
    head = "noonmark_lateness_seconds_bucket"
    text = f'{head}{{le="0.1"}} 90.0\n{head}{{le="1.0"}} 96.0\n{head}{{le="+Inf"}} 100.0\n'
    assert lateness(text) == (100, 1.0)
    assert lateness(text.replace("96.0", "94.0")) == (100, None)
    assert lateness("") == (0, None)


async def test_against_a_server(served):
    told = await served.json("doctor", exit_code=(await graded(served)))
    checks = {check["name"]: check for check in told["checks"]}
    assert checks["ownership"]["figure"] == "all 8 shards have an owner"
    assert checks["durability"]["grade"] == "fail"  # the database of the tests does not wait for its disk
    assert checks["workers"]["grade"] == "ok"
    assert checks["clock here"]["grade"] == "ok"
    assert "PostgreSQL 18" in checks["database"]["figure"]
    assert told["grade"] == "fail"


async def graded(served) -> int:
    shown = await served("doctor", exit_code=11)
    assert "what to do" in shown.stdout.lower()
    return 11


async def test_runs_that_nobody_serves_are_found(served):
    await served("job", "create", "lonely", "--task", "greet", "--queue", f"q-{served.tenant}", "--now")
    told = await served.json("doctor", exit_code=11)
    [unserved] = [check for check in told["checks"] if check["name"] == "unserved"]
    assert f"greet in queue q-{served.tenant} (1)" in unserved["figure"]


def test_without_a_server_it_looks_at_the_database(noonmark, postgres):
    nobody = ("doctor", "--server", "http://127.0.0.1:9", "-o", "json")
    told = noonmark(*nobody, "--database-url", postgres.url)
    assert told.exit_code == 11
    assert [(check["name"], check["grade"]) for check in msgspec.json.decode(told.stdout)["checks"]] == [
        ("server", "fail"),
        ("database", "ok"),
    ]
    assert [check["name"] for check in msgspec.json.decode(noonmark(*nobody).stdout)["checks"]] == ["server"]
