"""A run as it stands in its row, an attempt as it goes to history, a grant as it is remembered."""

from typing import NamedTuple

from noonmark.model.ids import GrantId, JobId, PolicyId, RunKey, TenantId, WorkerId, shard_of
from noonmark.model.reason import Outcome, Reason


class RunRow(NamedTuple):
    """A live run. `attempt` is the number of its last ended attempt: the fencing number; `failures` uses up retries."""

    job_id: JobId
    nominal_us: int
    due_us: int
    tenant_id: TenantId
    version: int
    policy_id: PolicyId
    priority: int
    attempt: int
    failures: int
    reason: Reason
    input: str | None
    sleeps: bool = False
    """It began to wait beyond its shard's watermark, so it is not in memory until a tick passes its time."""

    @property
    def key(self) -> RunKey:
        return (self.job_id, self.nominal_us)

    @property
    def shard(self) -> int:
        return shard_of(self.job_id)


class Backfilled(NamedTuple):
    """What became of the occurrences of a range in the past."""

    made_us: list[int]
    """Nominal times of the new runs; in a dry run, of those that would be made."""
    known: int
    """Occurrences that have or had a run."""
    next_us: int | None
    """Where to go on, if the range has more occurrences than were looked at."""


class AttemptRow(NamedTuple):
    """One ended attempt, in the column order of the `attempt` table. `final` closes the run."""

    shard: int
    job_id: JobId
    nominal_us: int
    attempt: int
    finished_us: int
    tenant_id: TenantId
    version: int
    worker_id: WorkerId | None
    due_us: int
    granted_us: int | None
    started_us: int | None
    outcome: Outcome
    reason: Reason
    final: bool
    error: str | None
    result: str | None


class DeadRow(NamedTuple):
    """A run that used up its attempts; the rest of it is copied from its row."""

    shard: int
    nominal_us: int
    job_id: JobId
    died_us: int
    attempt: int
    failures: int
    reason: Reason
    error: str | None


class GrantRow(NamedTuple):
    """The durable record that some runs of one shard were handed to a worker: parallel lists of keys and attempts."""

    shard: int
    grant_id: GrantId
    worker_id: WorkerId
    granted_us: int
    job_ids: list[JobId]
    nominals_us: list[int]
    attempts: list[int]
