# Made from ../calls.py by tools/make_sync.py (`make sync`): change it there.
"""The calls of an app and its tasks to the server."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Generic, Literal, ParamSpec, Self, TypeVar

import msgspec

from noonmark.client.definition import Definition
from noonmark.client.sync.client import SyncClient
from noonmark.client.sync.handle import SyncRunHandle
from noonmark.client.sync.jobs import SyncJobs
from noonmark.errors import DuplicateName, Forbidden, NotFound
from noonmark.model.job import DEFAULT_PRIORITY, Misfire
from noonmark.schedule.spec import Manual, ScheduleSpec
from noonmark.schedule.text import read_schedule
from noonmark.wire.resources import Job, JobPatch, JobSpec, Submission

P = ParamSpec("P")
V = TypeVar("V")


class SyncAppCalls:
    def __init__(self, server: str, token: str | None, tenant: str | None, tasks: Mapping[str, Definition]) -> None:
        self.client = SyncClient(server, token, tenant)
        self.jobs = SyncJobs(self.client)
        self._known = tasks
        self._declared: frozenset[str] = frozenset()
        self._standing: set[str] = set()

    def handle(self, run_id: str) -> SyncRunHandle[Any]:
        """A run that was asked for earlier, to wait for and to ask about."""
        return self.client.handle(run_id)

    def declare(self) -> None:
        """Tells the server the names of the tasks, once per process and again when there are more."""
        names = frozenset(self._known)
        if names != self._declared:
            self.client.declare_tasks(sorted(names))
            self._declared = names

    def stand_up(self, task: Definition) -> None:
        """Makes the standing job of a task, once per process; one that is there already is brought up to date."""
        if task.name in self._standing:
            return
        try:
            self._stand_up(task)
        except Forbidden as refused:
            # A key that may start runs but not make jobs will do, if another caller has made this one.
            try:
                self.client.get_job(task.standing_job)
            except NotFound:
                raise refused from None
        self._standing.add(task.name)

    def _stand_up(self, task: Definition) -> None:
        self.declare()
        spec = JobSpec(
            name=task.standing_job,
            task=task.name,
            schedule=Manual(),
            queue=task.queue,
            timeout_s=task.timeout_s,
            retry=task.retry,
        )
        try:
            self.client.create_job(spec)
        except DuplicateName:
            job = self.client.get_job(task.standing_job)
            if (job.task, job.queue, job.timeout_s, job.retry) != (task.name, task.queue, task.timeout_s, task.retry):
                patch = JobPatch(task=task.name, queue=task.queue, timeout_s=task.timeout_s, retry=task.retry)
                self.client.update_job(task.standing_job, patch)

    def close(self) -> None:
        self.client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class SyncTaskCalls(Generic[P, V]):
    def __init__(self, app: SyncAppCalls, task: Definition) -> None:
        self._calls = app
        self._task = task

    def submit(self, *args: P.args, **kwargs: P.kwargs) -> SyncRunHandle[V]:
        """Run it now, with these arguments, on some worker."""
        return (self._submit([self._task.signature.bind(args, kwargs)], None, None))[0]

    def submit_at(self, moment: datetime, *args: P.args, **kwargs: P.kwargs) -> SyncRunHandle[V]:
        """Run it at a time, which may lie years ahead."""
        return (self._submit([self._task.signature.bind(args, kwargs)], moment, None))[0]

    def submit_many(
        self, inputs: Sequence[Any], *, at: datetime | None = None, priority: int | None = None
    ) -> list[SyncRunHandle[V]]:
        """One run for each input: what `bind` gives, an object for keyword arguments, or a list for positional ones.

        All are checked before any is sent.
        """
        return self._submit([self._task.signature.check_input(input) for input in inputs], at, priority)

    def schedule(
        self,
        schedule: ScheduleSpec | str,
        *,
        name: str | None = None,
        input: Any = None,
        priority: int = DEFAULT_PRIORITY,
        misfire: Misfire | None = None,
        jitter_s: float = 0.0,
        start_deadline_s: float | None = None,
        delivery: Literal["at_least_once", "at_most_once"] = "at_least_once",
    ) -> Job:
        """Makes a job of this task; its name defaults to the task's. `DuplicateName` if the tenant has that name.

        The schedule may be one string in any form: `"every weekday at 9:30"`, `"TZ=Europe/Berlin 0 9 * * *"`. The input
        is what `bind` gives, an object for keyword arguments, or a list for positional ones; it must fit the task.
        """
        task = self._task
        spec = JobSpec(
            name=name or task.name,
            task=task.name,
            schedule=read_schedule(schedule) if isinstance(schedule, str) else schedule,
            input=task.signature.check_input(input),
            queue=task.queue,
            priority=priority,
            timeout_s=task.timeout_s,
            start_deadline_s=start_deadline_s,
            retry=task.retry,
            delivery=delivery,
            misfire=misfire or Misfire(),
            jitter_s=jitter_s,
        )
        self._calls.declare()
        return self._calls.client.create_job(spec)

    def handle(self, run_id: str) -> SyncRunHandle[V]:
        """A run of this task that was asked for earlier."""
        return self._calls.client.handle(run_id, self._task.signature.result)

    def _submit(self, inputs: list[msgspec.Raw], at: datetime | None, priority: int | None) -> list[SyncRunHandle[V]]:
        if at is not None and at.tzinfo is None:
            raise ValueError("at: a time needs a time zone")
        self._calls.stand_up(self._task)
        job = self._task.standing_job
        runs = [Submission(job=job, input=raw, at=at, priority=priority) for raw in inputs]
        return [self.handle(run_id) for run_id in self._calls.client.submit(runs)]
