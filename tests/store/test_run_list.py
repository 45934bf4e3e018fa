"""Lists of runs and dead letters against a real database: order, pages that stay right, bounds, and filters."""

from collections.abc import Sequence
from typing import Any

import pytest

from noonmark.clock import NEVER_US
from noonmark.model.ids import JobId, job_id_of, shard_of
from noonmark.model.reason import Outcome, Reason
from noonmark.store.connect import Pool
from noonmark.store.reads import dead as dead_reads
from noonmark.store.reads import run_list
from noonmark.store.reads.dead import DeadFilter, find_dead, list_dead
from noonmark.store.reads.run_list import START, RunFilter, list_runs
from tests.conftest import SHARDS

T0 = 1_700_000_000_000_000
ANY = RunFilter()
JOBS = [job_id_of(n, shard) for n, shard in ((1, 3), (2, 3), (3, 5), (4, 0))]


async def live(pool: Pool, job_id: int, nominal_us: int, tenant_id: int = 1, **more: Any) -> None:
    columns = {"attempt": 0, "reason": Reason.TRIGGERED, "error": None, "parked": False, "due_at": nominal_us, **more}
    names = ", ".join(columns)
    places = ", ".join(f"${n}" for n in range(5, 5 + len(columns)))
    await pool.execute(
        f"INSERT INTO noonmark.run (shard, nominal_at, job_id, tenant_id, version, policy_id, priority, {names})"
        f" VALUES ($1, $2, $3, $4, 1, 1, 5, {places})",
        shard_of(job_id), nominal_us, job_id, tenant_id, *columns.values(),
    )  # fmt: skip


async def ended(
    pool: Pool, job_id: int, nominal_us: int, outcome: Outcome = Outcome.SUCCEEDED, *, attempt: int = 1,
    tenant_id: int = 1, error: str | None = None, reason: Reason = Reason.SUCCEEDED, ago_s: int = 0,
) -> None:  # fmt: skip
    await pool.execute(
        "INSERT INTO noonmark.attempt VALUES"
        " ($1, $2, $3, $4, now() - $9 * interval '1 s', $5, 1, 7, $3, $3, $3, $6, $7, true, $8, NULL)",
        shard_of(job_id), job_id, nominal_us, attempt, tenant_id, outcome, reason, error, ago_s,
    )  # fmt: skip


async def places(pool: Pool, wanted: RunFilter = ANY, limit: int = 100) -> list[tuple[int, int]]:
    """Of all pages, each read from where the one before ended."""
    found: list[tuple[int, int]] = []
    before: tuple[int, int] | None = START
    while before is not None:
        page = await list_runs(pool, 1, SHARDS, wanted, before=before, limit=limit)
        found += [(key[1] - T0, key[0]) for key, _ in page.runs]
        before = page.next
    return found


async def test_live_and_ended_runs_of_all_jobs_stand_in_one_order(pool: Pool) -> None:
    wanted = []
    for n in range(40):
        job_id = JOBS[n % 4]
        await (live if n % 3 else ended)(pool, job_id, T0 + n // 2)
        wanted.append((n // 2, job_id))
        await (ended if n % 3 else live)(pool, job_id_of(9, 3), T0 + n, tenant_id=2)
    wanted = sorted(set(wanted), reverse=True)
    for limit in (1, 3, 7, 100):
        assert await places(pool, limit=limit) == wanted
    for job_id in JOBS:
        mine = [place for place in wanted if place[1] == job_id]
        assert await places(pool, RunFilter(job_id=job_id), limit=2) == mine
    in_range = RunFilter(from_us=T0 + 3, to_us=T0 + 9)
    assert await places(pool, in_range, limit=4) == [place for place in wanted if 3 <= place[0] < 9]


async def test_a_run_that_ends_dies_or_comes_back_between_pages_is_shown_once(pool: Pool) -> None:
    for n in range(6):
        await live(pool, JOBS[0], T0 + n)
    first = await list_runs(pool, 1, SHARDS, RunFilter(), before=START, limit=3)
    assert [key[1] - T0 for key, _ in first.runs] == [5, 4, 3]
    await pool.execute("DELETE FROM noonmark.run WHERE nominal_at = ANY ($1)", [T0 + 4, T0 + 1])
    for n in (4, 1):
        await ended(pool, JOBS[0], T0 + n, Outcome.FAILED, reason=Reason.ATTEMPTS_EXHAUSTED)
    await live(pool, JOBS[0], T0 + 7)
    assert first.next is not None
    rest = await list_runs(pool, 1, SHARDS, RunFilter(), before=first.next, limit=10)
    assert [(key[1] - T0, record.state) for key, record in rest.runs] == [(2, "waiting"), (1, "dead"), (0, "waiting")]
    assert rest.next is None


async def test_a_redriven_run_is_listed_once_as_it_stands_now(pool: Pool) -> None:
    for n in range(4):
        await ended(pool, JOBS[0], T0 + n, Outcome.FAILED)
    await ended(pool, JOBS[0], T0 + 1, Outcome.SUCCEEDED, attempt=2)
    await live(pool, JOBS[0], T0 + 2, attempt=1, reason=Reason.REDRIVEN)
    for job_id in (None, JOBS[0]):
        listed = await list_runs(pool, 1, SHARDS, RunFilter(job_id=job_id), before=START, limit=10)
        assert [(key[1] - T0, record.state) for key, record in listed.runs] == [
            (3, "dead"), (2, "waiting"), (1, "succeeded"), (0, "dead"),
        ]  # fmt: skip
        dead = RunFilter(job_id=job_id, states=["dead"])
        assert [place[0] for place in await places(pool, dead)] == [3, 0]


async def test_filters_choose_by_state_reason_error_end_and_label(pool: Pool) -> None:
    await pool.execute(
        "INSERT INTO noonmark.job (shard, job_id, tenant_id, name, version, policy_id, priority, catch_up, created_at,"
        " updated_at, planned_from, labels) VALUES ($1, $2, 1, 'labelled', 1, 1, 5, 1, now(), now(), now(), $3)",
        shard_of(JOBS[2]), JOBS[2], ["team", "team:billing"],
    )  # fmt: skip
    far_us = NEVER_US // 2
    await live(pool, JOBS[0], T0)
    await live(pool, JOBS[0], T0 + 1, attempt=1, due_at=far_us, reason=Reason.FAILED, error="OSError: No Luck")
    await live(pool, JOBS[0], T0 + 2, parked=True)
    await live(pool, JOBS[2], T0 + 3)
    await pool.execute(
        "INSERT INTO noonmark.grant VALUES ($1, 1, 7, now(), $2, $3, $4)",
        shard_of(JOBS[2]), [JOBS[2]], [T0 + 3], [1],
    )  # fmt: skip
    await ended(pool, JOBS[1], T0 + 4, Outcome.FAILED, reason=Reason.ATTEMPTS_EXHAUSTED, error="no luck", ago_s=7200)
    await ended(pool, JOBS[2], T0 + 5, Outcome.CANCELLED, reason=Reason.CANCELLED)
    hour_ago_us = await pool.fetchval("SELECT now() - interval '1 hour'")
    expected: dict[RunFilter, Sequence[int]] = {
        RunFilter(): [5, 4, 3, 2, 1, 0],
        RunFilter(states=("waiting",)): [0],
        RunFilter(states=("retrying",)): [1],
        RunFilter(states=("parked",)): [2],
        RunFilter(states=("running",)): [3],
        RunFilter(states=("running", "waiting")): [3, 0],
        RunFilter(states=("dead", "running")): [4, 3],
        RunFilter(error="NO luck"): [4, 1],
        RunFilter(error="luck", states=("dead",)): [4],
        RunFilter(ended_from_us=hour_ago_us): [5],
        RunFilter(ended_to_us=hour_ago_us): [4],
    }
    for wanted, found in expected.items():
        assert [place[0] for place in await places(pool, wanted, limit=2)] == found, wanted
    assert [place[0] for place in await places(pool, RunFilter(reasons=[Reason.FAILED, Reason.CANCELLED]))] == [5, 1]
    assert [place[0] for place in await places(pool, RunFilter(labels=["team"]))] == [5, 3]
    assert [place[0] for place in await places(pool, RunFilter(labels=["team:billing"], states=("running",)))] == [3]
    assert await places(pool, RunFilter(labels=["team:ops"])) == []
    page = await list_runs(pool, 1, SHARDS, RunFilter(states=("running",)), before=START, limit=9)
    assert (page.runs[0].record.state, page.runs[0].record.job_name) == ("running", "labelled")


async def test_a_page_reads_a_bounded_number_of_rows_and_says_how_far_it_came(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ties at one instant are the hard case: at noon a million runs have the same nominal time."""
    monkeypatch.setattr(run_list, "_ENDS_READ", 10)
    monkeypatch.setattr(run_list, "_LIVE_READ", 0)
    monkeypatch.setattr(run_list, "_MIN_OF_SHARD", 4)
    many = [job_id_of(n, n % SHARDS) for n in range(1, 120)]
    for number, job_id in enumerate(many):
        await (live if number % 2 else ended)(pool, job_id, T0)
    await live(pool, many[0], T0 - 9, error="the needle")
    await ended(pool, many[1], T0 - 5, error="the needle")
    needle = RunFilter(error="needle")
    page = await list_runs(pool, 1, SHARDS, needle, before=START, limit=5)
    assert (page.runs, page.reach_us) == ([], T0)
    assert page.next is not None
    assert await places(pool, needle, limit=5) == [(-5, many[1]), (-9, many[0])]
    assert await places(pool, limit=7) == [(0, job_id) for job_id in reversed(many)] + [(-5, many[1]), (-9, many[0])]


async def test_dead_letters_come_latest_death_first_in_pages_with_filters(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(12):
        for tenant_id, job_id in ((1, JOBS[n % 4]), (2, job_id_of(9, 3))):
            await pool.execute(
                "INSERT INTO noonmark.dead VALUES ($1, $2, $3, $4, $5, 1, 1, 5, 4, 4, $6, NULL, $7)",
                shard_of(job_id), job_id, T0 + n * 10, T0 + n // 2, tenant_id,
                Reason.TIMED_OUT if n % 2 else Reason.ATTEMPTS_EXHAUSTED, f"Boom {n}",
            )  # fmt: skip

    async def found(wanted: DeadFilter, limit: int) -> list[tuple[int, JobId]]:
        rows: list[tuple[int, JobId]] = []
        before: dead_reads.DeadPlace | None = dead_reads.START
        while before is not None:
            page = await list_dead(pool, 1, wanted, before=before, limit=limit)
            rows += [(row.died_us - T0, row.job_id) for row in page.dead]
            before = page.next
        return rows

    wanted = sorted([(n // 2, JOBS[n % 4]) for n in range(12)], reverse=True)
    for read in (10_000, 3):
        monkeypatch.setattr(dead_reads, "_ROWS_READ", read)
        for limit in (1, 5, 100):
            assert await found(DeadFilter(), limit) == wanted
            assert await found(DeadFilter(job_id=JOBS[1]), limit) == [p for p in wanted if p[1] == JOBS[1]]
            assert await found(DeadFilter(from_us=T0 + 2, to_us=T0 + 4), limit) == [p for p in wanted if 2 <= p[0] < 4]
            assert await found(DeadFilter(error="bOOM 11"), limit) == [(5, JOBS[3])]
            assert len(await found(DeadFilter(reasons=[Reason.TIMED_OUT]), limit)) == 6
    keys, more = await find_dead(pool, 1, DeadFilter(), 5)
    assert ([key[0] for key in keys], more) == ([place[1] for place in wanted[:5]], True)
    assert (await find_dead(pool, 1, DeadFilter(job_id=JOBS[0]), 3))[1] is False
