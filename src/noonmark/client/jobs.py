"""`app.jobs`: the jobs of the app's tenant. `ref` is a job's name or its id (`job_…`)."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

import msgspec

from noonmark.client.client import Client
from noonmark.client.handle import RunHandle
from noonmark.wire.jobs import AppliedJob, Backfill, BackfillAnswer, JobFires, Skipped
from noonmark.wire.resources import Job, JobPatch, JobSpec, Run
from noonmark.wire.runs import Absence


class Jobs:
    def __init__(self, client: Client) -> None:
        self._client = client

    async def get(self, ref: str) -> Job:
        return await self._client.get_job(ref)

    async def list(
        self,
        *,
        name_prefix: str | None = None,
        labels: Sequence[str] = (),
        state: str | None = None,
        page: int | None = None,
    ) -> AsyncIterator[Job]:
        """All that match, by name, fetched `page` at a time as they are asked for. A label is `key` or `key:value`."""
        cursor = None
        while True:
            found = await self._client.list_jobs(
                name_prefix=name_prefix, labels=labels, state=state, limit=page, cursor=cursor
            )
            for job in found.items:
                yield job
            cursor = found.next_cursor
            if cursor is None:
                return

    async def create(self, spec: JobSpec) -> Job:
        """`DuplicateName` if the tenant has a job of that name."""
        return await self._client.create_job(spec)

    async def create_many(self, specs: Sequence[JobSpec]) -> Sequence[Job]:
        """All or none of them."""
        return await self._client.create_jobs(specs)

    async def upsert(self, spec: JobSpec) -> AppliedJob:
        """Makes the job, or changes the one of that name to exactly this; says which it was."""
        return await self._client.apply_job(spec)

    async def update(self, ref: str, patch: JobPatch, version: int | None = None) -> Job:
        """With a version: only if the job still has it, else `VersionConflict`."""
        return await self._client.update_job(ref, patch, version)

    async def pause(self, ref: str) -> Job:
        return await self._client.pause_job(ref)

    async def resume(self, ref: str) -> Job:
        return await self._client.resume_job(ref)

    async def delete(self, ref: str) -> None:
        await self._client.delete_job(ref)

    async def trigger(
        self, ref: str, input: Any = msgspec.UNSET, at: datetime | None = None, priority: int | None = None
    ) -> RunHandle[Any]:
        """One run, now or at a time; without an input the job's own."""
        return self._client.handle(await self._client.trigger_job(ref, input, at, priority))

    async def fires(self, ref: str, count: int = 10, from_at: datetime | None = None) -> JobFires:
        return await self._client.job_fires(ref, count, from_at)

    async def skip(self, ref: str, nominal_at: datetime | None = None) -> Skipped:
        """The next occurrence, or the named one, does not fire."""
        return await self._client.skip_fire(ref, nominal_at)

    async def backfill(self, ref: str, request: Backfill) -> BackfillAnswer:
        return await self._client.backfill_job(ref, request)

    async def explain(self, ref: str, at: datetime) -> Absence:
        """Why the job did or did not run at a time."""
        return await self._client.explain_job(ref, at)

    async def runs(self, ref: str, *, page: int | None = None) -> AsyncIterator[Run]:
        """Its runs, the latest first."""
        cursor = None
        while True:
            found = await self._client.list_runs(ref, limit=page, cursor=cursor)
            for run in found.items:
                yield run
            cursor = found.next_cursor
            if cursor is None:
                return
