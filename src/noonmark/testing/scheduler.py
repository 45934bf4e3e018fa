"""The scheduler that a test holds in its hand."""

import asyncio
import random
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

import msgspec

from noonmark.app import App, Task
from noonmark.client.sync.handle import SyncRunHandle
from noonmark.clock import SECOND_US, SettableClock, from_datetime, to_datetime
from noonmark.errors import run_ended
from noonmark.model.ids import RunKey, parse_run
from noonmark.model.reason import Reason
from noonmark.schedule import ScheduleSpec
from noonmark.schedule.zones import zone
from noonmark.testing import present
from noonmark.testing.engine import Engine
from noonmark.testing.loop import VirtualLoop
from noonmark.testing.transport import AsyncLocalTransport, LocalTransport
from noonmark.testing.work import Work
from noonmark.wire.resources import Job
from noonmark.wire.runs import RunWithAttempts

P = ParamSpec("P")
R = TypeVar("R")
V = TypeVar("V")
_FIRED = (Reason.SCHEDULED, Reason.CAUGHT_UP)


class Scheduler:
    """Runs the tasks of an app on a clock that only `advance` moves.

    While it is open, the app's own calls (`task.submit`, `task.schedule`, `app.jobs`, all of `.sync`) come here too.
    Between two attempts the whole backoff passes, so that times are exact; with a `seed` it is spread as in real life.
    """

    def __init__(self, app: App, start: datetime | str = "2026-01-01T00:00:00Z", *, seed: int | None = None) -> None:
        self.app = app
        self.clock = SettableClock(from_datetime(_moment(start)))
        spread: Callable[[], float] = (lambda: 1.0) if seed is None else random.Random(seed).random
        self.engine = Engine(self.clock, spread, app.tasks)
        self._loop = VirtualLoop(self.clock)
        self._work = Work(app.tasks, self.clock, self._loop, self.engine.report)
        self._restore: list[tuple[object, str, Any]] = []
        self._moving = False

    # open and close

    def __enter__(self) -> Self:
        local = LocalTransport(self)
        for calls, transport in ((self.app, AsyncLocalTransport(local)), (self.app.sync, local)):
            self._exchange(calls.client, "_http", transport)
            self._exchange(calls, "_declared", frozenset())
            self._exchange(calls, "_standing", set())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for holder, name, value in reversed(self._restore):
            setattr(holder, name, value)
        self._restore = []
        self._outside_of_loops(self._loop.end)

    # jobs and runs

    def schedule(self, task: Task[..., Any, Any], schedule: ScheduleSpec | str, **options: Any) -> Job:
        """As `task.schedule`: makes a job, named like its task if no `name` is given."""
        return task.sync.schedule(schedule, **options)

    def submit(self, task: Task[P, R, V], *args: P.args, **kwargs: P.kwargs) -> SyncRunHandle[V]:
        """As `task.submit`: one run, now. It starts when the clock is moved, be it by nothing."""
        return task.sync.submit(*args, **kwargs)

    def trigger(self, job: str, input: Any = msgspec.UNSET, at: datetime | None = None) -> SyncRunHandle[Any]:
        return self.app.sync.jobs.trigger(job, input, at)

    def pause(self, job: str) -> None:
        self.engine.pause(job)

    def resume(self, job: str) -> None:
        self.engine.resume(job)

    def delete(self, job: str) -> None:
        for key in self.engine.delete(job):
            self._work.cancel(key)

    def cancel(self, run: str) -> None:
        key = parse_run(run)
        if self.engine.cancel(key):
            self._work.cancel(key)

    def redrive(self, job: str | None = None) -> int:
        """Takes dead letters back, of one job or all; says how many."""
        return self.engine.redrive([key for key in self.engine.dead if job in (None, self.engine.names[key[0]])])

    def takes(self, task: Task[..., Any, Any], duration: timedelta | None = None, **parts: float) -> None:
        """From now on each attempt of the task lasts so long on this clock, on top of its own sleeps."""
        self._work.durations_s[task.name] = _length(duration, parts).total_seconds()

    # time

    @property
    def now(self) -> datetime:
        return to_datetime(self.clock.now_us())

    def advance(self, duration: timedelta | None = None, *, to: datetime | str | None = None, **parts: float) -> None:
        """Moves the clock, and runs all that is due until then: `advance(days=3)`, `advance(to="2026-04-01T09Z")`.

        Without an argument it runs only what is due now.
        """
        until = self.now + _length(duration, parts) if to is None else _moment(to)
        if until < self.now:
            raise ValueError(f"time goes forward: {until.isoformat()} is before {self.now.isoformat()}")
        self._outside_of_loops(lambda: self._advance(from_datetime(until)))

    def outage(self, duration: timedelta | None = None, **parts: float) -> None:
        """For so long no node is there, and nothing fires. Then each job catches up as its misfire policy says."""
        self.engine.down = True
        try:
            self.advance(_length(duration, parts))
        finally:
            self.engine.down = False
        self.advance()

    # results

    def fires(self, job: str, tz: str | None = None) -> list[str]:
        """The nominal times at which its schedule has fired, in the schedule's zone: `2026-03-29T03:00+02:00`."""
        times_us = [key[1] for key, why in self.engine.made.items() if why in _FIRED and self._is(key, job)]
        return [self._local(at_us, job, tz) for at_us in sorted(times_us) if at_us <= self.clock.now_us()]

    def next_fires(self, job: str, count: int = 5, tz: str | None = None) -> list[str]:
        """Where its schedule leads from here."""
        found = self.engine.find(job).next_fires(self.clock.now_us(), count)
        return [self._local(at_us, job, tz) for at_us in found]

    def runs(self, job: str | None = None, state: str | None = None) -> list[RunWithAttempts]:
        """All runs, or those of one job or state, in the order in which they were made; each with its attempts."""
        found = [present.run(self.engine, key) for key in self.engine.made if job is None or self._is(key, job)]
        return [run for run in found if state in (None, run.state)]

    def run(self, run: str) -> RunWithAttempts:
        return present.run(self.engine, parse_run(run))

    def dead(self, job: str | None = None) -> list[RunWithAttempts]:
        return self.runs(job, "dead")

    def result(self, run: str) -> Any:
        """The result of the run, as JSON; raises as `run.result()` does."""
        found = self.run(run)
        if found.state != "succeeded":
            raise run_ended(found.id, found.state, found.why, found.error)
        assert found.attempts
        return found.attempts[-1].result

    # inside

    def is_running(self) -> bool:
        return self._loop.is_running()

    def interrupt(self) -> None:
        """A task has asked for something that may be due before anything else is."""
        if self._loop.is_running():
            self._loop.stop()

    def _advance(self, until_us: int) -> None:
        if self._moving:
            raise RuntimeError("a task cannot move the clock that it runs on")
        self._moving = True
        try:
            while True:
                self._start_what_is_due()
                next_us = None if self.engine.down else self.engine.next_us()
                if next_us is not None and next_us <= self.clock.now_us():
                    continue
                if self.clock.now_us() >= until_us:
                    return
                self._loop.run_until(until_us if next_us is None else min(until_us, next_us))
        finally:
            self._moving = False

    def _start_what_is_due(self) -> None:
        """Until nothing more happens at this moment."""
        while True:
            for grant_id, live in self.engine.tick():
                self._work.start(grant_id, live, self.engine.policies[live.policy_id])
            self._loop.run_ready()
            if not self.engine.has_more_to_do:
                return

    def _outside_of_loops(self, step: Callable[[], None]) -> None:
        """Here; or, in an async test, on a thread beside its loop, since no thread runs two."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            step()
            return
        failures: list[BaseException] = []

        def guarded() -> None:
            try:
                step()
            except BaseException as error:
                failures.append(error)

        thread = threading.Thread(target=guarded)
        thread.start()
        thread.join()
        if failures:
            raise failures[0]

    def _exchange(self, holder: object, name: str, value: Any) -> None:
        self._restore.append((holder, name, getattr(holder, name)))
        setattr(holder, name, value)

    def _is(self, key: RunKey, job: str) -> bool:
        return self.engine.names[key[0]] == job

    def _local(self, at_us: int, job: str, tz: str | None) -> str:
        if tz is None:
            specs = [planned.spec.schedule for planned in self.engine.jobs.values() if planned.spec.name == job]
            tz = next((getattr(spec, "tz", None) for spec in specs), None) or "UTC"
        moment = datetime.fromtimestamp(at_us // SECOND_US, zone(tz)).replace(microsecond=at_us % SECOND_US)
        precise = "microseconds" if moment.microsecond else "seconds" if moment.second else "minutes"
        text = moment.isoformat(timespec=precise)
        return text.removesuffix("+00:00") + "Z" if tz == "UTC" else text


def _moment(given: datetime | str) -> datetime:
    moment = datetime.fromisoformat(given) if isinstance(given, str) else given
    if moment.tzinfo is None:
        raise ValueError(f"{given!r} has no time zone: add Z or an offset")
    return moment


def _length(duration: timedelta | None, parts: dict[str, float]) -> timedelta:
    return (duration or timedelta()) + timedelta(**parts)
