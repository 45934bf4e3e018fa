"""The part of the API that is about jobs and schedules. `ref` is a job's name or its id (`job_…`)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from noonmark.client.base import BaseClient, job_path
from noonmark.client.pages import Page
from noonmark.schedule.preview import Preview
from noonmark.schedule.spec import ScheduleSpec
from noonmark.wire.bulk import BulkJobs, BulkJobsAnswer
from noonmark.wire.jobs import (
    AppliedJob,
    Backfill,
    BackfillAnswer,
    JobFires,
    Rollback,
    Skip,
    Skipped,
    VersionDiff,
)
from noonmark.wire.resources import (
    Job,
    JobPatch,
    JobSpec,
)
from noonmark.wire.runs import Absence, StoppedRuns
from noonmark.wire.schedules import PreviewRequest


class JobCalls(BaseClient):
    async def create_job(self, spec: JobSpec) -> Job:
        return await self._ask(Job, "POST", "/v1/jobs", body=spec)

    async def create_jobs(self, specs: Sequence[JobSpec]) -> list[Job]:
        """All or none of them."""
        return (await self._ask(dict[str, list[Job]], "POST", "/v1/jobs/batch", body={"jobs": specs}))["jobs"]

    async def get_job(self, ref: str) -> Job:
        return await self._ask(Job, "GET", job_path(ref))

    async def list_jobs(
        self,
        *,
        name_prefix: str | None = None,
        labels: Sequence[str] = (),
        state: str | None = None,
        task: str | None = None,
        queue: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[Job]:
        """By name. A label is `key` or `key:value`."""
        filters: dict[str, Any] = {"name_prefix": name_prefix, "label": list(labels), "state": state, "task": task}
        return await self._page(Job, "jobs", "/v1/jobs", limit=limit, cursor=cursor, queue=queue, **filters)

    async def update_job(self, ref: str, patch: JobPatch, version: int | None = None) -> Job:
        """With a version: only if the job still has it, else `VersionConflict`."""
        headers = {} if version is None else {"If-Match": f'"{version}"'}
        return await self._ask(Job, "PATCH", job_path(ref), body=patch, headers=headers)

    async def delete_job(self, ref: str) -> None:
        await self._http.call("DELETE", job_path(ref))

    async def pause_job(self, ref: str) -> Job:
        return await self._ask(Job, "POST", job_path(ref, "/pause"))

    async def resume_job(self, ref: str) -> Job:
        return await self._ask(Job, "POST", job_path(ref, "/resume"))

    async def job_versions(self, ref: str) -> list[dict[str, Any]]:
        return (await self._page(dict, "versions", job_path(ref, "/versions"))).items

    async def apply_job(self, spec: JobSpec, version: int | None = None) -> AppliedJob:
        """Makes the job, or changes it to exactly this; with a version only if it still has that one."""
        headers = {} if version is None else {"If-Match": f'"{version}"'}
        return await self._ask(AppliedJob, "PUT", job_path(spec.name), body=spec, headers=headers)

    async def act_on_jobs(self, request: BulkJobs) -> BulkJobsAnswer:
        """Pauses, resumes or deletes all jobs that match; with `dry_run` counts them."""
        return await self._ask(BulkJobsAnswer, "POST", "/v1/jobs/bulk", body=request)

    async def diff_job(self, ref: str, before: int, after: int) -> VersionDiff:
        return await self._ask(VersionDiff, "GET", job_path(ref, f"/versions/{before}/diff/{after}"))

    async def roll_back_job(self, ref: str, version: int) -> Job:
        """A new version with the definition of an old one."""
        return await self._ask(Job, "POST", job_path(ref, "/rollback"), body=Rollback(version=version))

    async def job_fires(self, ref: str, count: int = 10, from_at: datetime | None = None) -> JobFires:
        start = None if from_at is None else from_at.isoformat()
        return await self._ask(JobFires, "GET", job_path(ref, "/fires"), query={"count": count, "from": start})

    async def skip_fire(self, ref: str, nominal_at: datetime | None = None) -> Skipped:
        """The next occurrence, or the named one, does not fire."""
        return await self._ask(Skipped, "POST", job_path(ref, "/skip"), body=Skip(nominal_at=nominal_at))

    async def unskip_fire(self, ref: str, nominal_at: datetime | None = None) -> Skipped:
        query = {} if nominal_at is None else {"nominal_at": nominal_at.isoformat()}
        return await self._ask(Skipped, "DELETE", job_path(ref, "/skip"), query=query)

    async def backfill_job(self, ref: str, request: Backfill) -> BackfillAnswer:
        return await self._ask(BackfillAnswer, "POST", job_path(ref, "/backfill"), body=request)

    async def cancel_job_runs(self, ref: str) -> StoppedRuns:
        """Every live run of the job; the job itself goes on firing."""
        return await self._ask(StoppedRuns, "POST", job_path(ref, "/cancel"))

    async def explain_job(self, ref: str, at: datetime) -> Absence:
        """Why the job did or did not run at a time."""
        return await self._ask(Absence, "GET", job_path(ref, "/explain"), query={"at": at.isoformat()})

    # schedules

    async def preview_schedule(
        self,
        schedule: ScheduleSpec | str,
        *,
        tz: str | None = None,
        name: str | None = None,
        jitter_s: float = 0.0,
        count: int = 10,
        from_at: datetime | None = None,
    ) -> Preview:
        """The next fires, a sentence, and warnings; nothing is stored."""
        request = PreviewRequest(schedule=schedule, tz=tz, name=name, jitter_s=jitter_s, count=count, from_at=from_at)
        return await self._ask(Preview, "POST", "/v1/schedules/preview", body=request)
