"""What the API asks of the node that it stands on."""

from typing import Protocol

from noonmark.clock import Clock
from noonmark.model.ids import JobId, RunKey
from noonmark.store.connect import Pool
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

    async def submit(self, tenant_id: int, submissions: list[Submission]) -> list[RunKey]:
        """The keys in the order of the submissions."""

    async def cancel_run(self, tenant_id: int, key: RunKey) -> None: ...

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

    def owner_address(self, shard: int) -> str | None:
        """The base URL of the owning node; None if nobody owns the shard right now."""

    def owns(self, shard: int) -> bool: ...

    def node_addresses(self) -> list[str]:
        """All live nodes."""

    def metrics_text(self) -> bytes: ...

    async def tenant_id(self, name: str) -> int:
        """NotFound if there is no such tenant."""

    async def declare_tasks(self, names: list[str]) -> None: ...
