"""Jobs, runs, attempts and dead letters as clients see them (JSON)."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from noonmark.model.job import DEFAULT_PRIORITY, Misfire
from noonmark.model.policy import Policy, Retry
from noonmark.schedule.spec import Manual, ScheduleSpec
from noonmark.schedule.text import read_schedule

NO_INPUT = msgspec.Raw(b"null")
MAX_DEDUP_KEY = 200

if TYPE_CHECKING:
    Schedule = ScheduleSpec
else:
    # In JSON a string will do too. It becomes its spec as it is read, so no other code meets the string.
    Schedule = ScheduleSpec | str


def _read_if_text(holder: "JobSpec | JobPatch") -> None:
    schedule: object = holder.schedule
    if isinstance(schedule, str):
        msgspec.structs.force_setattr(holder, "schedule", read_schedule(schedule))


class JobSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A job's definition, as a caller sends it to create the job or to replace it."""

    name: str
    task: str
    schedule: Schedule = msgspec.field(default_factory=Manual)
    """An object, or one string in any form: `every weekday at 9:30`, `TZ=Europe/Berlin 0 9 * * *`."""
    input: msgspec.Raw = msgspec.field(default_factory=lambda: NO_INPUT)  # no plain default: it has no JSON Schema
    """Any JSON value; the task receives an object as keyword arguments and a list as positional ones."""
    queue: str = "default"
    priority: int = DEFAULT_PRIORITY
    timeout_s: float = 3600.0
    start_deadline_s: float | None = None
    retry: Retry = Retry()
    delivery: Literal["at_least_once", "at_most_once"] = "at_least_once"
    misfire: Misfire = Misfire()
    jitter_s: Annotated[float, msgspec.Meta(ge=0, le=86_400)] = 0.0
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    """Up to 20, to select jobs by: keys of up to 63 a-z 0-9 . _ / -, values of up to 255 characters."""

    def __post_init__(self) -> None:
        _read_if_text(self)

    def policy(self, *, fixed_delay: bool = False) -> Policy:
        """How its runs are carried out; with a fixed delay, each comes after the end of the one before."""
        return Policy(
            task=self.task,
            queue=self.queue,
            timeout_s=self.timeout_s,
            start_deadline_s=self.start_deadline_s,
            retry=self.retry,
            delivery=self.delivery,
            fixed_delay=fixed_delay,
        )


class Job(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str
    tenant: str
    version: int
    state: Literal["active", "paused"]
    task: str
    schedule: ScheduleSpec
    input: msgspec.Raw
    queue: str
    priority: int
    timeout_s: float
    start_deadline_s: float | None
    retry: Retry
    delivery: str
    misfire: Misfire
    jitter_s: float
    next_at: datetime | None
    created_at: datetime
    updated_at: datetime
    canonical: str = ""
    """The schedule as it was understood, in one string; empty from a node that knows no such field yet."""
    description: str = ""
    """The schedule as it was understood, in English."""
    labels: dict[str, str] = msgspec.field(default_factory=dict)


class JobPatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Fields to change; a field that is left out stays as it is."""

    task: str | msgspec.UnsetType = msgspec.UNSET
    schedule: Schedule | msgspec.UnsetType = msgspec.UNSET
    input: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    queue: str | msgspec.UnsetType = msgspec.UNSET
    priority: int | msgspec.UnsetType = msgspec.UNSET
    timeout_s: float | msgspec.UnsetType = msgspec.UNSET
    start_deadline_s: float | msgspec.UnsetType | None = msgspec.UNSET
    retry: Retry | msgspec.UnsetType = msgspec.UNSET
    delivery: Literal["at_least_once", "at_most_once"] | msgspec.UnsetType = msgspec.UNSET
    misfire: Misfire | msgspec.UnsetType = msgspec.UNSET
    jitter_s: Annotated[float, msgspec.Meta(ge=0, le=86_400)] | msgspec.UnsetType = msgspec.UNSET
    labels: dict[str, str] | msgspec.UnsetType = msgspec.UNSET
    """All labels that the job shall have."""

    def __post_init__(self) -> None:
        _read_if_text(self)

    def applied_to(self, spec: JobSpec) -> JobSpec:
        given = {name: getattr(self, name) for name in self.__struct_fields__}
        return msgspec.structs.replace(spec, **{n: value for n, value in given.items() if value is not msgspec.UNSET})


class Submission(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Asks for one run of a job (by name or id), now or at a time."""

    job: str
    input: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    """Left out: the job's own input."""
    at: datetime | None = None
    priority: int | None = None
    dedup_key: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_DEDUP_KEY)] | None = None
    """Within 24 hours the same key of the same job leads to the run that it made, instead of to a second one."""


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    attempt: int
    outcome: str
    reason: str
    why: str
    final: bool
    worker: int | None
    nominal_at: datetime
    due_at: datetime
    granted_at: datetime | None
    started_at: datetime | None
    finished_at: datetime
    error: str | None
    result: Any


class Run(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    job: str
    job_name: str | None
    version: int
    state: Literal["waiting", "running", "retrying", "parked", "succeeded", "dead", "cancelled", "expired", "withdrawn"]
    reason: str
    why: str
    priority: int | None
    attempt: int
    nominal_at: datetime
    due_at: datetime
    finished_at: datetime | None
    error: str | None


class DeadLetter(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    job: str
    version: int
    died_at: datetime
    nominal_at: datetime
    attempts: int
    reason: str
    why: str
    error: str | None
    input: msgspec.Raw


class NodeInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One process of a node; most nodes have one for each core."""

    id: int
    address: str
    """Its own: where workers and other nodes reach it."""
    state: str
    shards: int
    version: str
    started_at: datetime
    node: str = ""
    """The public address, which all processes of one node share."""
    process: int = 0
    """Its number there, from 1; 0 if it is the only one."""


class WorkerInfo(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    name: str
    queues: list[str]
    tasks: list[str]
    concurrency: int
    started_at: datetime
    seen_at: datetime


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """RFC 9457, with a stable code, the field and the fix."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    field: str | None = None
    fix: str | None = None
