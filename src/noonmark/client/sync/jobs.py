# Made from ../jobs.py by tools/make_sync.py (`make sync`): change it there.
"""`app.jobs`: the jobs of the app's tenant. `ref` is a job's name or its id (`job_…`)."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec

from noonmark.client.sync.client import SyncClient
from noonmark.client.sync.handle import SyncRunHandle
from noonmark.wire.jobs import AppliedJob, Backfill, BackfillAnswer, JobFires, Skipped
from noonmark.wire.resources import Job, JobPatch, JobSpec, Run
from noonmark.wire.runs import Absence


class SyncJobs:
    def __init__(self, client: SyncClient) -> None:
        self._client = client

    def get(self, ref: str) -> Job:
        return self._client.get_job(ref)

    def list(
        self,
        *,
        name_prefix: str | None = None,
        labels: Sequence[str] = (),
        state: str | None = None,
        page: int | None = None,
    ) -> Iterator[Job]:
        """All that match, by name, fetched `page` at a time as they are asked for. A label is `key` or `key:value`."""
        cursor = None
        while True:
            found = self._client.list_jobs(
                name_prefix=name_prefix, labels=labels, state=state, limit=page, cursor=cursor
            )
            for job in found.items:
                yield job
            cursor = found.next_cursor
            if cursor is None:
                return

    def create(self, spec: JobSpec) -> Job:
        """`DuplicateName` if the tenant has a job of that name."""
        return self._client.create_job(spec)

    def create_many(self, specs: Sequence[JobSpec]) -> Sequence[Job]:
        """All or none of them."""
        return self._client.create_jobs(specs)

    def upsert(self, spec: JobSpec) -> AppliedJob:
        """Makes the job, or changes the one of that name to exactly this; says which it was."""
        return self._client.apply_job(spec)

    def update(self, ref: str, patch: JobPatch, version: int | None = None) -> Job:
        """With a version: only if the job still has it, else `VersionConflict`."""
        return self._client.update_job(ref, patch, version)

    def pause(self, ref: str) -> Job:
        return self._client.pause_job(ref)

    def resume(self, ref: str) -> Job:
        return self._client.resume_job(ref)

    def delete(self, ref: str) -> None:
        self._client.delete_job(ref)

    def trigger(
        self, ref: str, input: Any = msgspec.UNSET, at: datetime | None = None, priority: int | None = None
    ) -> SyncRunHandle[Any]:
        """One run, now or at a time; without an input the job's own."""
        return self._client.handle(self._client.trigger_job(ref, input, at, priority))

    def fires(self, ref: str, count: int = 10, from_at: datetime | None = None) -> JobFires:
        return self._client.job_fires(ref, count, from_at)

    def skip(self, ref: str, nominal_at: datetime | None = None) -> Skipped:
        """The next occurrence, or the named one, does not fire."""
        return self._client.skip_fire(ref, nominal_at)

    def backfill(self, ref: str, request: Backfill) -> BackfillAnswer:
        return self._client.backfill_job(ref, request)

    def explain(self, ref: str, at: datetime) -> Absence:
        """Why the job did or did not run at a time."""
        return self._client.explain_job(ref, at)

    def runs(self, ref: str, *, page: int | None = None) -> Iterator[Run]:
        """Its runs, the latest first."""
        cursor = None
        while True:
            found = self._client.list_runs(ref, limit=page, cursor=cursor)
            for run in found.items:
                yield run
            cursor = found.next_cursor
            if cursor is None:
                return
