"""The real SQL beside the model of the simulation: what one does, the other must do, refusals included."""

from typing import Any

from noonmark.model.ids import JobId, PolicyId, TenantId, shard_of
from noonmark.model.job_row import JobRow
from noonmark.model.reason import Outcome, Reason
from noonmark.model.run import RunRow
from noonmark.node.commands.ends import record_end
from noonmark.node.commands.fixed_delay import resumed_run
from noonmark.planning.occurrences import passed_runs
from noonmark.planning.runs import make_run
from noonmark.schedule import Timing, recurrence
from noonmark.shard.backlog import PageRequest
from noonmark.shard.outbox import Batch, FixedDelayEnd
from noonmark.shard.timetable import Timetable
from noonmark.store import jobs, ownership, pages
from noonmark.store.commit import commit_batch, follow_fixed_delays, insert_runs
from noonmark.store.connect import Connection
from noonmark.store.fence import Fenced, fenced
from noonmark.store.job_runs import delete_planned_runs, load_waiting_runs, park_runs, unpark_runs
from noonmark.store.skips import set_job_skips
from noonmark.store.tick import load_missed_ends, tick
from tests.simulation.store import GRACE_US, NodeRow, Refused, Store, StoredJob

SHARDS = 8
NEVER_US = 253_402_300_799_000_000


class Silent:
    """The simulation's invariants and oracle, which are judged there and not here."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_: None


async def both(model: Any, sql: Any) -> Any:
    """Does a thing in the model and in PostgreSQL; answers both results, or None if both refused."""
    try:
        expected, refused = model(), False
    except Refused:
        expected, refused = None, True
    try:
        found = await sql
    except Fenced:
        assert refused, "PostgreSQL refused what the model allows"
        return None
    assert not refused, "PostgreSQL allowed what the model refuses"
    return expected, found


class Twins:
    def __init__(self, connection: Connection, now_us: int) -> None:
        self.connection = connection
        self.now_us = now_us
        self.model = Store(Silent(), Silent(), SHARDS, now_us)
        self.schedules: dict[str, int] = {}
        self.job_schedule: dict[int, str] = {}
        self.attempts: set[tuple[Any, ...]] = set()

    async def reset(self) -> None:
        await self.connection.execute(
            "TRUNCATE noonmark.run, noonmark.grant, noonmark.attempt, noonmark.dead, noonmark.job,"
            " noonmark.job_skip, noonmark.job_version,"
            " noonmark.job_event, noonmark.schedule, noonmark.gap RESTART IDENTITY;"
            " UPDATE noonmark.shard SET owner = NULL, term = 0; DELETE FROM noonmark.node;"
            " TRUNCATE noonmark.lease, noonmark.watermark;"
            " ALTER TABLE noonmark.node ALTER COLUMN node_id RESTART"
        )
        await self.connection.execute("UPDATE noonmark.shard SET watermark = $1", self.now_us)

    # -- nodes and shards --------------------------------------------------------------------------------------------

    async def register(self) -> int:
        node_id = await ownership.register_node(self.connection, "http://here", "1", 3_600)
        self.model.nodes[node_id] = NodeRow(self.now_us, NEVER_US)
        return node_id

    async def end(self, node_id: int) -> None:
        self.model.end([node_id])
        await ownership.end_node(self.connection, node_id)

    async def expire(self, node_ids: list[int]) -> None:
        living = [node_id for node_id in node_ids if self.model.nodes[node_id].alive]
        await self.connection.execute(
            "UPDATE noonmark.lease SET until = clock_timestamp() - interval '1 ms' WHERE node_id = ANY ($1)",
            node_ids,
        )
        self.model.end(living)
        assert sorted(await ownership.expire_nodes(self.connection)) == sorted(living)

    async def take(self, node_id: int, most: int) -> None:
        async def sql() -> list[tuple[Any, ...]]:
            found = []
            taken = await ownership.take_shards(self.connection, node_id, most, self.now_us, 30_000_000)
            for shard, term, watermark_us in sorted(taken):
                grants = await pages.load_grants(self.connection, shard)
                rows = await pages.load_granted_runs(self.connection, shard)
                paused = set(await pages.load_paused(self.connection, shard, [row.job_id for row in rows]))
                found.append((shard, term, watermark_us, sorted(grants), _plain(rows), paused))
            return found

        done = await both(lambda: self.model.take(node_id, most), sql())
        if done is not None:
            expected = [
                (shard, term, watermark_us, sorted(grants), _plain(rows), paused)
                for shard, term, watermark_us, grants, rows, paused in done[0]
            ]
            assert done[1] == expected

    async def give(self, node_id: int, shards: list[int]) -> None:
        await both(lambda: self.model.give(node_id, shards), ownership.give_shards(self.connection, node_id, shards))

    # -- jobs --------------------------------------------------------------------------------------------------------

    async def _schedule_id(self, text: str) -> int:
        if text not in self.schedules:
            self.schedules[text] = await self.connection.fetchval(
                "INSERT INTO noonmark.schedule (text) VALUES ($1) RETURNING schedule_id", text
            )
        return self.schedules[text]

    def _row(self, job: StoredJob, schedule_id: int | None, *, active: bool) -> JobRow:
        """As it is before the change; what counts, counts from now on."""
        return JobRow(
            JobId(job.job_id), TenantId(job.tenant_id), f"job-{job.job_id}", 1, PolicyId(job.policy_id), schedule_id,
            job.offset_us // 1000, job.priority, job.catch_up, active, self.now_us, self.now_us, None, job.ends_us,
            job.runs_left, None if job.window_us is None else job.window_us / 1_000_000,
            None if job.delay_us is None else job.delay_us // 1000, job.current_run_us,
        )  # type: ignore[arg-type]  # fmt: skip

    async def activate(self, node_id: int, job: StoredJob, text: str | None, *, new: bool) -> None:
        schedule_id = None if text is None else await self._schedule_id(text)
        shard = shard_of(job.job_id)
        watermark_us = self.model.shards[shard].watermark_us
        head = self._row(job, schedule_id, active=True)
        made = [] if text is None else passed_runs(head, recurrence(text), watermark_us)
        timing = Timing(delay_us=job.delay_us)

        async def sql() -> list[RunRow]:
            async with fenced(self.connection, node_id):
                started, current_run = await resumed_run(self.connection, head, timing, self.now_us, watermark_us)
                if new:
                    assert await jobs.insert_jobs(self.connection, [started], ["{}"]) == []
                else:
                    await jobs.set_jobs_active(self.connection, [started], self.now_us, active=True)
                    await unpark_runs(self.connection, [head.job_id], {shard: watermark_us})
                await insert_runs(self.connection, [*await jobs.without_ended(self.connection, made), *current_run])
            return await load_waiting_runs(self.connection, [head.job_id], {shard: watermark_us}, 10_000)

        done = await both(lambda: self.model.activate(node_id, job, self.now_us), sql())
        if done is not None:
            self.job_schedule[job.job_id] = text or ""
            assert _plain(done[1]) == _plain(done[0])

    async def pause(self, node_id: int, job_id: int) -> None:
        job = self.model.jobs[job_id]
        granted = [key[1] for key in self.model.held if key[0] == job_id]
        head = self._row(job, None, active=False)

        async def sql() -> None:
            async with fenced(self.connection, node_id):
                held = [(head.job_id, nominal_us) for nominal_us in granted]
                kept = held if head.current_run_us is None else [*held, (head.job_id, head.current_run_us)]
                await delete_planned_runs(self.connection, [head.job_id], self.now_us, kept)
                await park_runs(self.connection, [head.job_id], held)
                await jobs.set_jobs_active(self.connection, [head], self.now_us, active=False)

        await both(lambda: self.model.pause(node_id, job_id, granted, self.now_us), sql())

    # -- runs --------------------------------------------------------------------------------------------------------

    async def tick(self, node_id: int, terms: dict[int, int], until_us: int) -> None:
        """All the shards stand at one watermark."""
        [after_us] = {self.model.shards[shard].watermark_us for shard in terms}
        timetable = Timetable(grace_us=GRACE_US)
        for job in self.model.jobs.values():
            if self.job_schedule[job.job_id] and job.active:
                text = self.job_schedule[job.job_id]
                timetable.add(shard_of(job.job_id), self.schedules[text], text)
        due = timetable.expand(timetable.window(after_us, until_us, self.now_us), terms.keys())
        missed_until_us = timetable.missed_until_us(self.now_us)
        ends = await load_missed_ends(self.connection, list(terms), after_us, missed_until_us)
        due += timetable.ended(ends, after_us, until_us, self.now_us)
        before_us = dict.fromkeys(terms, after_us)
        done = await both(
            lambda: self.model.tick(node_id, terms, before_us, until_us, self.now_us),
            tick(self.connection, node_id, terms, after_us=after_us, until_us=until_us, now_us=self.now_us, due=due),
        )
        if done is not None:
            assert _plain(done[1]) == _plain(done[0])

    async def commit(self, node_id: int, batch: Batch) -> None:
        done = await both(lambda: self.model.commit(node_id, batch), commit_batch(self.connection, node_id, batch))
        if done is not None:
            self.attempts |= {_end(row) for row in batch.attempts}
            assert _plain(done[1]) == _plain(done[0])
            assert {row.key: row.sleeps for row in done[1]} == {row.key: row.sleeps for row in done[0]}

    async def page(self, node_id: int, page: PageRequest, policy_ids: list[int]) -> None:
        watermark_us = self.model.shards[page.shard].watermark_us
        expected = self.model.page(node_id, page, policy_ids)
        found = await pages.page_runs(self.connection, page, watermark_us, policy_ids)
        assert [row[:10] for row in found] == [row[:10] for row in expected]

    async def redrive(self, node_id: int, key: tuple[int, int]) -> None:
        async def sql() -> list[RunRow]:
            async with fenced(self.connection, node_id):
                tenant_id = self.model.jobs[key[0]].tenant_id
                return await jobs.redrive_dead(self.connection, tenant_id, [key], self.now_us)

        done = await both(lambda: self.model.redrive(node_id, key, self.now_us), sql())
        if done is not None:
            assert _plain(done[1]) == _plain(done[0])

    async def skip(self, node_id: int, job_id: int, nominal_us: int) -> None:
        job = self.model.jobs[job_id]
        row = self.model.run((job_id, nominal_us))
        head = self._row(job, None, active=job.active)

        async def sql() -> None:
            async with fenced(self.connection, node_id):
                if row is not None:
                    assert await jobs.delete_waiting_run(self.connection, row.tenant_id, *row.key) is not None
                ended = row or make_run(head, nominal_us, nominal_us + job.offset_us, Reason.SCHEDULED, None)
                await record_end(self.connection, [ended], Outcome.WITHDRAWN, Reason.SKIPPED, self.now_us)
                await set_job_skips(self.connection, head, sorted({*job.skips, nominal_us}))

        if await both(lambda: self.model.skip(node_id, job_id, nominal_us, self.now_us), sql()) is not None:
            self.attempts.add((job_id, nominal_us, 0, Outcome.WITHDRAWN, Reason.SKIPPED, True))

    async def cancel_waiting(self, node_id: int, key: tuple[int, int]) -> None:
        row = self.model.run(key)

        async def sql() -> list[RunRow]:
            async with fenced(self.connection, node_id):
                found = await jobs.delete_waiting_run(self.connection, row.tenant_id, *key)
                assert found is not None
                assert found[:10] == row[:10]
                await record_end(self.connection, [found], Outcome.CANCELLED, Reason.CANCELLED, self.now_us)
                return await follow_fixed_delays(self.connection, [FixedDelayEnd(row.shard, *key, self.now_us)])

        done = await both(lambda: self.model.cancel_waiting(node_id, key, self.now_us), sql())
        if done is not None:
            self.attempts.add((*key, 0, Outcome.CANCELLED, Reason.CANCELLED, True))
            assert _plain(done[1]) == _plain(done[0])

    # -- the tables --------------------------------------------------------------------------------------------------

    async def compare(self) -> None:
        fetch, model = self.connection.fetch, self.model
        shards = {
            row[0]: tuple(row)[1:]
            for row in await fetch("SELECT shard, owner, term, noonmark.ticked_until(s) FROM noonmark.shard s")
        }
        assert shards == {n: (one.owner, one.term, one.watermark_us) for n, one in model.shards.items()}
        nodes = dict(await fetch("SELECT node_id, alive FROM noonmark.node"))  # type: ignore[arg-type]
        assert nodes == {node_id: node.alive for node_id, node in model.nodes.items()}
        rows = await fetch(
            "SELECT job_id, nominal_at, due_at, tenant_id, version, policy_id, priority, attempt, failures, reason,"
            " sleeps, parked FROM noonmark.run"
        )
        assert {tuple(row) for row in rows} == {
            (*row[:10], row.sleeps, row.key in model.parked) for runs in model.runs.values() for row in runs.values()
        }
        grants = await fetch(
            "SELECT shard, grant_id, worker_id, granted_at, job_ids, nominals_at, attempts FROM noonmark.grant"
        )
        assert sorted(map(tuple, grants)) == sorted(map(tuple, model.grants.values()))
        dead = await fetch(
            "SELECT shard, nominal_at, job_id, died_at, attempt, failures, reason, error FROM noonmark.dead"
        )
        assert {tuple(row) for row in dead} == {tuple(row) for row in model.dead.values()}
        ends = await fetch("SELECT job_id, nominal_at, attempt, outcome, reason, final FROM noonmark.attempt")
        assert {tuple(row) for row in ends} == self.attempts
        found = await fetch("SELECT job_id, active, link_at, runs_left FROM noonmark.job")
        assert {tuple(row) for row in found} == {
            (job_id, job.active, job.current_run_us, job.runs_left) for job_id, job in model.jobs.items()
        }


def _plain(rows: list[RunRow]) -> list[tuple[Any, ...]]:
    return sorted(tuple(row[:10]) for row in rows)


def _end(row: Any) -> tuple[Any, ...]:
    return (row.job_id, row.nominal_us, row.attempt, row.outcome, row.reason, row.final)
