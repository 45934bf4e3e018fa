# Made from ../job_calls.py by tools/make_sync.py (`make sync`): change it there.
"""The part of the API that is about jobs and schedules. `ref` is a job's name or its id (`job_…`)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from noonmark.client.pages import Page
from noonmark.client.sync.base import SyncBaseClient, job_path
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


class SyncJobCalls(SyncBaseClient):
    def create_job(self, spec: JobSpec) -> Job:
        return self._ask(Job, "POST", "/v1/jobs", body=spec)

    def create_jobs(self, specs: Sequence[JobSpec]) -> list[Job]:
        """All or none of them."""
        return (self._ask(dict[str, list[Job]], "POST", "/v1/jobs/batch", body={"jobs": specs}))["jobs"]

    def get_job(self, ref: str) -> Job:
        return self._ask(Job, "GET", job_path(ref))

    def list_jobs(
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
        return self._page(Job, "jobs", "/v1/jobs", limit=limit, cursor=cursor, queue=queue, **filters)

    def update_job(self, ref: str, patch: JobPatch, version: int | None = None) -> Job:
        """With a version: only if the job still has it, else `VersionConflict`."""
        headers = {} if version is None else {"If-Match": f'"{version}"'}
        return self._ask(Job, "PATCH", job_path(ref), body=patch, headers=headers)

    def delete_job(self, ref: str) -> None:
        self._http.call("DELETE", job_path(ref))

    def pause_job(self, ref: str) -> Job:
        return self._ask(Job, "POST", job_path(ref, "/pause"))

    def resume_job(self, ref: str) -> Job:
        return self._ask(Job, "POST", job_path(ref, "/resume"))

    def job_versions(self, ref: str) -> list[dict[str, Any]]:
        return (self._page(dict, "versions", job_path(ref, "/versions"))).items

    def apply_job(self, spec: JobSpec, version: int | None = None) -> AppliedJob:
        """Makes the job, or changes it to exactly this; with a version only if it still has that one."""
        headers = {} if version is None else {"If-Match": f'"{version}"'}
        return self._ask(AppliedJob, "PUT", job_path(spec.name), body=spec, headers=headers)

    def act_on_jobs(self, request: BulkJobs) -> BulkJobsAnswer:
        """Pauses, resumes or deletes all jobs that match; with `dry_run` counts them."""
        return self._ask(BulkJobsAnswer, "POST", "/v1/jobs/bulk", body=request)

    def diff_job(self, ref: str, before: int, after: int) -> VersionDiff:
        return self._ask(VersionDiff, "GET", job_path(ref, f"/versions/{before}/diff/{after}"))

    def roll_back_job(self, ref: str, version: int) -> Job:
        """A new version with the definition of an old one."""
        return self._ask(Job, "POST", job_path(ref, "/rollback"), body=Rollback(version=version))

    def job_fires(self, ref: str, count: int = 10, from_at: datetime | None = None) -> JobFires:
        start = None if from_at is None else from_at.isoformat()
        return self._ask(JobFires, "GET", job_path(ref, "/fires"), query={"count": count, "from": start})

    def skip_fire(self, ref: str, nominal_at: datetime | None = None) -> Skipped:
        """The next occurrence, or the named one, does not fire."""
        return self._ask(Skipped, "POST", job_path(ref, "/skip"), body=Skip(nominal_at=nominal_at))

    def unskip_fire(self, ref: str, nominal_at: datetime | None = None) -> Skipped:
        query = {} if nominal_at is None else {"nominal_at": nominal_at.isoformat()}
        return self._ask(Skipped, "DELETE", job_path(ref, "/skip"), query=query)

    def backfill_job(self, ref: str, request: Backfill) -> BackfillAnswer:
        return self._ask(BackfillAnswer, "POST", job_path(ref, "/backfill"), body=request)

    def cancel_job_runs(self, ref: str) -> StoppedRuns:
        """Every live run of the job; the job itself goes on firing."""
        return self._ask(StoppedRuns, "POST", job_path(ref, "/cancel"))

    def explain_job(self, ref: str, at: datetime) -> Absence:
        """Why the job did or did not run at a time."""
        return self._ask(Absence, "GET", job_path(ref, "/explain"), query={"at": at.isoformat()})

    # schedules

    def preview_schedule(
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
        return self._ask(Preview, "POST", "/v1/schedules/preview", body=request)
