"""Random sequences of everything that nodes do to the store, on a real PostgreSQL and on the model at once."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import asyncpg
import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from noonmark.embedded import EmbeddedPostgres
from noonmark.model.ids import GrantId, JobId, PolicyId, TenantId, WorkerId, job_id_of, shard_of
from noonmark.model.reason import Outcome, Reason
from noonmark.model.run import AttemptRow, DeadRow, GrantRow, RunRow
from noonmark.schedule import recurrence
from noonmark.shard.backlog import START, PageRequest
from noonmark.shard.outbox import Batch, FixedDelayEnd, Requeue
from noonmark.store import commit, commit_few, commit_steps, job_runs, jobs, ownership, pages, tick
from noonmark.store.connect import OWNER_SETTINGS, Connection, connect
from noonmark.store.statement import statement
from tests.conftest import TEMPLATE, drop_database, new_database
from tests.simulation.store import StoredJob
from tests.store.machine import Twins

SECOND_US = 1_000_000
DAY_US = 86_400 * SECOND_US
TEXTS = ["every:5|phase 2|j0", "every:60|phase 0|j0", "every:7|phase 3|j4", "cron:* * * * *|UTC|j90", None]


class Here:
    """What the machines of one test share."""

    loop: asyncio.AbstractEventLoop
    connection: Connection


class StoreMachine(RuleBasedStateMachine):
    def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return Here.loop.run_until_complete(work)

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        """At this day's midnight, so that a failing sequence is the same when it is played again."""
        now_us = self.do(Here.connection.fetchval("SELECT clock_timestamp()"))
        self.twins = Twins(Here.connection, now_us // DAY_US * DAY_US)
        self.counter = 0
        self.do(self.twins.reset())
        self.do(self.twins.register())
        self.do(self.twins.take(1, 8))
        for _ in range(3):
            self._create_job(data)

    def next(self) -> int:
        self.counter += 1
        return self.counter

    def pick(self, data: st.DataObject, what: Any) -> Any:
        return data.draw(st.sampled_from(sorted(what)))

    def node(self, data: st.DataObject) -> int:
        """One that lives, mostly: a dead one must be refused."""
        nodes = self.twins.model.nodes
        living = [node_id for node_id, node in nodes.items() if node.alive]
        return self.pick(data, nodes if data.draw(st.integers(0, 7)) == 0 else living)

    @property
    def waiting(self) -> list[RunRow]:
        model = self.twins.model
        return [row for runs in model.runs.values() for key, row in runs.items() if key not in model.held]

    # -- nodes and shards --------------------------------------------------------------------------------------------

    @rule(data=st.data(), most=st.integers(1, 8))
    def take(self, data: st.DataObject, most: int) -> None:
        self.do(self.twins.take(self.node(data), most))

    @rule(data=st.data(), shards=st.sets(st.integers(0, 7), min_size=1))
    def give(self, data: st.DataObject, shards: set[int]) -> None:
        self.do(self.twins.give(self.node(data), sorted(shards)))

    @rule(data=st.data(), expires=st.booleans())
    def fail_over(self, data: st.DataObject, expires: bool) -> None:
        """A node ends, another takes over."""
        node_id = self.node(data)
        if self.twins.model.nodes[node_id].alive:
            self.do(self.twins.expire([node_id]) if expires else self.twins.end(node_id))
        self.do(self.twins.take(self.do(self.twins.register()), 8))

    # -- jobs --------------------------------------------------------------------------------------------------------

    @rule(data=st.data())
    def create_job(self, data: st.DataObject) -> None:
        if len(self.twins.model.jobs) < 8:
            self._create_job(data)

    def _create_job(self, data: st.DataObject) -> None:
        text = data.draw(st.sampled_from(TEXTS))
        rec = None if text is None else recurrence(text)
        offset_ms = data.draw(st.integers(0, max(0, rec.jitter_us // 1000 - 1))) if rec else 0
        job_id = job_id_of(self.next(), data.draw(st.integers(0, 1)))
        policy_id, priority = data.draw(st.integers(1, 2)), data.draw(st.integers(4, 5))
        catch_up = data.draw(st.sampled_from([0, 1, 3, 1000]))
        job = StoredJob(job_id, 1, policy_id, priority, rec, offset_ms * 1000, catch_up, self.twins.now_us)
        ends_s = data.draw(st.sampled_from([None, None, 2, 30, 300]))
        window_s = data.draw(st.sampled_from([None, None, 10, 100]))
        job.ends_us = None if ends_s is None else self.twins.now_us + ends_s * SECOND_US
        job.window_us = None if window_s is None else window_s * SECOND_US
        if text is None:
            delay_s = data.draw(st.sampled_from([None, 1, 20]))
            job.delay_us = None if delay_s is None else delay_s * SECOND_US
            job.runs_left = None if delay_s is None else data.draw(st.sampled_from([None, 3]))
        self.do(self.twins.activate(self.node(data), job, text, new=True))

    @precondition(lambda self: self.twins.model.jobs)
    @rule(data=st.data())
    def pause_or_resume(self, data: st.DataObject) -> None:
        job_id = self.pick(data, self.twins.model.jobs)
        job = self.twins.model.jobs[job_id]
        if job.active:
            self.do(self.twins.pause(self.node(data), job_id))
        else:
            text = self.twins.job_schedule[job_id] or None
            self.do(self.twins.activate(self.node(data), job, text, new=False))

    # -- runs --------------------------------------------------------------------------------------------------------

    @rule(data=st.data(), seconds=st.sampled_from([0.4, 3.0, 20.0, 400.0]), ahead_s=st.sampled_from([0.5, 3.0, 30.0]))
    def tick(self, data: st.DataObject, seconds: float, ahead_s: float) -> None:
        """Time passes, and the shards of a node that stand at one watermark are ticked."""
        self.twins.now_us += round(seconds * SECOND_US)
        node_id = self.node(data)
        shards = {n: one for n, one in self.twins.model.shards.items() if one.owner == node_id}
        self._tick(data, node_id, shards, ahead_s, 0)

    @rule(data=st.data(), term_ago=st.integers(0, 1))
    def tick_in_vain(self, data: st.DataObject, term_ago: int) -> None:
        """Of whatever shards, or under a term that has passed."""
        self._tick(data, self.node(data), self.twins.model.shards, 3.0, term_ago)

    def _tick(self, data: st.DataObject, node_id: int, shards: dict[int, Any], ahead_s: float, term_ago: int) -> None:
        if not shards:
            return
        after_us = self.pick(data, {one.watermark_us for one in shards.values()})
        terms = {n: one.term - term_ago for n, one in shards.items() if one.watermark_us == after_us}
        until_us = max(after_us, self.twins.now_us) + round(ahead_s * SECOND_US)
        self.do(self.twins.tick(node_id, terms, until_us))

    @precondition(lambda self: self.twins.model.jobs)
    @rule(data=st.data())
    def commit(self, data: st.DataObject) -> None:
        """A batch with everything in it that could be decided now."""
        batch = Batch()
        self._create(data, batch)
        self._end_granted(data, batch)
        self._grant(data, batch)
        self._cancel_granted(data, batch)
        self.do(self.twins.commit(self.node(data), batch))

    def _create(self, data: st.DataObject, batch: Batch) -> None:
        model, now_us = self.twins.model, self.twins.now_us
        for job_id in data.draw(st.lists(st.sampled_from(sorted(model.jobs)), max_size=3)):
            job = model.jobs[job_id]
            due_us = now_us + data.draw(st.sampled_from([0, 40, 300])) * SECOND_US
            batch.created.append(
                job.run(now_us + self.next(), due_us, Reason.TRIGGERED)._replace(
                    sleeps=due_us > model.shards[shard_of(job_id)].watermark_us
                )
            )

    def _grant(self, data: st.DataObject, batch: Batch) -> None:
        ended = {(job_id, nominal_us) for _, nominal_us, job_id in batch.ended} | batch.requeues.keys()
        ready = [row for row in self.waiting if row.key not in self.twins.model.parked and row.key not in ended]
        if not ready:
            return
        chosen = data.draw(st.lists(st.sampled_from(sorted(ready)), max_size=4, unique_by=lambda row: row.key))
        grant_id, worker_id = GrantId(1_000 + self.next()), WorkerId(data.draw(st.integers(1, 2)))
        for shard in {row.shard for row in chosen}:
            rows = [row for row in chosen if row.shard == shard]
            batch.grants.append(
                GrantRow(
                    shard, grant_id, worker_id, self.twins.now_us,
                    [row.job_id for row in rows], [row.nominal_us for row in rows], [row.attempt + 1 for row in rows],
                )
            )  # fmt: skip

    def _end_granted(self, data: st.DataObject, batch: Batch) -> None:
        model = self.twins.model
        held = sorted(model.held)
        if not held:
            return
        chosen = data.draw(st.lists(st.sampled_from(held), max_size=4, unique=True))
        for key in chosen:
            end = data.draw(st.sampled_from(["succeeds", "fails", "dies"]))
            self._end(data, batch, model.run(key), end)
        for (shard, grant_id), grant in model.grants.items():
            keys = set(zip(grant.job_ids, grant.nominals_us, strict=True))
            if not {key for key in keys if model.held.get(key) == grant_id} - set(chosen):
                batch.finished_grants.append((shard, grant_id))

    def _end(self, data: st.DataObject, batch: Batch, row: RunRow, end: str) -> None:
        now_us = self.twins.now_us
        outcome, reason = {
            "succeeds": (Outcome.SUCCEEDED, Reason.SUCCEEDED),
            "fails": (Outcome.FAILED, Reason.FAILED),
            "dies": (Outcome.TIMED_OUT, Reason.ATTEMPTS_EXHAUSTED),
        }[end]
        batch.attempts.append(
            AttemptRow(
                row.shard, row.job_id, row.nominal_us, row.attempt + 1, now_us, row.tenant_id, row.version, WorkerId(1),
                row.due_us, now_us, now_us, outcome, reason, end != "fails", None, '{"a": "\\u0000"}',
            )
        )  # fmt: skip
        if end == "fails":
            due_us = now_us + data.draw(st.sampled_from([0, 1, 60])) * SECOND_US
            batch.requeues[row.key] = Requeue(
                row.shard, row.nominal_us, row.job_id, row.attempt + 1, row.failures + 1, due_us, Reason.FAILED, "no",
                due_us > self.twins.model.shards[row.shard].watermark_us, not self.twins.model.jobs[row.job_id].active,
            )  # fmt: skip
            return
        if end == "dies":
            batch.dead.append(
                DeadRow(
                    row.shard, row.nominal_us, row.job_id, now_us, row.attempt + 1, row.failures + 1, reason, "no more"
                )
            )
        batch.ended.append((row.shard, row.nominal_us, row.job_id))
        batch.fixed_delay_ends.append(FixedDelayEnd(row.shard, row.job_id, row.nominal_us, now_us + 7))

    def _cancel_granted(self, data: st.DataObject, batch: Batch) -> None:
        gone = {(row.job_id, row.nominal_us) for row in batch.attempts}
        for key in sorted(self.twins.model.held.keys() - gone)[: data.draw(st.integers(0, 1))]:
            batch.cancelling.append((shard_of(key[0]), key[1], JobId(key[0])))

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def cancel_waiting(self, data: st.DataObject) -> None:
        row = self.pick(data, self.waiting)
        self.do(self.twins.cancel_waiting(self.node(data), row.key))

    @rule(data=st.data())
    def end_current_runs(self, data: st.DataObject) -> None:
        """Current runs of fixed delays end, one after the other, before and after their time."""
        for _ in range(data.draw(st.integers(1, 4))):
            jobs = self.twins.model.jobs.values()
            current = [row for row in self.waiting if row.key in {(job.job_id, job.current_run_us) for job in jobs}]
            if current:
                self.twins.now_us += data.draw(st.sampled_from([0, 1_234, 30_000_500]))
                batch = Batch()
                self._end(data, batch, self.pick(data, current), "succeeds")
                self.do(self.twins.commit(self.node(data), batch))

    @rule(data=st.data())
    def pause_over_its_time(self, data: st.DataObject) -> None:
        """A job is paused before one of its runs is due, and ticks pass that time."""
        model = self.twins.model
        sleeping = [row for row in self.waiting if row.sleeps and model.jobs[row.job_id].active]
        if sleeping:
            row = self.pick(data, sleeping)
            self.do(self.twins.pause(self.node(data), row.job_id))
            self.twins.now_us = max(self.twins.now_us, row.due_us)
            node_id = self.node(data)
            shards = {n: one for n, one in model.shards.items() if one.owner == node_id and n == row.shard}
            self._tick(data, node_id, shards, 0.5, 0)

    @rule(data=st.data())
    def cancel_ahead(self, data: st.DataObject) -> None:
        """An occurrence is cancelled before its time, and its job is paused and resumed before that."""
        model, now_us = self.twins.model, self.twins.now_us
        ahead = [row for row in self.waiting if row.reason is Reason.SCHEDULED and row.nominal_us > now_us]
        if ahead:
            row = self.pick(data, ahead)
            self.do(self.twins.cancel_waiting(self.node(data), row.key))
            self.do(self.twins.pause(self.node(data), row.job_id))
            job = model.jobs[row.job_id]
            self.do(self.twins.activate(self.node(data), job, self.twins.job_schedule[row.job_id] or None, new=False))

    @precondition(lambda self: self.twins.model.jobs)
    @rule(data=st.data(), ahead=st.integers(0, 2), made=st.booleans())
    def skip(self, data: st.DataObject, ahead: int, made: bool) -> None:
        """One of the next occurrences of a job, whether its run was made already or not; then ticks pass its time."""
        model, now_us = self.twins.model, self.twins.now_us
        job = model.jobs[self.pick(data, model.jobs)]
        shard = shard_of(job.job_id)
        after_us = now_us if made else max(now_us, model.shards[shard].watermark_us - job.offset_us)
        times = [] if job.recurrence is None else job.bounded.between(after_us, after_us + DAY_US, 3)
        for nominal_us in times[ahead : ahead + 1]:
            key = (job.job_id, nominal_us)
            if key not in model.held and not model.has_ended(key):
                self.do(self.twins.skip(self.node(data), job.job_id, nominal_us))
                self.twins.now_us = max(now_us, nominal_us + job.offset_us)
                node_id = self.node(data)
                shards = {n: one for n, one in model.shards.items() if one.owner == node_id and n == shard}
                self._tick(data, node_id, shards, 0.5, 0)

    @precondition(lambda self: self.twins.model.dead)
    @rule(data=st.data())
    def redrive(self, data: st.DataObject) -> None:
        self.do(self.twins.redrive(self.node(data), self.pick(data, self.twins.model.dead)))

    @rule(data=st.data(), shard=st.integers(0, 1), lane=st.booleans(), limit=st.integers(1, 4))
    def page(self, data: st.DataObject, shard: int, lane: bool, limit: int) -> None:
        living = [node_id for node_id, node in self.twins.model.nodes.items() if node.alive]
        places = [START, *((row.nominal_us, row.job_id) for row in self.twins.model.runs[shard].values())]
        key = (TenantId(1), ("default", "task"), data.draw(st.integers(4, 5))) if lane else None
        page = PageRequest(shard, key, self.pick(data, places), limit)
        policies = [PolicyId(data.draw(st.integers(1, 2)))]
        self.do(self.twins.page(living[0], page, policies))

    @invariant()
    def tables_are_as_the_model_says(self) -> None:
        if hasattr(self, "twins"):
            self.do(self.twins.compare())


def run_machine(
    postgres: EmbeddedPostgres, *, examples: int, phases: tuple[Phase, ...], before: str = "SELECT 1"
) -> None:
    Here.loop = asyncio.new_event_loop()
    url = Here.loop.run_until_complete(new_database(postgres.url, TEMPLATE))
    Here.connection = Here.loop.run_until_complete(connect(url, OWNER_SETTINGS))
    try:
        Here.loop.run_until_complete(Here.connection.execute(before))
        run_state_machine_as_test(
            StoreMachine,
            settings=settings(
                max_examples=examples,
                stateful_step_count=40,
                phases=phases,
                deadline=None,
                database=None,
                derandomize=True,
                suppress_health_check=list(HealthCheck),
            ),
        )
    finally:
        Here.connection.terminate()
        Here.loop.run_until_complete(drop_database(postgres.url, url))
        Here.loop.close()


def test_the_sql_does_what_the_model_says(postgres: EmbeddedPostgres) -> None:
    run_machine(postgres, examples=60, phases=(Phase.generate, Phase.shrink))


BREAKS = [
    ("tick_runs", "f.nominal_at > j.planned_from", "true"),
    ("tick_runs", " OR f.nominal_at <= j.ends_at", " OR true"),
    ("tick_runs", ">= $9::timestamptz", ">= $9::timestamptz - interval '1 hour'"),
    ("tick_runs", "(f.ends_at IS NULL OR f.ends_at = j.ends_at)", "f.ends_at IS NULL"),
    ("follow_fixed_delays", " AND j.link_at = k.link_at", ""),
    ("follow_fixed_delays", " AND j.active", ""),
    ("follow_fixed_delays", "GREATEST(k.ended_at, k.link_at)", "k.ended_at"),
    ("follow_fixed_delays", "j.runs_left = 0 OR n.next_at > j.ends_at THEN NULL", "n.next_at > j.ends_at THEN NULL"),
    ("follow_fixed_delays", "OR n.next_at > j.ends_at THEN NULL", "THEN NULL"),
    ("follow_fixed_delays", "d.due_at > t.until", "false"),
    ("tick_runs", "NOT j.skips OR", "true OR"),
    ("tick_runs", " AND s.nominal_at = f.nominal_at", ""),
    ("tick_runs", "f.rank < j.catch_up", "f.rank <= j.catch_up"),
    ("tick_runs", " AND x.active", ""),
    ("wake_runs", " AND NOT r.parked", ""),
    ("advance_watermarks", "s.term = k.term AND ", ""),
    ("advance_watermarks", " AND s.owner = $3", " AND $3::bigint > 0"),
    ("page_shard", ">= ($2, $3)", "> ($2, $3)"),
    ("requeue_runs", ", parked = k.parked", ""),
    ("unpark_runs", "r.due_at > found.watermark", "r.due_at > found.watermark AND false"),
    ("find_ended_runs", "x.final", "NOT x.final"),
]


@pytest.mark.parametrize(("name", "text", "broken"), BREAKS, ids=lambda value: str(value).strip()[:24])
def test_a_broken_statement_is_caught(
    postgres: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch, name: str, text: str, broken: str
) -> None:
    assert text in statement(name)

    def changed(asked: str) -> str:
        return statement(asked).replace(text, broken) if asked == name else statement(asked)

    for module in (commit, commit_few, commit_steps, job_runs, jobs, ownership, pages, tick):
        monkeypatch.setattr(module, "statement", changed)
    with pytest.raises((AssertionError, asyncpg.PostgresError)):
        run_machine(postgres, examples=400, phases=(Phase.generate,))


def test_a_broken_fence_is_caught(postgres: EmbeddedPostgres) -> None:
    open_fence = "CREATE OR REPLACE FUNCTION noonmark.fence(node bigint) RETURNS void LANGUAGE sql AS ''"
    with pytest.raises(AssertionError):
        run_machine(postgres, examples=100, phases=(Phase.generate,), before=open_fence)
