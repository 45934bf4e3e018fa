"""The HTTP API as typed calls, grouped by noun. `ref` is a job's name or its id (`job_…`)."""

from collections.abc import Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Generic, Self, TypeVar
from urllib.parse import quote

import msgspec

from noonmark.client.transport import Transport
from noonmark.schedule.preview import Preview
from noonmark.schedule.spec import ScheduleSpec
from noonmark.wire.resources import (
    Attempt,
    DeadLetter,
    Job,
    JobPatch,
    JobSpec,
    NodeInfo,
    Run,
    Submission,
    WorkerInfo,
)
from noonmark.wire.schedules import PreviewRequest

DEFAULT_SERVER = "http://127.0.0.1:7171"
T = TypeVar("T")


class Page(msgspec.Struct, Generic[T], frozen=True):
    """Some of a longer list; `next_cursor` leads to the rest."""

    items: list[T]
    next_cursor: str | None = None


class _RunIds(msgspec.Struct, frozen=True):
    runs: list[str]


class _Redriven(msgspec.Struct, frozen=True):
    redriven: int


def _job(ref: str, rest: str = "") -> str:
    return f"/v1/jobs/{quote(ref, safe='')}{rest}"


def _run(run_id: str, rest: str = "") -> str:
    return f"/v1/runs/{quote(run_id, safe='')}{rest}"


class Client:
    """Talks to one node, or to a load balancer before several; any node answers for any job."""

    def __init__(self, server: str = DEFAULT_SERVER, token: str | None = None, tenant: str = "default") -> None:
        self.tenant = tenant
        self._http = Transport(server, token, tenant)

    async def close(self) -> None:
        await self._http.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _ask(self, answer: type[T], method: str, path: str, **details: Any) -> T:
        return msgspec.json.decode(await self._http.call(method, path, **details), type=answer)

    async def _page(self, item: type[T], noun: str, path: str, **query: str | int | None) -> Page[T]:
        """A list stands under its noun in the answer."""
        parts = await self._ask(dict[str, msgspec.Raw], "GET", path, query=query)
        items = msgspec.json.decode(parts[noun], type=list[item])  # type: ignore[valid-type]
        return Page(items, msgspec.json.decode(parts.get("next_cursor", b"null"), type=str | None))

    # jobs

    async def create_job(self, spec: JobSpec) -> Job:
        return await self._ask(Job, "POST", "/v1/jobs", body=spec)

    async def create_jobs(self, specs: Sequence[JobSpec]) -> list[Job]:
        """All or none of them."""
        return (await self._ask(dict[str, list[Job]], "POST", "/v1/jobs/batch", body={"jobs": specs}))["jobs"]

    async def get_job(self, ref: str) -> Job:
        return await self._ask(Job, "GET", _job(ref))

    async def list_jobs(
        self, *, name_prefix: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Page[Job]:
        return await self._page(Job, "jobs", "/v1/jobs", limit=limit, cursor=cursor, name_prefix=name_prefix)

    async def update_job(self, ref: str, patch: JobPatch, version: int | None = None) -> Job:
        """With a version: only if the job still has it, else `VersionConflict`."""
        headers = {} if version is None else {"If-Match": f'"{version}"'}
        return await self._ask(Job, "PATCH", _job(ref), body=patch, headers=headers)

    async def delete_job(self, ref: str) -> None:
        await self._http.call("DELETE", _job(ref))

    async def pause_job(self, ref: str) -> Job:
        return await self._ask(Job, "POST", _job(ref, "/pause"))

    async def resume_job(self, ref: str) -> Job:
        return await self._ask(Job, "POST", _job(ref, "/resume"))

    async def job_versions(self, ref: str) -> list[dict[str, Any]]:
        return (await self._page(dict, "versions", _job(ref, "/versions"))).items

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

    # runs

    async def trigger_job(
        self, ref: str, input: Any = msgspec.UNSET, at: datetime | None = None, priority: int | None = None
    ) -> str:
        """One run, now or at a time; without an input the job's own. Returns the run's id."""
        body: dict[str, Any] = {} if input is msgspec.UNSET else {"input": input}
        if at is not None:
            body["at"] = at
        if priority is not None:
            body["priority"] = priority
        return (await self._ask(Run, "POST", _job(ref, "/trigger"), body=body)).id

    async def submit(self, submissions: Sequence[Submission]) -> list[str]:
        """Thousands of runs in one call; their ids in the same order."""
        return (await self._ask(_RunIds, "POST", "/v1/runs/batch", body={"runs": submissions})).runs

    async def get_run(self, run_id: str) -> Run:
        return await self._ask(Run, "GET", _run(run_id))

    async def list_runs(self, job: str, *, limit: int | None = None, cursor: str | None = None) -> Page[Run]:
        return await self._page(Run, "runs", _job(job, "/runs"), limit=limit, cursor=cursor)

    async def attempts(self, run_id: str) -> list[Attempt]:
        return (await self._page(Attempt, "attempts", _run(run_id, "/attempts"))).items

    async def cancel_run(self, run_id: str) -> Run:
        return await self._ask(Run, "POST", _run(run_id, "/cancel"))

    # dead letters

    async def dead_letters(
        self, job: str | None = None, *, limit: int | None = None, cursor: str | None = None
    ) -> Page[DeadLetter]:
        return await self._page(DeadLetter, "dead", "/v1/dead", job=job, limit=limit, cursor=cursor)

    async def redrive(self, runs: Sequence[str]) -> int:
        return (await self._ask(_Redriven, "POST", "/v1/dead/redrive", body={"runs": runs})).redriven

    async def redrive_job(self, job: str, limit: int = 1000) -> int:
        body = {"job": job, "limit": limit}
        return (await self._ask(_Redriven, "POST", "/v1/dead/redrive", body=body)).redriven

    # the fleet

    async def declare_tasks(self, tasks: Sequence[str]) -> None:
        """Makes task names known, so that jobs may name them before a worker has."""
        await self._http.call("PUT", "/v1/tasks", body={"tasks": tasks})

    async def nodes(self) -> list[NodeInfo]:
        return (await self._page(NodeInfo, "nodes", "/v1/nodes")).items

    async def workers(self) -> list[WorkerInfo]:
        return (await self._page(WorkerInfo, "workers", "/v1/workers")).items

    async def shards(self) -> list[dict[str, Any]]:
        return (await self._page(dict, "shards", "/v1/shards")).items
