"""One attempt as the worker holds it, from the grant until its end is reported."""

import asyncio
from typing import TYPE_CHECKING, Any

from noonmark.client.current import Context
from noonmark.model.reason import Outcome
from noonmark.wire.worker import ReportItem, RunGrant, Terms

if TYPE_CHECKING:
    from noonmark.app import Task
    from noonmark.worker.processes import TaskProcess


class TaskAttempt(Context):
    """Waiting, then running, then ended. `fate` is a decision from outside while it ran.

    A fate of TIMED_OUT, CANCELLED or RELEASED is reported in place of the function's own end; LOST means that another
    worker has the run by now, and nothing is reported.
    """

    __slots__ = (
        "child",
        "deadline_s",
        "fate",
        "future",
        "grant",
        "has_slot",
        "input",
        "offered_s",
        "reported",
        "started_us",
        "task",
        "timeout_s",
    )

    def __init__(
        self, grant: int, run: RunGrant, terms: Terms, task: "Task[..., Any, Any] | None", offered_s: float
    ) -> None:
        self.task_name = terms.task
        self.job = run.job_id
        self.nominal_us = run.nominal_us
        self.attempt = run.attempt
        self.due_us = run.due_us
        self.max_attempts = terms.max_attempts
        self._stop = False
        self.heeded = False
        self.grant = grant
        self.task = task
        self.input = run.input
        self.timeout_s = terms.timeout_s
        self.offered_s = offered_s
        self.deadline_s = 0.0
        self.started_us: int | None = None
        self.fate: Outcome | None = None
        self.reported = False
        self.has_slot = False
        self.future: asyncio.Task[None] | None = None
        self.child: TaskProcess | None = None

    def item(
        self,
        outcome: Outcome,
        finished_us: int,
        error_type: str | None = None,
        error: str | None = None,
        result: str | None = None,
    ) -> ReportItem:
        return ReportItem(
            self.grant,
            self.job,
            self.nominal_us,
            self.attempt,
            outcome,
            self.started_us,
            finished_us,
            error_type,
            error,
            result,
        )
