"""Refuses a wrong request, naming the field and the fix, before anything is sent or stored.

All items of a batch are checked on the node that received it, so a bad one changes nothing anywhere. Long batches are
checked in turns: the node's other work goes on between them.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TypeVar

import msgspec

from noonmark import schedule
from noonmark.clock import NEVER_US, SECOND_US, from_datetime
from noonmark.errors import InvalidInput
from noonmark.model.job import check_input, check_labels, check_name, check_policy, check_priority
from noonmark.model.policy import Policy
from noonmark.store.connect import Pool
from noonmark.store.reads.fleet import fetch_tasks
from noonmark.wire.resources import JobPatch, JobSpec, Submission

ID_PREFIX = "job_"
_TAKEN = frozenset({"batch", "bulk"})
"""Paths of the API beside the jobs."""
_TURN = 100
_MAX_NO_RETRY = 100
_MAX_TASKS_KEPT = 100_000

Item = TypeVar("Item")


class Validator:
    """The checks that need to know something: the declared tasks, and the time."""

    def __init__(self, pool: Callable[[], Pool]) -> None:
        self._pool = pool
        self._tasks: set[str] = set()

    async def check_jobs(
        self, specs: Sequence[JobSpec], now_us: int, path: str, standing: Mapping[str, JobSpec] | None = None
    ) -> None:
        """`path` is where item i stands in the body: `jobs[{}].`, or nothing for a single job.

        `standing` are definitions that jobs have now, by name: a time that has passed meanwhile is no fault of theirs.
        """
        known = standing or {}
        await self.learn_tasks({spec.task for spec in specs})
        schedules: set[tuple[schedule.ScheduleSpec, float]] = set()
        names: set[str] = set()
        async for position, spec in in_turns(specs):
            with _within(path.format(position)):
                check_job_name(spec.name)
                if spec.name in names:
                    raise InvalidInput(
                        "name", f"{spec.name!r} stands in this batch twice", "give each job its own name"
                    )
                names.add(spec.name)
                self.check_spec(spec)
                timing = (spec.schedule, spec.jitter_s)
                has = known.get(spec.name)
                if timing not in schedules and (has is None or timing != (has.schedule, has.jitter_s)):
                    check_schedule(spec.schedule, now_us, spec.jitter_s, spec.name)
                    schedules.add(timing)

    async def check_patch(self, current: JobSpec, patch: JobPatch, now_us: int) -> None:
        changed = patch.applied_to(current)
        await self.learn_tasks({changed.task})
        self.check_spec(changed)
        # A time that has passed since the job was made is no fault of this change.
        if (changed.schedule, changed.jitter_s) != (current.schedule, current.jitter_s):
            check_schedule(changed.schedule, now_us, changed.jitter_s, changed.name)

    def check_spec(self, spec: JobSpec) -> None:
        check_policy(spec.policy())
        if len(spec.retry.no_retry) > _MAX_NO_RETRY or any(not 0 < len(name) <= 200 for name in spec.retry.no_retry):
            raise InvalidInput("retry.no_retry", "too many or too long", f"use up to {_MAX_NO_RETRY} names of 1 to 200")
        if spec.task not in self._tasks:
            raise InvalidInput(
                "task",
                f"no worker or client has declared the task {spec.task!r}",
                "start a worker that has it, or declare it: PUT /v1/tasks",
            )
        check_priority(spec.priority)
        check_labels(spec.labels)
        check_json_input(spec.input)

    async def learn_tasks(self, names: set[str]) -> None:
        """Known tasks stay known; only those that were never seen are asked for."""
        # A name that cannot be stored was never declared, and cannot even be looked up.
        if unknown := {name for name in names - self._tasks if "\0" not in name}:
            if len(self._tasks) > _MAX_TASKS_KEPT:
                self._tasks.clear()
                unknown = {name for name in names if "\0" not in name}
            self._tasks |= await fetch_tasks(self._pool(), unknown)

    async def check_submissions(self, submissions: Sequence[Submission], now_us: int, path: str) -> None:
        for position, submission in enumerate(submissions):
            if position % _TURN == _TURN - 1:
                await asyncio.sleep(0)
            try:
                check_submission(submission, now_us)
            except InvalidInput as error:
                error.field = path.format(position) + (error.field or "")
                raise


def check_submission(submission: Submission, now_us: int) -> None:
    if submission.at is not None:
        check_at("at", submission.at, now_us)
    if submission.priority is not None:
        check_priority(submission.priority)
    if submission.dedup_key is not None:
        check_dedup_key(submission.dedup_key)
    if submission.input is not msgspec.UNSET:
        check_json_input(submission.input)


def check_job_name(name: str) -> None:
    check_name("name", name)
    if name.startswith(ID_PREFIX):
        raise InvalidInput("name", f"a name cannot begin with {ID_PREFIX}, as ids do", "choose another name")
    if name in _TAKEN:
        raise InvalidInput("name", f"/v1/jobs/{name} is no job", "choose another name")


def check_dedup_key(key: str) -> None:
    if not key.isprintable():
        raise InvalidInput("dedup_key", "it holds characters that cannot be printed", "use any others, up to 200")


def check_tasks(names: Iterable[str]) -> None:
    for position, name in enumerate(names):
        try:
            check_policy(Policy(task=name))
        except InvalidInput as error:
            error.field = f"tasks[{position}]"
            raise


def check_schedule(spec: schedule.ScheduleSpec, now_us: int, jitter_s: float, name: str) -> None:
    """The name stands in for the key of any H: whether a schedule can be meant is the same for every key."""
    if isinstance(spec, schedule.At):
        check_at("schedule.at", spec.at, now_us)
    else:
        schedule.validate(spec, now_us, jitter_s, name)


def check_at(field: str, at: datetime, now_us: int) -> None:
    """A second of grace, for a caller whose clock or connection is a little slow."""
    if at.utcoffset() is None:
        raise InvalidInput(field, "the time has no zone", "add an offset, such as Z or +02:00")
    at_us = from_datetime(at)
    if at_us < now_us - SECOND_US:
        raise InvalidInput(field, f"{at.isoformat()} is in the past", "use a later time, or leave it out to run now")
    if at_us >= NEVER_US:
        raise InvalidInput(field, f"{at.isoformat()} is too far away", "use a time before the end of the year 9999")


def check_json_input(raw: msgspec.Raw) -> None:
    """`Raw` was skipped over, not read: before it is stored it must prove to be JSON."""
    try:
        text = bytes(raw).decode()
        check_input(text)
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput("input", f"it is not JSON that can be kept: {error}", "send a JSON value") from None


async def in_turns(items: Sequence[Item]) -> AsyncIterator[tuple[int, Item]]:
    for position, item in enumerate(items):
        if position % _TURN == _TURN - 1:
            await asyncio.sleep(0)
        yield position, item


@contextmanager
def _within(path: str) -> Iterator[None]:
    try:
        yield
    except InvalidInput as error:
        error.field = path + (error.field or "")
        raise
