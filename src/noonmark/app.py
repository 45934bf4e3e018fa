"""An application: its tasks, and how to have them run. `module:app` names one on a worker's command line."""

import inspect
import os
from collections.abc import Callable, Coroutine
from functools import cached_property
from typing import Any, Generic, Literal, ParamSpec, Protocol, TypeVar, overload

import msgspec

from noonmark.client.calls import AppCalls, TaskCalls
from noonmark.client.client import DEFAULT_SERVER
from noonmark.client.definition import Definition, Mode
from noonmark.client.sync.calls import SyncAppCalls, SyncTaskCalls
from noonmark.errors import DuplicateName
from noonmark.model.policy import Retry

P = ParamSpec("P")
R = TypeVar("R")
V = TypeVar("V")


class Task(Definition, TaskCalls[P, V], Generic[P, R, V]):
    """A function that workers can run. Calling it calls the function, here and now.

    Submissions are runs of a standing job named `task:<name>` that only runs when asked to; the SDK makes it once.
    Code without an event loop asks the same of `task.sync`.
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
        Definition.__init__(self, function, name, mode, queue, timeout_s, retry)
        TaskCalls.__init__(self, app, self)
        self.app = app
        self.__doc__ = function.__doc__
        self.__name__ = getattr(function, "__name__", name)
        self.__wrapped__ = function

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        result: R = self.function(*args, **kwargs)
        return result

    def __repr__(self) -> str:
        return f"<Task {self.name} ({self.mode})>"

    def bind(self, *args: P.args, **kwargs: P.kwargs) -> msgspec.Raw:
        """The input that stands for these arguments, for `schedule(input=…)` and `submit_many`; TypeError if none."""
        return self.signature.bind(args, kwargs)

    @cached_property
    def sync(self) -> SyncTaskCalls[P, V]:
        """The same calls for code without an event loop: `task.sync.submit(…)`. Threads may share it."""
        return SyncTaskCalls(self.app.sync, self)


class App(AppCalls):
    """A set of tasks, and the server that knows their jobs."""

    def __init__(self, server: str | None = None, token: str | None = None, tenant: str | None = None) -> None:
        self.server = server or os.environ.get("NOONMARK_SERVER") or DEFAULT_SERVER
        self.token = token or os.environ.get("NOONMARK_TOKEN")
        self.tenant = tenant
        self.tasks: dict[str, Task[..., Any, Any]] = {}
        super().__init__(self.server, self.token, tenant, self.tasks)

    @cached_property
    def sync(self) -> SyncAppCalls:
        """The same calls for code without an event loop: `app.sync.jobs.get(…)`. Threads may share it."""
        return SyncAppCalls(self.server, self.token, self.tenant, self.tasks)

    @overload
    def task(self, function: Callable[P, Coroutine[Any, Any, V]], /) -> Task[P, Coroutine[Any, Any, V], V]: ...

    @overload
    def task(self, function: Callable[P, R], /) -> Task[P, R, R]: ...

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
    ) -> "Registrar": ...

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

        def register(function: Callable[..., Any]) -> Task[..., Any, Any]:
            title = name or function.__name__
            if title in self.tasks:
                raise DuplicateName(f"this app has a task named {title!r} already", field="name", fix="pass name=…")
            is_async = inspect.iscoroutinefunction(function)
            if mode == "async" and not is_async:
                raise TypeError(f"{title}: mode='async' needs an async function")
            if mode == "thread" and is_async:
                raise TypeError(f"{title}: an async function runs in mode 'async' or 'process'")
            chosen: Mode = mode if mode != "auto" else ("async" if is_async else "thread")
            task: Task[..., Any, Any] = Task(self, function, title, chosen, queue, timeout_s, retry or Retry())
            self.tasks[title] = task
            return task

        return register if function is None else register(function)


class Registrar(Protocol):
    """The type of `@app.task(…)`: it turns the function under it into a task."""

    @overload
    def __call__(self, function: Callable[P, Coroutine[Any, Any, V]], /) -> Task[P, Coroutine[Any, Any, V], V]: ...

    @overload
    def __call__(self, function: Callable[P, R], /) -> Task[P, R, R]: ...
