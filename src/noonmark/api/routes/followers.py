"""The followers of runs and jobs on this node: one poller reads for all of them, and stops when the last one leaves.

Every POLL_S one statement reads all followed runs, and every fourth time one reads all followed jobs. A run that is
not live any more is read once more, as it ended, and its stream ends with that. Between two looks a run may pass
through several states: a follower is sent only the last of them. A follower that reads slowly finds only the latest
news of each run when it comes back, so it never has more waiting than the runs that it follows.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import structlog

from noonmark.clock import SECOND_US, Clock
from noonmark.errors import TooBusy
from noonmark.model.ids import JobId, RunKey
from noonmark.store.connect import Pool
from noonmark.store.reads.follow import follow_jobs, follow_runs
from noonmark.store.reads.runs import RunRecord, fetch_run

POLL_S = 0.25
MAX_FOLLOWERS = 500
_LOOKS_A_JOB = 4
_REMEMBERED = 2_000
LATE_US = 10 * SECOND_US
"""A report may be so late: the end of a run may become visible that long after its time."""

_log = structlog.get_logger("noonmark.api")


def mark(record: RunRecord) -> str:
    """Tells one state of a run from another: the id of its event."""
    return f"{record.attempt}-{record.state}-{record.reason}-{record.finished_us or record.due_us}"


class Follower:
    """One open stream, of a run or of a job."""

    def __init__(self, tenant_id: int, run: RunKey | None, job_id: JobId | None, since_us: int) -> None:
        self.tenant_id = tenant_id
        self.run = run
        self.job_id = job_id
        self.since_us = since_us
        """Of a job: runs that ended before this are no news."""
        self.news: dict[RunKey, RunRecord] = {}
        self.woken = asyncio.Event()
        self._sent: dict[RunKey, str] = {}

    def offer(self, key: RunKey, record: RunRecord) -> None:
        """Keeps it if it is news."""
        if self._sent.get(key) == (now := mark(record)):
            return
        if key not in self._sent and record.finished_us is not None and record.finished_us < self.since_us:
            return
        self.knows(key, now)
        self.news[key] = record
        self.woken.set()

    def knows(self, key: RunKey, sent: str) -> None:
        self._sent.pop(key, None)
        self._sent[key] = sent
        while len(self._sent) > _REMEMBERED:
            del self._sent[next(iter(self._sent))]


class Followers:
    def __init__(self, pool: Callable[[], Pool], clock: Callable[[], Clock]) -> None:
        self._pool = pool
        self._clock = clock
        self._open: set[Follower] = set()
        self._poller: asyncio.Task[None] | None = None
        self._looks = 0

    def __len__(self) -> int:
        return len(self._open)

    def check(self) -> None:
        if len(self._open) >= MAX_FOLLOWERS:
            raise TooBusy(f"this node has {MAX_FOLLOWERS} followers, and takes no more", retry_after_s=5.0)

    @asynccontextmanager
    async def following(self, follower: Follower) -> AsyncIterator[Follower]:
        self._open.add(follower)
        if self._poller is None or self._poller.done():
            self._poller = asyncio.create_task(self._poll())
        try:
            yield follower
        finally:
            self._open.discard(follower)

    async def close(self) -> None:
        if self._poller is not None:
            self._poller.cancel()
            with suppress(asyncio.CancelledError):
                await self._poller

    async def _poll(self) -> None:
        while self._open:
            try:
                await self.look()
            except Exception as error:
                # The database may be away for a while; followers wait, and their streams go on afterwards.
                _log.warning("could not look for followers", error=repr(error))
            await asyncio.sleep(POLL_S)

    async def look(self) -> None:
        """One look at all that is followed."""
        await self._look_at_runs()
        if self._looks % _LOOKS_A_JOB == 0:
            await self._look_at_jobs()
        self._looks += 1

    async def _look_at_runs(self) -> None:
        followers = [follower for follower in self._open if follower.run is not None]
        keys = {follower.run for follower in followers if follower.run is not None}
        live = await follow_runs(self._pool(), keys) if keys else {}
        for follower in followers:
            assert follower.run is not None
            found = live.get(follower.run) or await fetch_run(self._pool(), follower.tenant_id, follower.run)
            if found is not None:
                follower.offer(follower.run, found)

    async def _look_at_jobs(self) -> None:
        by_job: dict[JobId, list[Follower]] = {}
        for follower in self._open:
            if follower.job_id is not None:
                by_job.setdefault(follower.job_id, []).append(follower)
        if not by_job:
            return
        now_us = self._clock().now_us()
        since_us = min(follower.since_us for some in by_job.values() for follower in some)
        runs = await follow_jobs(self._pool(), list(by_job), since_us - LATE_US)
        for key, record in sorted(runs, key=lambda run: (run.record.finished_us is None, run.place)):
            for follower in by_job[key[0]]:
                follower.offer(key, record)
        for some in by_job.values():
            for follower in some:
                follower.since_us = max(follower.since_us, now_us - LATE_US)
