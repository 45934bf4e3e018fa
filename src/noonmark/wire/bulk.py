"""Actions on all jobs that match a filter (JSON)."""

from typing import Annotated, Literal

import msgspec

MAX_BULK = 10_000
MAX_PART = 1_000

Action = Literal["pause", "resume", "delete"]


class JobSelection(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Conditions that hold together; at least one."""

    name_prefix: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    labels: Annotated[list[str], msgspec.Meta(max_length=20)] = msgspec.field(default_factory=list)
    """Each as `key` or `key:value`."""
    state: Literal["active", "paused"] | None = None
    task: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    queue: Annotated[str, msgspec.Meta(max_length=200)] | None = None


class BulkJobs(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Ask first with `dry_run`, then send the count that it answered as `expect`, or `confirm`."""

    action: Action
    filter: JobSelection | None = None
    jobs: Annotated[list[str], msgspec.Meta(min_length=1, max_length=MAX_PART)] | None = None
    """Ids of jobs, instead of a filter."""
    dry_run: bool = False
    expect: Annotated[int, msgspec.Meta(ge=0)] | None = None
    """How many jobs match: if it is another number, nothing is done."""
    confirm: bool = False
    """Goes ahead with any number."""
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_BULK)] = MAX_BULK
    cursor: Annotated[str, msgspec.Meta(max_length=1000)] | None = None
    """`next_cursor` of the answer before."""


class BulkFailure(msgspec.Struct, frozen=True, kw_only=True):
    job: str
    code: str
    detail: str


class BulkJobsAnswer(msgspec.Struct, frozen=True, kw_only=True):
    dry_run: bool
    matched: int
    """All jobs that match; after a cursor, those that are left."""
    done: int
    """Jobs that are as was asked for, also those that were so before."""
    failed: list[BulkFailure]
    sample: list[str]
    """The names of the first that match."""
    next_cursor: str | None
    """There is more to do: send the same again with this cursor."""
