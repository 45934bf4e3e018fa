"""The attempt that a task is part of: `context()`."""

from contextvars import ContextVar
from datetime import datetime

from noonmark.clock import to_datetime
from noonmark.model.ids import job_text, run_text


class Context:
    """The current attempt. The same run keeps its `run_id` over all attempts; `attempt` grows with each."""

    __slots__ = ("_stop", "attempt", "due_us", "heeded", "job", "max_attempts", "nominal_us", "task_name")

    def __init__(self, task_name: str, job: int, nominal_us: int, attempt: int, due_us: int, max_attempts: int) -> None:
        self.task_name = task_name
        self.job = job
        self.nominal_us = nominal_us
        self.attempt = attempt
        """The fencing number: a store that remembers the highest one seen can refuse an older, late attempt."""
        self.due_us = due_us
        self.max_attempts = max_attempts
        self._stop = False
        self.heeded = False
        """Whether the function saw that it should stop."""

    @property
    def cancelled(self) -> bool:
        """For blocking functions: true once the attempt was cancelled, timed out or lost. Return when you see it."""
        self.heeded = self._stop
        return self._stop

    def cancel(self) -> None:
        """Called by the worker."""
        self._stop = True

    @property
    def run_id(self) -> str:
        return run_text((self.job, self.nominal_us))

    @property
    def job_id(self) -> str:
        return job_text(self.job)

    @property
    def idempotency_key(self) -> str:
        """Stable over all attempts of the run: pass it to systems that drop duplicates."""
        return self.run_id

    @property
    def nominal_at(self) -> datetime:
        return to_datetime(self.nominal_us)

    @property
    def due_at(self) -> datetime:
        return to_datetime(self.due_us)


CURRENT: ContextVar[Context] = ContextVar("noonmark_context")


def context() -> Context:
    """The context of the attempt that this code runs in; works in async functions, threads and processes."""
    try:
        return CURRENT.get()
    except LookupError:
        raise RuntimeError("context() was called outside of a task's run") from None
