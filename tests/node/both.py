"""The same events to a scheduler in memory and to a node, and what both made of them."""

from datetime import timedelta
from typing import Any

from noonmark import App
from noonmark.clock import SECOND_US, to_datetime
from noonmark.errors import NoonmarkError
from noonmark.model.ids import JobId, is_scheduled, job_text
from noonmark.schedule import ScheduleSpec, validate
from noonmark.testing import Scheduler
from noonmark.wire.resources import JobPatch, JobSpec, Submission
from tests.node.by_hand import Database, NodeByHand

DAY_US = 86_400 * SECOND_US


class Both:
    def __init__(self, database: Database, lookahead_s: float = 0.0) -> None:
        app = App("http://127.0.0.1:1")

        @app.task(name="work")
        def work() -> None: ...

        now_us: int = database.do(database.connection.fetchval("SELECT clock_timestamp()"))
        # At this day's midnight, where history has its partitions, so that a failing sequence is the same again.
        self.memory = Scheduler(app, to_datetime(now_us // DAY_US * DAY_US))
        self.node = NodeByHand(database, self.memory.clock, lookahead_s)

    @property
    def now_us(self) -> int:
        return self.memory.clock.now_us()

    def create(self, **spec: Any) -> JobId:
        one = JobSpec(task="work", **spec)
        job_id = self.memory.engine.create(one).job_id
        assert self.node.create(one) == job_id
        return job_id

    def may_have(self, schedule: ScheduleSpec, jitter_s: float) -> bool:
        """What the API refuses in front of a node, and a scheduler in memory by itself."""
        try:
            validate(schedule, self.now_us, jitter_s, "name")
        except NoonmarkError:
            return False
        return True

    def change(self, job_id: JobId, **fields: Any) -> None:
        patch = JobPatch(**fields)
        self._same(lambda: self.memory.engine.change(job_text(job_id), patch), lambda: self.node.change(job_id, patch))

    def pause(self, job_id: JobId) -> None:
        self.memory.pause(job_text(job_id))
        self.node.pause(job_id)

    def resume(self, job_id: JobId) -> None:
        self.memory.resume(job_text(job_id))
        self.node.resume(job_id)

    def delete(self, job_id: JobId) -> None:
        self.memory.delete(job_text(job_id))
        self.node.delete(job_id)

    def submit(self, job_id: JobId, after_s: float) -> None:
        at = to_datetime(self.now_us + round(after_s * SECOND_US))
        asked = Submission(job=job_text(job_id), at=at)
        self._same(lambda: self.memory.engine.submit(asked), lambda: self.node.submit(asked))

    def cancel(self, key: tuple[JobId, int]) -> None:
        self.memory.engine.cancel(key)
        self.node.cancel(key)

    def advance(self, **parts: float) -> None:
        """From event to event, so that a fixed delay counts from the same end in both."""
        until_us = self.now_us + round(timedelta(**parts).total_seconds() * SECOND_US)
        while True:
            next_us = self.memory.engine.next_us()
            at_us = until_us if next_us is None else min(until_us, max(next_us, self.now_us))
            self.memory.advance(to=to_datetime(at_us))
            self.node.work()
            if at_us >= until_us:
                return

    def outage(self, **parts: float) -> None:
        self.memory.outage(**parts)
        self.node.work()

    def settle(self) -> None:
        """What a node does a microsecond later, a scheduler whose clock stands still does at once."""
        self.memory.advance()
        self.node.work()
        self.advance(milliseconds=1)

    def compare(self) -> None:
        self.settle()
        engine = self.memory.engine
        ends = self.node.rows(
            "SELECT job_id, nominal_at, attempt, due_at, finished_at, version, outcome, reason FROM noonmark.attempt"
        )
        assert {
            _end(
                one.job_id,
                one.nominal_us,
                one.attempt,
                one.due_us,
                one.finished_us,
                one.version,
                one.outcome,
                one.reason,
            )
            for attempts in engine.history.values()
            for one in attempts
        } == {_end(*row) for row in ends}
        live = self.node.rows("SELECT job_id, nominal_at, version, priority, attempt, reason, parked FROM noonmark.run")
        assert {
            (*row.key, row.version, row.priority, row.attempt, row.reason, row.key in engine.parked)
            for row in engine.rows.values()
        } == live
        shown = {"policy_id": 0, "schedule_id": 0, "labels": None, "skips": None}
        found = self.node.jobs(list(engine.jobs))
        assert {job_id: job.row._replace(**shown) for job_id, job in engine.jobs.items()} == {
            job_id: row._replace(**shown) for job_id, row in found.items()
        }

    def fires(self, job_id: JobId) -> list[int]:
        """Whole minutes since the beginning at which the job's runs have ended, by their nominal times."""
        return [key[1] % DAY_US // (60 * SECOND_US) for key in sorted(self.memory.engine.history) if key[0] == job_id]

    def end(self) -> None:
        self.node.end()
        self.memory.__exit__(None, None, None)

    def _same(self, one: Any, other: Any) -> None:
        """Both do it, or both refuse for the same reason."""
        refused: list[str | None] = []
        for act in (one, other):
            try:
                act()
                refused.append(None)
            except NoonmarkError as error:
                refused.append(type(error).__name__)
        assert refused[0] == refused[1]


def _end(job_id: int, nominal_us: int, attempt: int, due_us: int, finished_us: int, *what: Any) -> tuple[Any, ...]:
    """Of a run that was asked for, the time says nothing: its µs tell runs apart, on a clock that stands still."""
    return (job_id, nominal_us, attempt, *((due_us, finished_us) if is_scheduled(nominal_us) else ()), *what)
