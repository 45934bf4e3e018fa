"""What the API asks of the node that it stands on."""

from typing import Protocol

from noonmark.clock import Clock
from noonmark.model.ids import JobId, RunKey
from noonmark.model.job import Applied
from noonmark.model.run import Backfilled
from noonmark.store.connect import Pool
from noonmark.store.reads.runs import RunRecord
from noonmark.wire.resources import JobPatch, JobSpec, Submission
from noonmark.wire.worker import (
    Claim,
    ClaimAnswer,
    Heartbeat,
    HeartbeatAnswer,
    Register,
    Registered,
    Report,
    ReportAnswer,
)


class Commands(Protocol):
    """Changes, each durable when it returns, and all or nothing.

    They serve the shards that the node owns. NotOwner means that nothing was done, so the caller may ask again;
    whoever cannot know whether a commit happened raises another error.
    """

    async def create_jobs(self, tenant_id: int, specs: list[JobSpec]) -> list[JobId]: ...

    async def update_job(
        self, tenant_id: int, job_id: JobId, patch: JobPatch, expected_version: int | None
    ) -> None: ...

    async def delete_job(self, tenant_id: int, job_id: JobId, expected_version: int | None) -> None: ...

    async def pause_job(self, tenant_id: int, job_id: JobId) -> None: ...

    async def resume_job(self, tenant_id: int, job_id: JobId) -> None: ...

    async def apply_job(
        self, tenant_id: int, spec: JobSpec, *, expected_version: int | None, create_only: bool
    ) -> Applied:
        """Makes the job, or changes it to exactly this, or finds nothing to do."""

    async def apply_jobs(self, tenant_id: int, specs: list[JobSpec], *, dry_run: bool) -> list[Applied]:
        """The same for many, each on its own; a dry run only says what would be done."""

    async def replace_job(self, tenant_id: int, job_id: JobId, spec: JobSpec, expected_version: int | None) -> None:
        """A new version with exactly this definition."""

    async def skip(self, tenant_id: int, job_id: JobId, nominal_us: int | None) -> RunKey:
        """The next occurrence, or the named one, never fires."""

    async def unskip(self, tenant_id: int, job_id: JobId, nominal_us: int | None) -> RunKey:
        """Takes a skip back whose time is to come."""

    async def backfill(
        self, tenant_id: int, job_id: JobId, from_us: int, to_us: int, limit: int, *, dry_run: bool
    ) -> Backfilled:
        """Runs for occurrences of the past that have none."""

    async def submit(self, tenant_id: int, submissions: list[Submission]) -> list[RunKey]:
        """The keys in the order of the submissions."""

    async def submit_run(self, tenant_id: int, submission: Submission) -> tuple[RunKey, RunRecord]:
        """One that has no key of its own, and how it stood when it was stored."""

    async def cancel_run(self, tenant_id: int, key: RunKey) -> None: ...

    async def cancel_runs(self, tenant_id: int, job_id: JobId) -> tuple[int, int]:
        """All live runs of a job: how many waited and have ended, how many run and were asked to stop."""

    async def retry_run(self, tenant_id: int, key: RunKey) -> None:
        """One that waits out its backoff is due now, a dead one is taken back; Conflict for any other."""

    async def discard(self, tenant_id: int, keys: list[RunKey]) -> int:
        """How many of them were dead letters and are gone."""

    async def redrive(self, tenant_id: int, keys: list[RunKey]) -> int:
        """How many of them were dead letters and are runs again."""


class WorkerCalls(Protocol):
    """The worker protocol; an unknown worker is refused with 410."""

    async def register(self, message: Register) -> Registered: ...

    async def claim(self, message: Claim) -> ClaimAnswer:
        """Cancelled when the worker hangs up: then nothing may stay granted to it."""

    async def heartbeat(self, message: Heartbeat) -> HeartbeatAnswer: ...

    async def report(self, message: Report) -> ReportAnswer: ...


class NodePort(Commands, WorkerCalls, Protocol):
    @property
    def address(self) -> str:
        """This node's own base URL, such as http://127.0.0.1:7171."""

    @property
    def version(self) -> str: ...

    @property
    def clock(self) -> Clock:
        """The database's time."""

    @property
    def pool(self) -> Pool:
        """For reads."""

    @property
    def shard_count(self) -> int: ...

    @property
    def ready(self) -> bool:
        """Owns what it should, and the database is reachable."""

    @property
    def private_webhooks(self) -> bool:
        """Whether notices may go to addresses that are not on the public internet."""

    async def look_at_subscriptions(self) -> None:
        """They have changed: who is told what by this node follows them from here on."""

    def owner_address(self, shard: int) -> str | None:
        """The base URL of the owning node; None if nobody owns the shard right now."""

    def owns(self, shard: int) -> bool: ...

    def metrics_text(self) -> bytes: ...

    async def tenant_id(self, name: str) -> int:
        """NotFound if there is no such tenant."""

    async def declare_tasks(self, names: list[str]) -> None: ...
