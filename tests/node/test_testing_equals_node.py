"""`noonmark.testing` decides as a node does: one sequence of events in both leads to the same jobs, runs and ends."""

import asyncio
from collections.abc import Iterator
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from noonmark.clock import SECOND_US, to_datetime
from noonmark.embedded import EmbeddedPostgres
from noonmark.model.ids import JobId
from noonmark.model.job import Misfire
from noonmark.schedule import At, Cron, Every, Manual, Now, ScheduleSpec
from tests.conftest import TEMPLATE, drop_database, new_database
from tests.node.both import Both
from tests.node.by_hand import Database


@pytest.fixture(scope="module")
def database(postgres: EmbeddedPostgres) -> Iterator[Database]:
    url = asyncio.run(new_database(postgres.url, TEMPLATE))
    database = Database(url)
    yield database
    database.close()
    asyncio.run(drop_database(postgres.url, url))


@pytest.fixture
def both(database: Database) -> Iterator[Both]:
    both = Both(database)
    yield both
    both.end()


def test_an_outage_over_the_nominal_time_of_a_job_that_is_due_later(both: Both) -> None:
    """Hourly, up to 42 minutes later, no catching up: the run was not due yet when the nodes came back."""
    job_id = both.create(name="a", schedule=Cron("0 * * * *"), jitter_s=42 * 60, misfire=Misfire("skip"))
    assert both.memory.engine.jobs[job_id].row.jitter_us > 5 * 60 * SECOND_US
    both.advance(minutes=57)
    both.outage(minutes=6)
    both.advance(minutes=57)
    assert both.fires(job_id) == [60]
    both.compare()


def test_a_fixed_delay_through_pauses_changes_and_cancels(both: Both) -> None:
    job_id = both.create(name="a", schedule=Every("10m", pace="delay", max_runs=9))
    both.advance(minutes=25)
    both.change(job_id, priority=2)
    both.compare()
    both.pause(job_id)
    both.advance(minutes=30)
    both.change(job_id, priority=3)
    both.compare()
    both.resume(job_id)
    both.compare()
    both.advance(minutes=1)
    [waiting] = both.memory.engine.rows
    both.cancel(waiting)
    both.compare()
    both.change(job_id, schedule=Every("7m", pace="delay", max_runs=3))
    both.compare()
    both.outage(hours=1)
    both.advance(hours=1)
    both.compare()


def test_a_single_run_gets_the_terms_of_a_change(both: Both) -> None:
    later = to_datetime(both.now_us + 3600 * SECOND_US)
    job_id = both.create(name="a", schedule=At(later))
    both.change(job_id, priority=1)
    both.compare()
    both.pause(job_id)
    both.compare()
    both.resume(job_id)
    both.advance(hours=2)
    both.compare()
    assert both.fires(job_id) == [60]


class Traces(RuleBasedStateMachine):
    """Seconds are odd and schedules are whole minutes, so that no two events share an instant by chance alone."""

    database: Database
    lookahead_s = 0.0
    jitters_s = (0.0, 0.0, 90.0, 2520.0)

    def __init__(self) -> None:
        super().__init__()
        self.both = Both(self.database, self.lookahead_s)
        self.number = 0

    def teardown(self) -> None:
        self.both.end()

    def schedule(self, data: st.DataObject) -> ScheduleSpec:
        bounds: dict[str, Any] = {"max_runs": data.draw(st.sampled_from([None, None, 1, 3, 10]))}
        if data.draw(st.integers(0, 3)) == 0:
            bounds["start"] = self.moment(data)
        if data.draw(st.integers(0, 3)) == 0:
            bounds["end"] = to_datetime(self.both.now_us + data.draw(st.integers(200, 400)) * 60 * SECOND_US)
        kind = data.draw(st.sampled_from(["every", "every", "cron", "delay", "delay", "at", "now", "manual"]))
        match kind:
            case "every":
                return Every(data.draw(st.sampled_from(["1m", "7m", "1h"])), **bounds)
            case "cron":
                return Cron(data.draw(st.sampled_from(["*/20 * * * *", "0 * * * *"])), **bounds)
            case "delay":
                return Every(data.draw(st.sampled_from(["3m", "40m"])), pace="delay", **bounds)
            case "at":
                return At(self.moment(data))
            case "now":
                return Now()
        return Manual()

    def moment(self, data: st.DataObject) -> Any:
        return to_datetime(self.both.now_us + data.draw(st.integers(1, 180)) * 60 * SECOND_US)

    def misfire(self, data: st.DataObject) -> Misfire:
        window_s = data.draw(st.sampled_from([None, None, 300.0, 3000.5]))
        return data.draw(st.sampled_from([Misfire("skip", window_s=window_s), Misfire("once", window_s=window_s),
                                          Misfire("all", 4, window_s=window_s)]))  # fmt: skip

    def jitter_s(self, data: st.DataObject, schedule: ScheduleSpec) -> float:
        """Spreading a minute over 42 would keep 42 runs of one job under way; a single run or a delay has no jitter."""
        spread = isinstance(schedule, Cron) or (isinstance(schedule, Every) and schedule.every == "1h")
        return (
            data.draw(st.sampled_from(self.jitters_s)) if spread and getattr(schedule, "pace", "") != "delay" else 0.0
        )

    def pick(self, data: st.DataObject) -> JobId:
        return data.draw(st.sampled_from(sorted(self.both.memory.engine.jobs)))

    @rule(data=st.data())
    def create(self, data: st.DataObject) -> None:
        schedule = self.schedule(data)
        jitter_s = self.jitter_s(data, schedule)
        if self.both.may_have(schedule, jitter_s):
            self.number += 1
            name = f"job-{self.number}"
            self.both.create(name=name, schedule=schedule, misfire=self.misfire(data), jitter_s=jitter_s)

    @precondition(lambda self: self.both.memory.engine.jobs)
    @rule(data=st.data())
    def change_schedule(self, data: st.DataObject) -> None:
        schedule = self.schedule(data)
        jitter_s = self.jitter_s(data, schedule)
        if self.both.may_have(schedule, jitter_s):
            self.both.change(self.pick(data), schedule=schedule, jitter_s=jitter_s)

    @precondition(lambda self: self.both.memory.engine.jobs)
    @rule(data=st.data(), priority=st.integers(0, 9))
    def change_terms(self, data: st.DataObject, priority: int) -> None:
        self.both.change(self.pick(data), priority=priority, misfire=self.misfire(data))

    @precondition(lambda self: self.both.memory.engine.jobs)
    @rule(data=st.data())
    def pause(self, data: st.DataObject) -> None:
        self.both.pause(self.pick(data))

    @precondition(lambda self: self.both.memory.engine.jobs)
    @rule(data=st.data())
    def resume(self, data: st.DataObject) -> None:
        paused = [job_id for job_id, job in self.both.memory.engine.jobs.items() if not job.row.active]
        self.both.resume(data.draw(st.sampled_from(sorted(paused))) if paused else self.pick(data))

    @precondition(lambda self: self.both.memory.engine.jobs)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        self.both.delete(self.pick(data))

    @precondition(lambda self: self.both.memory.engine.jobs)
    @rule(data=st.data(), after_s=st.sampled_from([0.0, 2.5, 1000.0]))
    def submit(self, data: st.DataObject, after_s: float) -> None:
        self.both.submit(self.pick(data), after_s)

    @precondition(lambda self: self.both.memory.engine.rows)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        self.both.cancel(data.draw(st.sampled_from(sorted(self.both.memory.engine.rows))))

    @rule(seconds=st.one_of(st.integers(1, 100), st.integers(100, 4_000)))
    def advance(self, seconds: int) -> None:
        self.both.advance(seconds=seconds)

    @rule(seconds=st.one_of(st.integers(1, 100), st.integers(100, 12_000)))
    def outage(self, seconds: int) -> None:
        self.both.outage(seconds=seconds)

    @invariant()
    def same(self) -> None:
        self.both.compare()


class TracesAhead(Traces):
    """A node makes runs 3 seconds ahead. Jitter is left out: what is made ahead of a change, whose nominal time has
    passed by then, is run all the same, and a scheduler in memory makes nothing ahead."""

    lookahead_s = 3.0
    jitters_s = (0.0,)


@pytest.mark.parametrize("machine", [Traces, TracesAhead])
def test_any_sequence_of_events_leads_to_the_same_runs(database: Database, machine: type[Traces]) -> None:
    machine.database = database
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=40,
            phases=(Phase.generate,),
            stateful_step_count=25,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
