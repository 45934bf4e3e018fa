"""Reads against a real database: the order of pages, and which of several rows speaks for a run."""

from noonmark.model.ids import JobId, job_id_of, shard_for, shard_of
from noonmark.model.reason import Outcome, Reason
from noonmark.store.connect import Pool
from noonmark.store.reads.jobs import JobFilter, fetch_job_ids, fetch_jobs, list_jobs
from noonmark.store.reads.runs import fetch_run
from noonmark.store.statement import statement
from tests.conftest import SHARDS

_JOB_COLUMNS = (
    "(shard, job_id, tenant_id, name, version, policy_id, priority, catch_up, created_at, updated_at, planned_from)"
)
JOB = job_id_of(1, 3)
T0 = 1_700_000_000_000_000


async def insert_job(pool: Pool, job_id: JobId, name: str, tenant_id: int = 1) -> None:
    shard = shard_of(job_id)
    await pool.execute(
        f"INSERT INTO noonmark.job {_JOB_COLUMNS} VALUES ($1, $2, $3, $4, 1, 1, 5, 1, now(), now(), now())",
        shard, job_id, tenant_id, name,
    )  # fmt: skip
    await pool.execute("INSERT INTO noonmark.job_version VALUES ($1, $2, 1, now(), '{}')", shard, job_id)


async def insert_run(pool: Pool, nominal_us: int) -> None:
    await pool.execute(
        "INSERT INTO noonmark.run"
        " (shard, nominal_at, job_id, due_at, tenant_id, version, policy_id, priority, attempt, reason)"
        " VALUES ($1, $2, $3, $2, 1, 1, 1, 5, 1, $4)",
        shard_of(JOB), nominal_us, JOB, Reason.REDRIVEN,
    )  # fmt: skip


async def insert_end(pool: Pool, nominal_us: int, attempt: int, outcome: Outcome) -> None:
    await pool.execute(
        "INSERT INTO noonmark.attempt"
        " VALUES ($1, $2, $3, $4, now(), 1, 1, NULL, $3, NULL, NULL, $5, $6, true, NULL, NULL)",
        shard_of(JOB), JOB, nominal_us, attempt, outcome, Reason.FAILED,
    )  # fmt: skip


async def insert_dead(pool: Pool, job_id: JobId, nominal_us: int, tenant_id: int = 1) -> None:
    await pool.execute(
        "INSERT INTO noonmark.dead VALUES ($1, $2, $3, now(), $4, 1, 1, 5, 4, 4, 13, NULL, 'boom')",
        shard_of(job_id), job_id, nominal_us, tenant_id,
    )  # fmt: skip


async def test_jobs_are_paged_by_name_whatever_their_shard(pool: Pool) -> None:
    names = [f"{kind}.{n:03}" for kind in ("A", "a", "b-c", "b.c") for n in range(12)]
    ids = {name: job_id_of(n, shard_for(1, name, SHARDS)) for n, name in enumerate(reversed(names))}
    for name, job_id in ids.items():
        await insert_job(pool, job_id, name)
    await insert_job(pool, job_id_of(999, shard_for(2, "b.c.000", SHARDS)), "b.c.000", tenant_id=2)
    for prefix in ("", "a", "b", "b.c", "b.c.003", "zz"):
        wanted = [ids[name] for name in sorted(names) if name.startswith(prefix)]
        found: list[JobId] = []
        after = ""
        while page := await list_jobs(pool, 1, SHARDS, JobFilter(prefix), after=after, limit=5):
            found += [record.job_id for record in page]
            after = next(name for name, job_id in ids.items() if job_id == found[-1])
        assert found == wanted
    known = await fetch_job_ids(pool, 1, [(shard_for(1, name, SHARDS), name) for name in [*names, "nobody"]])
    assert {name: job.job_id for name, job in known.items()} == ids
    assert (await fetch_jobs(pool, 2, list(ids.values()))) == {}


async def test_a_page_of_names_reads_the_index_only_as_far_as_it_must(pool: Pool) -> None:
    await pool.execute(
        f"INSERT INTO noonmark.job {_JOB_COLUMNS}"
        " SELECT n % $1, n * 4096 + n % $1, 1, 'n' || n, 1, 1, 5, 1, now(), now(), now()"
        " FROM generate_series(1, 20000) n",
        SHARDS,
    )
    await pool.execute("VACUUM ANALYZE noonmark.job")
    plan = await pool.fetch("EXPLAIN " + statement("list_jobs"), 1, SHARDS, "", "", "\x7f", 10)
    text = "\n".join(row[0] for row in plan)
    assert "Index Only Scan using job_shard_tenant_id_name_key" in text
    assert "Seq Scan on job" not in text


async def test_a_live_run_speaks_before_its_earlier_end_and_that_before_the_dead_letter(pool: Pool) -> None:
    key = (JOB, T0)
    assert await fetch_run(pool, 1, key) is None
    await insert_dead(pool, JOB, T0)
    only_dead = await fetch_run(pool, 1, key)
    assert only_dead is not None
    assert (only_dead.state, only_dead.attempt, only_dead.error) == ("dead", 4, "boom")
    await insert_end(pool, T0, 1, Outcome.FAILED)
    await insert_end(pool, T0, 2, Outcome.SUCCEEDED)
    ended = await fetch_run(pool, 1, key)
    assert ended is not None
    assert (ended.state, ended.attempt) == ("succeeded", 2)
    await insert_run(pool, T0)
    live = await fetch_run(pool, 1, key)
    assert live is not None
    assert (live.state, live.reason) == ("waiting", Reason.REDRIVEN)
    assert await fetch_run(pool, 2, key) is None
