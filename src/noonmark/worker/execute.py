"""Carries out attempts, each in the way of its task, never more than the worker has slots.

States of an attempt: *waiting* (claimed, no slot yet), *running* (has a slot and a deadline), *stopping* (told to end:
timed out, cancelled, lost or released), *ended*.

Invariants:
1. Every attempt that was offered is reported exactly once, or its grant was lost and it is not reported at all.
2. `running` counts the attempts that have a slot and is never above `slots`. A slot is freed when the function has
   really ended, even if its end was reported long before. Only threads that hang after their timeout give theirs back
   early, and only `spare_threads` of them at a time.
3. An exception in a function, also SystemExit and KeyboardInterrupt, ends only its own attempt.
4. A waiting attempt that found no slot within `PATIENCE_S` is handed back.
5. An attempt is reported without `started_us` only if its function was not called and never will be: because of
   that report alone, a run that may begin at most once is given to another worker.
6. A task is cancelled only after its first step, because asyncio would otherwise drop it without running our code.

All methods are called on the event loop's thread. Nothing here waits or does I/O; `tick()` is called every `TICK_S`.
"""

import asyncio
import contextvars
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import structlog

from noonmark.app import Task
from noonmark.client.current import CURRENT
from noonmark.clock import MonotonicClock
from noonmark.model.reason import Outcome
from noonmark.wire.worker import ClaimAnswer, ReportItem
from noonmark.worker.attempt import TaskAttempt
from noonmark.worker.counters import Counters
from noonmark.worker.invoke import Ending, call, failed, succeeded
from noonmark.worker.processes import Processes
from noonmark.worker.threads import Threads

PATIENCE_S = 0.5
ABANDON_S = 2.0
"""How long a cancelled async function may take to end before its timeout is reported without it."""
TICK_S = 0.1

_log = structlog.get_logger("noonmark.worker")


class Executor:
    def __init__(
        self,
        *,
        tasks: Mapping[str, Task[..., Any, Any]],
        clock: MonotonicClock,
        slots: int,
        processes: int,
        spare_threads: int,
        counters: Counters,
        report: Callable[[ReportItem], None],
    ) -> None:
        self._tasks = tasks
        self._clock = clock
        self._slots = slots
        self._spare_threads = spare_threads
        self._counters = counters
        self._report = report
        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()
        """Every attempt gets a copy of this context, so that none sees the variables of another."""
        self._threads = Threads()
        modules = sorted({task.function.__module__ for task in tasks.values() if task.mode == "process"})
        self._processes = Processes(processes, modules, self._ended, self._pump)
        self._waiting: deque[TaskAttempt] = deque()
        self._for_process: deque[TaskAttempt] = deque()
        """Waiting for a child process; they let others pass."""
        self._lanes: dict[float, dict[TaskAttempt, None]] = {}
        """Running attempts by timeout: within a lane, the order of starts is the order of deadlines."""
        self._stopping: dict[TaskAttempt, float] = {}
        """When an attempt that was told to end is reported without waiting for it any longer."""
        self._hung_threads = 0
        self.running = 0
        self.finished = 0
        self.handed_back = 0
        self.room = asyncio.Event()
        """Set whenever a slot became free."""

    @property
    def waiting(self) -> int:
        return len(self._waiting) + len(self._for_process)

    @property
    def idle(self) -> bool:
        """Nothing is left that would still be reported."""
        return not (self._waiting or self._for_process or any(not attempt.reported for attempt in self._live()))

    def offer(self, answer: ClaimAnswer, most: int) -> None:
        """Takes over the first `most` runs of a grant and hands the others back at once."""
        offered_s = self._clock.elapsed_s()
        grant, terms = answer.grant, answer.terms
        tasks = {policy_id: self._tasks.get(kind.task) for policy_id, kind in terms.items()}
        attempts = [
            TaskAttempt(grant, run, terms[run.policy_id], tasks[run.policy_id], offered_s) for run in answer.runs
        ]
        for attempt in attempts[most:]:
            self._close(attempt, Ending(Outcome.RELEASED))
        self._waiting.extend(attempts[:most])
        self._pump()

    def cancel(self, keys: Collection[tuple[int, int]]) -> None:
        """Stops these runs: they were cancelled."""
        self._withdraw(lambda attempt: (attempt.job, attempt.nominal_us) in keys, Outcome.CANCELLED)

    def abandon(self, grants: Collection[int]) -> None:
        """These grants are no longer ours."""
        self._withdraw(lambda attempt: attempt.grant in grants, Outcome.LOST)

    def release_waiting(self) -> None:
        """Hands back all that has not started."""
        for queue in (self._waiting, self._for_process):
            while queue:
                self._close(queue.popleft(), Ending(Outcome.RELEASED))

    def release_running(self) -> None:
        """Stops all that runs, to be handed back."""
        self._withdraw(lambda attempt: True, Outcome.RELEASED)

    def tick(self) -> None:
        now_s = self._clock.elapsed_s()
        self._hand_back(now_s)
        for timeout_s, lane in list(self._lanes.items()):
            overdue = []
            for attempt in lane:
                if attempt.deadline_s > now_s:
                    break
                overdue.append(attempt)
            for attempt in overdue:
                self._stop(attempt, Outcome.TIMED_OUT)
            if not lane:
                del self._lanes[timeout_s]
        for attempt in [attempt for attempt, until_s in self._stopping.items() if until_s <= now_s]:
            self._give_up_on(attempt)
        self._processes.tick()
        self._pump()

    async def close(self) -> int:
        """Ends all that can be ended, and answers how many functions go on all the same."""
        self._waiting.clear()
        self._for_process.clear()
        self._withdraw(lambda attempt: not attempt.reported, Outcome.LOST)
        self._processes.close()
        self._threads.close()
        if futures := [attempt.future for attempt in self._live() if attempt.future is not None]:
            await asyncio.wait(futures, timeout=TICK_S)
        return sum(1 for _ in self._live())

    # starting

    def _pump(self) -> None:
        """Starts waiting attempts as far as there are slots."""
        waiting, for_process, processes = self._waiting, self._for_process, self._processes
        while self.running < self._slots:
            if for_process and processes.ready:
                self._start(for_process.popleft())
            elif waiting:
                attempt = waiting.popleft()
                if attempt.task is not None and attempt.task.mode == "process" and not processes.ready:
                    for_process.append(attempt)
                else:
                    self._start(attempt)
            else:
                break
        if for_process:
            processes.grow(len(for_process))

    def _start(self, attempt: TaskAttempt) -> None:
        task = attempt.task
        if task is None:
            error = f"this worker has no task named {attempt.task_name!r}"
            self._close(attempt, Ending(Outcome.FAILED, "noonmark.UnknownTask UnknownTask", error))
            return
        self.running += 1
        attempt.has_slot = True
        self._counters.started += 1
        attempt.deadline_s = self._clock.elapsed_s() + attempt.timeout_s
        lane = self._lanes.get(attempt.timeout_s)
        if lane is None:
            lane = self._lanes[attempt.timeout_s] = {}
        lane[attempt] = None
        if task.mode == "async":
            attempt.future = self._loop.create_task(self._run_async(attempt, task), context=self._context.copy())
            return
        attempt.started_us = self._clock.now_us()
        if task.mode == "thread":
            self._threads.run(lambda: self._run_in_thread(attempt, task))
        else:
            self._processes.run(attempt)

    async def _run_async(self, attempt: TaskAttempt, task: Task[..., Any, Any]) -> None:
        CURRENT.set(attempt)  # in this asyncio task's own copy of the context
        if attempt.fate is not None:
            self._ended(attempt, Ending(attempt.fate))  # told to end before its first step: it never starts
            return
        attempt.started_us = self._clock.now_us()
        try:
            ending = succeeded(await call(task.function, attempt.input, task.convert))
        except BaseException as error:
            ending = failed(error, own_frames=1)
        self._ended(attempt, ending)

    def _run_in_thread(self, attempt: TaskAttempt, task: Task[..., Any, Any]) -> None:
        def run() -> Ending:
            CURRENT.set(attempt)
            try:
                return succeeded(call(task.function, attempt.input, task.convert))
            except BaseException as error:
                return failed(error, own_frames=2)

        ending = self._context.copy().run(run)
        try:
            self._loop.call_soon_threadsafe(self._ended, attempt, ending)
        except RuntimeError:
            return  # the worker is gone

    # ending

    def _ended(self, attempt: TaskAttempt, ending: Ending) -> None:
        """The function is over."""
        lane = self._lanes.get(attempt.timeout_s)
        if lane is None or attempt not in lane:
            self._stopping.pop(attempt, None)
        else:
            del lane[attempt]
        if attempt.has_slot:
            self.running -= 1
        else:
            self._hung_threads -= 1
        attempt.future = None
        self.finished += 1
        self._close(attempt, ending)
        self.room.set()
        if self._waiting or self._for_process:
            self._pump()

    def _close(self, attempt: TaskAttempt, ending: Ending) -> None:
        """Reports an attempt, unless that was done."""
        if attempt.reported:
            return
        attempt.reported = True
        counters, fate = self._counters, attempt.fate
        if fate is not None and not (fate == Outcome.CANCELLED and _went_through(attempt, ending)):
            if fate == Outcome.LOST:
                counters.lost += 1
                return
            ending = Ending(fate, error=_stop_text(attempt) if fate == Outcome.TIMED_OUT else None)
        if ending.outcome == Outcome.SUCCEEDED:
            counters.succeeded += 1
        else:
            _count(counters, ending.outcome)
        self._report(attempt.item(ending.outcome, self._clock.now_us(), ending.error_type, ending.error, ending.result))

    # stopping

    def _live(self) -> Iterator[TaskAttempt]:
        for lane in self._lanes.values():
            yield from lane
        yield from self._stopping

    def _withdraw(self, chosen: Callable[[TaskAttempt], bool], fate: Outcome) -> None:
        for attempt in [attempt for attempt in self._live() if attempt.fate is None and chosen(attempt)]:
            self._stop(attempt, fate)
        for queue in (self._waiting, self._for_process):
            for attempt in [attempt for attempt in queue if chosen(attempt)]:
                queue.remove(attempt)
                attempt.fate = fate
                self._close(attempt, Ending(fate))

    def _stop(self, attempt: TaskAttempt, fate: Outcome) -> None:
        if attempt.fate not in (Outcome.LOST, Outcome.RELEASED):
            attempt.fate = fate
        attempt.cancel()
        lane = self._lanes.get(attempt.timeout_s, {})
        if fate == Outcome.TIMED_OUT:
            lane.pop(attempt, None)
            self._stopping[attempt] = self._clock.elapsed_s() + ABANDON_S
        if attempt.child is not None:
            attempt.child.kill()
        elif attempt.future is not None:
            if attempt.started_us is not None:
                attempt.future.cancel()
        elif fate == Outcome.TIMED_OUT:
            self._give_up_on(attempt)

    def _give_up_on(self, attempt: TaskAttempt) -> None:
        """Reports an attempt whose function goes on; it cannot be ended from outside."""
        if attempt.reported:
            return
        self._counters.abandoned += 1
        self._stopping[attempt] = float("inf")
        log = _log.bind(task=attempt.task_name, run=attempt.run_id, attempt=attempt.attempt)
        if attempt.future is None and attempt.child is None:
            if self._hung_threads < self._spare_threads:
                self._hung_threads += 1
                attempt.has_slot = False
                self.running -= 1
                self.room.set()
            log.warning("thread_hangs", hung=self._hung_threads, spare=self._spare_threads, has_slot=attempt.has_slot)
        else:
            log.warning("cancellation_ignored", timeout_s=attempt.timeout_s)
        self._close(attempt, Ending(Outcome.TIMED_OUT))

    def give_up(self) -> None:
        """Reports all that was stopped and has not ended, before the worker leaves."""
        for attempt in [attempt for attempt in self._live() if attempt.fate is not None]:
            self._close(attempt, Ending(attempt.fate or Outcome.RELEASED))

    def _hand_back(self, now_s: float) -> None:
        for queue in (self._waiting, self._for_process):
            if queue is self._for_process and self._processes.booting:
                continue
            while queue and queue[0].offered_s < now_s - PATIENCE_S:
                self.handed_back += 1
                self._close(queue.popleft(), Ending(Outcome.RELEASED))


def _count(counters: Counters, outcome: Outcome) -> None:
    name = outcome.name.lower()
    setattr(counters, name, getattr(counters, name) + 1)


def _went_through(attempt: TaskAttempt, ending: Ending) -> bool:
    """Whether a cancelled function finished its work all the same."""
    return ending.outcome == Outcome.SUCCEEDED and not attempt.heeded


def _stop_text(attempt: TaskAttempt) -> str:
    return f"{attempt.task_name} ran longer than its timeout of {attempt.timeout_s:g} s"
