"""Runs attempts in the test's process: async functions on the virtual loop, blocking ones at once and inline.

A blocking function takes no time of the virtual clock, unless the test says how long it takes. As on a worker, an
attempt that takes longer than its timeout is cancelled, and an exception in a function ends only its own attempt.
"""

import asyncio
import contextvars
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from noonmark.app import Task
from noonmark.client.current import CURRENT, Context
from noonmark.clock import SettableClock
from noonmark.model.ids import RunKey
from noonmark.model.policy import Policy
from noonmark.model.reason import Outcome
from noonmark.shard.live_run import LiveRun
from noonmark.testing.loop import VirtualLoop
from noonmark.wire.worker import ReportItem
from noonmark.worker.invoke import Ending, call, failed, succeeded


class Work:
    def __init__(
        self,
        tasks: Mapping[str, Task[..., Any, Any]],
        clock: SettableClock,
        loop: VirtualLoop,
        report: Callable[[ReportItem], None],
    ) -> None:
        self._tasks = tasks
        self._clock = clock
        self._loop = loop
        self._report = report
        self._running: dict[RunKey, asyncio.Task[None]] = {}
        self._stopped: dict[RunKey, Outcome] = {}
        self.durations_s: dict[str, float] = {}

    def start(self, grant_id: int, live: LiveRun, policy: Policy) -> None:
        started_us = self._clock.now_us()
        attempt = Context(
            policy.task, live.job_id, live.nominal_us, live.attempt + 1, live.due_us, policy.retry.max_attempts
        )
        key, text = live.key, live.input
        task = self._tasks.get(policy.task)
        takes_s = self.durations_s.get(policy.task, 0.0)

        def end(ending: Ending) -> None:
            self._report(
                ReportItem(
                    grant_id, key[0], key[1], attempt.attempt, ending.outcome, started_us, self._clock.now_us(),
                    ending.error_type, ending.error, ending.result,
                )
            )  # fmt: skip

        if task is None:
            end(Ending(Outcome.FAILED, "noonmark.UnknownTask UnknownTask", f"this app has no task {policy.task!r}"))
            return
        if not takes_s and not inspect.iscoroutinefunction(task.function):
            end(_call_inline(task, attempt, text))
            return
        context = contextvars.copy_context()
        context.run(CURRENT.set, attempt)
        running = self._run(key, task, attempt, text, takes_s, policy.timeout_s, end)
        self._running[key] = self._loop.create_task(running, context=context)

    def cancel(self, key: RunKey) -> None:
        running = self._running.get(key)
        if running is not None:
            self._stopped[key] = Outcome.CANCELLED
            running.cancel()

    async def _run(
        self,
        key: RunKey,
        task: Task[..., Any, Any],
        attempt: Context,
        text: str | None,
        takes_s: float,
        timeout_s: float,
        end: Callable[[Ending], None],
    ) -> None:
        try:
            async with asyncio.timeout(timeout_s):
                ending = await _call(task, attempt, text)
                await asyncio.sleep(takes_s)
        except TimeoutError:
            ending = Ending(Outcome.TIMED_OUT, error=f"it ran longer than its timeout of {timeout_s} s")
        except asyncio.CancelledError:
            ending = Ending(self._stopped.pop(key, Outcome.RELEASED))
        del self._running[key]
        end(ending)
        self._loop.stop()


async def _call(task: Task[..., Any, Any], attempt: Context, text: str | None) -> Ending:
    if not inspect.iscoroutinefunction(task.function):
        return _call_inline(task, attempt, text)
    try:
        return succeeded(await call(task.function, text, task.convert))
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return failed(error, own_frames=1)


def _call_inline(task: Task[..., Any, Any], attempt: Context, text: str | None) -> Ending:
    def run() -> Ending:
        CURRENT.set(attempt)
        try:
            return succeeded(call(task.function, text, task.convert))
        except BaseException as error:
            return failed(error, own_frames=2)

    return contextvars.copy_context().run(run)
