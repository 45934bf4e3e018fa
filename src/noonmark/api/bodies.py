"""The envelopes around resources: batches, pages and small answers (JSON)."""

from datetime import datetime
from typing import Annotated

import msgspec

from noonmark.wire.resources import Attempt, Job, JobSpec, NodeInfo, Submission, WorkerInfo

MAX_BATCH = 10_000
_Batched = msgspec.Meta(min_length=1, max_length=MAX_BATCH)


class JobBatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    jobs: Annotated[list[JobSpec], _Batched]


class JobList(msgspec.Struct, frozen=True):
    jobs: list[Job]


class JobPage(msgspec.Struct, frozen=True):
    jobs: list[Job]
    next_cursor: str | None
    count: int | None = None
    """How many match on all pages, if it was asked for."""


class JobVersion(msgspec.Struct, frozen=True):
    version: int
    created_at: datetime
    spec: msgspec.Raw
    """The job's definition as a JobSpec."""


class JobVersionPage(msgspec.Struct, frozen=True):
    versions: list[JobVersion]
    next_cursor: str | None


class RunBatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    runs: Annotated[list[Submission], _Batched]


class RunIds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    runs: list[str]


class AttemptList(msgspec.Struct, frozen=True):
    attempts: list[Attempt]


class TaskNames(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tasks: Annotated[list[str], msgspec.Meta(max_length=MAX_BATCH)]


class NodeList(msgspec.Struct, frozen=True):
    nodes: list[NodeInfo]


class WorkerPage(msgspec.Struct, frozen=True):
    workers: list[WorkerInfo]
    next_cursor: str | None


class ShardInfo(msgspec.Struct, frozen=True, kw_only=True):
    shard: int
    owner: int | None
    address: str | None
    """None while nobody owns the shard."""
    term: int
    watermark_at: datetime
    """Every occurrence up to this time has its run."""


class ShardList(msgspec.Struct, frozen=True):
    shards: list[ShardInfo]


class Version(msgspec.Struct, frozen=True):
    version: str


class Health(msgspec.Struct, frozen=True):
    status: str


class Readiness(msgspec.Struct, frozen=True):
    ready: bool
    reasons: list[str]
