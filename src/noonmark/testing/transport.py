"""Answers the SDK's calls from memory, so that code under test uses `task.submit` and `app.jobs` as ever."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import msgspec

from noonmark.errors import NotFound
from noonmark.model.ids import RunKey, parse_run, run_text
from noonmark.testing import present
from noonmark.wire.problems import error_of
from noonmark.wire.resources import JobPatch, JobSpec, Submission

if TYPE_CHECKING:
    from noonmark.testing.scheduler import Scheduler


class LocalTransport:
    """For blocking code."""

    def __init__(self, scheduler: "Scheduler") -> None:
        self._scheduler = scheduler
        self._engine = scheduler.engine

    def call(
        self,
        method: str,
        path: str,
        *,
        body: Any = msgspec.UNSET,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        payload = b"null" if body is msgspec.UNSET else msgspec.json.encode(body)
        noun, *rest = [unquote(part) for part in path.removeprefix("/v1/").split("/")]
        answer = self._answer(method, noun, rest, payload, dict(query or {}), dict(headers or {}))
        if method != "GET":
            self._scheduler.interrupt()
        return msgspec.json.encode(answer)

    def lines(self, path: str, query: Mapping[str, Any] | None, until_s: float | None) -> Iterator[bytes]:
        raise error_of(404, b"", None)

    def sleep(self, seconds: float) -> None:
        raise RuntimeError("the clock stands still while you wait: call advance() first, then ask for the result")

    def close(self) -> None:
        pass

    def _answer(
        self, method: str, noun: str, rest: list[str], payload: bytes, query: dict[str, Any], headers: dict[str, str]
    ) -> Any:
        engine = self._engine
        match method, noun, rest:
            case "PUT", "tasks", []:
                return {}
            case "POST", "jobs", []:
                return present.job(engine.create(msgspec.json.decode(payload, type=JobSpec)))
            case "PUT", "jobs", [name]:
                return present.job(self._put(name, msgspec.json.decode(payload, type=JobSpec)))
            case "GET", "jobs", []:
                prefix = query.get("name_prefix") or ""
                jobs = [job for job in engine.jobs.values() if job.spec.name.startswith(prefix)]
                return {"jobs": [present.job(job) for job in sorted(jobs, key=lambda job: job.spec.name)]}
            case "GET", "jobs", [ref]:
                return present.job(engine.find(ref))
            case "PATCH", "jobs", [ref]:
                tag = headers.get("If-Match")
                version = None if tag is None else int(tag.strip('"'))
                return present.job(engine.change(ref, msgspec.json.decode(payload, type=JobPatch), version))
            case "DELETE", "jobs", [ref]:
                self._scheduler.delete(ref)
                return None
            case "POST", "jobs", [ref, "pause"]:
                return present.job(engine.pause(ref))
            case "POST", "jobs", [ref, "resume"]:
                return present.job(engine.resume(ref))
            case "POST", "jobs", [ref, "trigger"]:
                fields = msgspec.json.decode(payload, type=dict[str, msgspec.Raw] | None) or {}
                asked = msgspec.json.decode(msgspec.json.encode({"job": ref, **fields}), type=Submission)
                return present.run(engine, self._submit(asked))
            case "GET", "jobs", [ref, "runs"]:
                job_id = engine.find(ref).job_id
                return {"runs": [present.run(engine, key) for key in reversed(engine.made) if key[0] == job_id]}
            case "POST", "runs", ["batch"]:
                batch = msgspec.json.decode(payload, type=dict[str, list[Submission]])["runs"]
                return {"runs": [run_text(self._submit(submission)) for submission in batch]}
            case "GET", "runs", [run_id]:
                return present.run(engine, self._known(run_id))
            case "GET", "runs", [run_id, "attempts"]:
                return {"attempts": present.run(engine, self._known(run_id)).attempts}
            case "POST", "runs", [run_id, "cancel"]:
                self._scheduler.cancel(run_id)
                return present.run(engine, self._known(run_id))
        raise NotImplementedError(f"noonmark.testing does not answer {method} /v1/{'/'.join([noun, *rest])}")

    def _put(self, name: str, spec: JobSpec) -> Any:
        if any(job.spec.name == name for job in self._engine.jobs.values()):
            fields = {field: getattr(spec, field) for field in spec.__struct_fields__ if field != "name"}
            return self._engine.change(name, JobPatch(**fields))
        return self._engine.create(msgspec.structs.replace(spec, name=name))

    def _submit(self, asked: Submission) -> RunKey:
        return self._engine.submit(asked)

    def _known(self, run_id: str) -> RunKey:
        key = parse_run(run_id)
        if key not in self._engine.made:
            raise NotFound(f"there is no run {run_id}", field="run")
        return key


class AsyncLocalTransport:
    """For code on an event loop; on the scheduler's own one, a task may wait for another."""

    def __init__(self, local: LocalTransport) -> None:
        self._local = local

    async def call(self, method: str, path: str, **details: Any) -> bytes:
        return self._local.call(method, path, **details)

    async def lines(self, path: str, query: Any, until_s: float | None) -> AsyncIterator[bytes]:
        for line in self._local.lines(path, query, until_s):
            yield line

    async def sleep(self, seconds: float) -> None:
        if not self._local._scheduler.is_running():
            self._local.sleep(seconds)
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        pass
