# Made from ../run_calls.py by tools/make_sync.py (`make sync`): change it there.
"""The part of the API that is about runs and dead letters."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec

from noonmark import errors
from noonmark.client.pages import Page
from noonmark.client.signature import as_it_is
from noonmark.client.sync.base import SyncBaseClient, job_path
from noonmark.client.sync.handle import SyncRunHandle
from noonmark.clock import monotonic_s
from noonmark.wire.resources import (
    Attempt,
    DeadLetter,
    Run,
    Submission,
)
from noonmark.wire.runs import Discard, Discarded, Explanation, Redrive, Redriven

POLL_S = 0.05
MAX_POLL_S = 2.0
V = TypeVar("V")
_OVER = frozenset({"succeeded", "dead", "cancelled", "expired", "withdrawn"})


class _RunIds(msgspec.Struct, frozen=True):
    runs: list[str]


class _Redriven(msgspec.Struct, frozen=True):
    redriven: int


def _run(run_id: str, rest: str = "") -> str:
    return f"/v1/runs/{quote(run_id, safe='')}{rest}"


class SyncRunCalls(SyncBaseClient):
    def trigger_job(
        self,
        ref: str,
        input: Any = msgspec.UNSET,
        at: datetime | None = None,
        priority: int | None = None,
        dedup_key: str | None = None,
    ) -> str:
        """One run, now or at a time; without an input the job's own. Returns the run's id."""
        body: dict[str, Any] = {} if input is msgspec.UNSET else {"input": input}
        if at is not None:
            body["at"] = at
        if priority is not None:
            body["priority"] = priority
        if dedup_key is not None:
            body["dedup_key"] = dedup_key
        return (self._ask(Run, "POST", job_path(ref, "/trigger"), body=body)).id

    def submit(self, submissions: Sequence[Submission]) -> list[str]:
        """Thousands of runs in one call; their ids in the same order."""
        return (self._ask(_RunIds, "POST", "/v1/runs/batch", body={"runs": submissions})).runs

    def handle(self, run_id: str, read: Callable[[Any], V] = as_it_is) -> SyncRunHandle[V]:
        """A run to wait for and to ask about; nothing is sent. `read` turns the JSON of its result into a value."""
        return SyncRunHandle(run_id, self, read)

    def get_run(self, run_id: str) -> Run:
        return self._ask(Run, "GET", _run(run_id))

    def list_runs(self, job: str, *, limit: int | None = None, cursor: str | None = None) -> Page[Run]:
        return self._page(Run, "runs", job_path(job, "/runs"), limit=limit, cursor=cursor)

    def find_runs(
        self,
        *,
        job: str | None = None,
        states: Sequence[str] = (),
        reasons: Sequence[str] = (),
        labels: Sequence[str] = (),
        error: str | None = None,
        from_at: datetime | None = None,
        to: datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[Run]:
        """Of all jobs, by nominal time, the newest first."""
        query: dict[str, Any] = {
            "job": job,
            "state": list(states),
            "reason": list(reasons),
            "label": list(labels),
            "error": error,
            "from": None if from_at is None else from_at.isoformat(),
            "to": None if to is None else to.isoformat(),
        }
        return self._page(Run, "runs", "/v1/runs", limit=limit, cursor=cursor, **query)

    def explain_run(self, run_id: str) -> Explanation:
        """The events of the run, first to last."""
        return self._ask(Explanation, "GET", _run(run_id, "/explanation"))

    def retry_run(self, run_id: str) -> Run:
        """Now, instead of when its next attempt is due, or after it ended."""
        return self._ask(Run, "POST", _run(run_id, "/retry"))

    def attempts(self, run_id: str) -> list[Attempt]:
        return (self._page(Attempt, "attempts", _run(run_id, "/attempts"))).items

    def cancel_run(self, run_id: str) -> Run:
        return self._ask(Run, "POST", _run(run_id, "/cancel"))

    def follow_run(self, run_id: str, *, timeout_s: float | None = None) -> Generator[Run]:
        """The run now and at each change of its state, until it is over; TimeoutError after `timeout_s`.

        Where there is no stream of events to be had, as behind a proxy that keeps them back, it asks again and again.
        """
        until_s = None if timeout_s is None else monotonic_s() + timeout_s
        seen: Run | None = None
        pause_s = POLL_S
        while seen is None or seen.state not in _OVER:
            try:
                with closing(self._events(_run(run_id, "/follow"), until_s)) as events:
                    for run in events:
                        if run != seen:
                            seen, pause_s = run, POLL_S
                            yield run
            except errors.NoonmarkError:
                run = self.get_run(run_id)
                if run != seen:
                    seen, pause_s = run, POLL_S
                    yield run
            except TimeoutError:
                pass
            if seen is None or seen.state not in _OVER:
                if until_s is not None and monotonic_s() >= until_s:
                    state = "not known" if seen is None else seen.state
                    raise TimeoutError(f"{run_id} is still {state} after {timeout_s} s")
                self._http.sleep(pause_s)
                pause_s = min(pause_s * 1.5, MAX_POLL_S)

    def follow_job(self, ref: str, *, timeout_s: float | None = None) -> Generator[Run]:
        """Each run of the job whenever its state changes, for as long as you listen; TimeoutError after `timeout_s`."""
        until_s = None if timeout_s is None else monotonic_s() + timeout_s
        with closing(self._events(job_path(ref, "/follow"), until_s)) as events:
            for run in events:
                yield run

    def _events(self, path: str, until_s: float | None) -> Generator[Run]:
        with closing(self._http.lines(path, None, until_s)) as lines:
            for line in lines:
                if line.startswith(b"data:"):
                    yield msgspec.json.decode(line[5:], type=Run)

    # dead letters

    def dead_letters(
        self,
        job: str | None = None,
        *,
        error: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[DeadLetter]:
        return self._page(DeadLetter, "dead", "/v1/dead", job=job, error=error, limit=limit, cursor=cursor)

    def redrive(self, runs: Sequence[str]) -> int:
        return (self._ask(_Redriven, "POST", "/v1/dead/redrive", body={"runs": runs})).redriven

    def redrive_job(self, job: str, limit: int = 1000) -> int:
        body = {"job": job, "limit": limit}
        return (self._ask(_Redriven, "POST", "/v1/dead/redrive", body=body)).redriven

    def redrive_matching(self, request: Redrive) -> Redriven:
        return self._ask(Redriven, "POST", "/v1/dead/redrive", body=request)

    def discard(self, request: Discard) -> Discarded:
        """Takes dead letters away for good."""
        return self._ask(Discarded, "POST", "/v1/dead/discard", body=request)
