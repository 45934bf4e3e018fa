"""A run as it stands in its row, an attempt as it goes to history, a grant as it is remembered."""

from typing import NamedTuple, Protocol, Self

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


class EndedRun(Protocol):
    """The fields that history takes from a run, be it the row or the one in an owner's memory."""

    @property
    def shard(self) -> int: ...
    @property
    def job_id(self) -> JobId: ...
    @property
    def nominal_us(self) -> int: ...
    @property
    def due_us(self) -> int: ...
    @property
    def tenant_id(self) -> TenantId: ...
    @property
    def version(self) -> int: ...
    @property
    def attempt(self) -> int: ...


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

    @classmethod
    def of_attempt(
        cls,
        run: EndedRun,
        worker_id: WorkerId,
        granted_us: int,
        started_us: int | None,
        finished_us: int,
        outcome: Outcome,
        reason: Reason,
        final: bool,
        error: str | None,
        result: str | None,
    ) -> Self:
        """The run's last attempt, which a worker had; `run.attempt` is its number."""
        # The same tuple as the constructor's, without its cost: an owner makes one for every attempt.
        return tuple.__new__(
            cls,
            (
                run.shard, run.job_id, run.nominal_us, run.attempt, finished_us, run.tenant_id, run.version,
                worker_id, run.due_us, granted_us, started_us, outcome, reason, final, error, result,
            ),
        )  # fmt: skip

    @classmethod
    def without_attempt(cls, run: EndedRun, outcome: Outcome, reason: Reason, at_us: int) -> Self:
        """The end of a run that no worker has: in history as attempt 0."""
        return cls(
            shard=run.shard,
            job_id=run.job_id,
            nominal_us=run.nominal_us,
            attempt=0,
            finished_us=at_us,
            tenant_id=run.tenant_id,
            version=run.version,
            worker_id=None,
            due_us=run.due_us,
            granted_us=None,
            started_us=None,
            outcome=outcome,
            reason=reason,
            final=True,
            error=None,
            result=None,
        )


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
