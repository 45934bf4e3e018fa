"""Requests and answers about jobs, beyond the jobs themselves (JSON)."""

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec

from noonmark.schedule.preview.model import Notice
from noonmark.wire.resources import MAX_DEDUP_KEY, Job, JobSpec

MAX_APPLIED = 1_000
MAX_BACKFILLED = 10_000

Outcome = Literal["created", "changed", "unchanged"]


class JobDefinition(JobSpec, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A JobSpec whose name stands in the path."""

    name: str = ""
    """May be left out; else it must be the one in the path."""


class AppliedJob(Job, frozen=True, kw_only=True):
    """A job after its definition was declared, and the change that this made."""

    outcome: Outcome


class ApplyBatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    jobs: Annotated[list[JobSpec], msgspec.Meta(min_length=1, max_length=MAX_APPLIED)]
    dry_run: bool = False
    """Only answers the changes that would be made."""


class AppliedName(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    id: str | None
    """None for a job that would be created."""
    outcome: Outcome


class AppliedList(msgspec.Struct, frozen=True):
    jobs: list[AppliedName]
    """In the order of the request."""


class JobFire(msgspec.Struct, frozen=True, kw_only=True):
    nominal_at: datetime
    """The time that the schedule names."""
    due_at: datetime
    """With the job's own jitter: when it starts."""
    local: str
    """The nominal time by the clock of the schedule's zone, with its offset."""
    zone: str
    skipped: bool
    """It will not fire: it is skipped."""
    note: str | None
    """Remarks on this one, if it is out of the ordinary."""


class JobFires(msgspec.Struct, frozen=True, kw_only=True):
    job: str
    state: Literal["active", "paused"]
    """A paused job fires nothing until it is resumed."""
    fires: list[JobFire]
    more: bool
    """There are later ones: ask again from the last one on."""
    notices: list[Notice]


class Skip(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    nominal_at: datetime | None = None
    """The occurrence to skip, as the job's fires name it; left out: the next one."""


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    job: str
    run: str
    """The id that the run of this occurrence has, or would have had."""
    nominal_at: datetime
    skipped: bool


class Backfill(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename={"from_at": "from"}):
    """A range in the past, both ends included."""

    from_at: datetime
    to: datetime
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_BACKFILLED)] = 1_000
    """How many occurrences to look at, at most."""
    dry_run: bool = False
    """Only answers the runs that would be made."""


class BackfillAnswer(msgspec.Struct, frozen=True, kw_only=True):
    count: int
    """Runs that were made; in a dry run, that would be."""
    known: int
    """Occurrences that have or had a run, and were left alone."""
    first_at: datetime | None
    last_at: datetime | None
    next_from: datetime | None
    """Where to go on, if the range has more occurrences than the limit."""


class Rollback(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    version: Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    """Where in the definition: `schedule.cron`, `labels.team`, `input`."""
    before: Any
    """Null if it was not there."""
    after: Any


class VersionDiff(msgspec.Struct, frozen=True, kw_only=True):
    before: int
    after: int
    differences: list[Difference]


class Trigger(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A Submission without its job, which stands in the path."""

    input: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    at: datetime | None = None
    priority: int | None = None
    dedup_key: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_DEDUP_KEY)] | None = None
    """Within 24 hours the same key of the same job leads to the run that it made, instead of to a second one."""
