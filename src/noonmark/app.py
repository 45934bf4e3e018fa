"""An application: its tasks, and how to have them run. What `module:app` names on a worker's command line."""

import inspect
import os
from collections.abc import Callable, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Generic, Literal, ParamSpec, Self, TypeVar, overload

import msgspec

from noonmark.client.client import DEFAULT_SERVER, Client
from noonmark.errors import DuplicateName
from noonmark.model.job import DEFAULT_PRIORITY, Misfire
from noonmark.model.policy import Retry
from noonmark.schedule.spec import Manual, ScheduleSpec
from noonmark.schedule.text import read_schedule
from noonmark.when import at as at_time
from noonmark.wire.resources import Job, JobPatch, JobSpec, Submission

Mode = Literal["async", "thread", "process"]
P = ParamSpec("P")
R = TypeVar("R")


def _raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


class Task(Generic[P, R]):
    """A function that workers can run. Calling it calls the function, here and now.

    Submissions are runs of a standing job named `task:<name>` that only runs when asked to; the SDK makes it once.
    Blocking code can use `asyncio.run(task.submit(...))`.
    """

    def __init__(
        self,
        app: "App",
        function: Callable[P, R],
        name: str,
        mode: Mode,
        queue: str,
        timeout_s: float,
        retry: Retry,
    ) -> None:
        self.app = app
        self.function = function
        self.name = name
        self.mode: Mode = mode
        self.queue = queue
        self.timeout_s = timeout_s
        self.retry = retry
        self.__doc__ = function.__doc__
        self.__name__ = getattr(function, "__name__", name)
        self.__wrapped__ = function

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<Task {self.name} ({self.mode})>"

    @property
    def standing_job(self) -> str:
        return f"task:{self.name}"

    async def submit(self, *args: P.args, **kwargs: P.kwargs) -> str:
        """Run it now, with these arguments, on some worker. Returns the run's id."""
        return (await self._submit([self._bound(args, kwargs)], None, None))[0]

    async def submit_at(self, moment: datetime, *args: P.args, **kwargs: P.kwargs) -> str:
        """Run it at a time, which may lie years ahead."""
        at_time(moment)
        return (await self._submit([self._bound(args, kwargs)], moment, None))[0]

    async def submit_many(
        self, inputs: Sequence[Any], *, at: datetime | None = None, priority: int | None = None
    ) -> list[str]:
        """One run for each input: an object for keyword arguments, a list for positional ones, None for neither."""
        return await self._submit([_raw(input) for input in inputs], at, priority)

    async def schedule(
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

        The schedule may be one string in any form: `"every weekday at 9:30"`, `"TZ=Europe/Berlin 0 9 * * *"`.
        """
        await self.app.declare()
        spec = JobSpec(
            name=name or self.name,
            task=self.name,
            schedule=read_schedule(schedule) if isinstance(schedule, str) else schedule,
            input=_raw(input),
            queue=self.queue,
            priority=priority,
            timeout_s=self.timeout_s,
            start_deadline_s=start_deadline_s,
            retry=self.retry,
            delivery=delivery,
            misfire=misfire or Misfire(),
            jitter_s=jitter_s,
        )
        return await self.app.client.create_job(spec)

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> msgspec.Raw:
        inspect.signature(self.function).bind(*args, **kwargs)
        if args and kwargs:
            raise TypeError(f"{self.name}: submit takes positional or keyword arguments, not both")
        return _raw(kwargs or (list(args) if args else None))

    async def _submit(self, inputs: list[msgspec.Raw], at: datetime | None, priority: int | None) -> list[str]:
        await self.app.stand_up(self)
        job = self.standing_job
        return await self.app.client.submit(
            [Submission(job=job, input=raw, at=at, priority=priority) for raw in inputs]
        )


class App:
    """A set of tasks, and the server that knows their jobs."""

    def __init__(self, server: str | None = None, token: str | None = None, tenant: str = "default") -> None:
        self.server = server or os.environ.get("NOONMARK_SERVER") or DEFAULT_SERVER
        self.token = token or os.environ.get("NOONMARK_TOKEN")
        self.tenant = tenant
        self.tasks: dict[str, Task[..., Any]] = {}
        self.client = Client(self.server, self.token, tenant)
        self._declared: frozenset[str] = frozenset()
        self._standing: set[str] = set()

    @overload
    def task(self, function: Callable[P, R], /) -> Task[P, R]: ...

    @overload
    def task(
        self,
        /,
        *,
        name: str | None = None,
        queue: str = "default",
        timeout_s: float = 3600.0,
        retry: Retry | None = None,
        mode: Literal["auto", "async", "thread", "process"] = "auto",
    ) -> Callable[[Callable[P, R]], Task[P, R]]: ...

    def task(
        self,
        function: Callable[..., Any] | None = None,
        /,
        *,
        name: str | None = None,
        queue: str = "default",
        timeout_s: float = 3600.0,
        retry: Retry | None = None,
        mode: Literal["auto", "async", "thread", "process"] = "auto",
    ) -> Any:
        """Makes a function a task. Coroutine functions run on the event loop, others in threads, unless `mode` says."""

        def register(function: Callable[..., Any]) -> Task[..., Any]:
            title = name or function.__name__
            if title in self.tasks:
                raise DuplicateName(f"this app has a task named {title!r} already", field="name", fix="pass name=…")
            is_async = inspect.iscoroutinefunction(function)
            if mode == "async" and not is_async:
                raise TypeError(f"{title}: mode='async' needs an async function")
            if mode == "thread" and is_async:
                raise TypeError(f"{title}: an async function runs in mode 'async' or 'process'")
            chosen: Mode = mode if mode != "auto" else ("async" if is_async else "thread")
            task = Task(self, function, title, chosen, queue, timeout_s, retry or Retry())
            self.tasks[title] = task
            return task

        return register if function is None else register(function)

    async def declare(self) -> None:
        """Tells the server the names of the tasks, once per process and again when there are more."""
        names = frozenset(self.tasks)
        if names != self._declared:
            await self.client.declare_tasks(sorted(names))
            self._declared = names

    async def stand_up(self, task: Task[..., Any]) -> None:
        """Makes the standing job of a task, once per process; one that is there already is brought up to date."""
        if task.name in self._standing:
            return
        await self.declare()
        spec = JobSpec(
            name=task.standing_job,
            task=task.name,
            schedule=Manual(),
            queue=task.queue,
            timeout_s=task.timeout_s,
            retry=task.retry,
        )
        try:
            await self.client.create_job(spec)
        except DuplicateName:
            job = await self.client.get_job(task.standing_job)
            if (job.task, job.queue, job.timeout_s, job.retry) != (task.name, task.queue, task.timeout_s, task.retry):
                patch = JobPatch(task=task.name, queue=task.queue, timeout_s=task.timeout_s, retry=task.retry)
                await self.client.update_job(task.standing_job, patch)
        self._standing.add(task.name)

    async def close(self) -> None:
        await self.client.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
