"""The runs in an owner's memory: which are there, which are due, and which changes are still to be committed.

This is the supply side of the owner: runs come in from ticks, submissions and pages, wait until they are due, and then
wait for a worker. Claims and grants are in `owner`, the ends of attempts in `ends`.

States of a run in memory
    HELD -> READY -> GRANTED -> (ended | HELD again after a failure | READY again after a hand-back)
A run whose time is beyond its shard's watermark sleeps: it is a row and not in memory, until a tick passes its time.

Invariants
- A run leaves memory only when its end is in the outbox, when it sleeps, when it was spilled, or with its shard.
- A run whose time has come and that is not in memory is at or above one of the backlog's marks.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from noonmark.model.ids import JobId, PolicyId, RunKey, TenantId, shard_of, submitted_nominal_us
from noonmark.model.policy import Policy
from noonmark.model.run import RunRow
from noonmark.shard.backlog import Backlog, PageRequest
from noonmark.shard.due_heap import DueHeap
from noonmark.shard.limits import Counts, Limits
from noonmark.shard.live_run import LEFT_IN_ROW, Kind, LiveRun, State
from noonmark.shard.outbox import Batch
from noonmark.shard.ready import ReadyQueue


class RunMemory:
    def __init__(self, policies: Mapping[PolicyId, Policy], weights: Mapping[TenantId, int], limits: Limits) -> None:
        self.limits = limits
        self.outbox = Batch()
        self.counts = Counts()
        self.watermarks: dict[int, int] = {}
        self.live: dict[RunKey, LiveRun] = {}
        self.paused: set[JobId] = set()
        """Paused jobs that may still have granted runs: if such a run must wait again, it is parked."""
        self.backlog = Backlog(memory_runs=limits.memory_runs, lane_runs=limits.lane_runs, page_runs=limits.page_runs)
        self._policies = policies
        self._ready = ReadyQueue(weights)
        self._due_heap = DueHeap()
        self._last_nominal_us = 0

    # -- runs come in --------------------------------------------------------------------------------------------------

    def next_nominal_us(self, now_us: int) -> int:
        """A nominal time for a run that no schedule names, unique within this owner's life."""
        self._last_nominal_us = submitted_nominal_us(now_us, self._last_nominal_us)
        return self._last_nominal_us

    def create(self, row: RunRow, now_us: int) -> None:
        """Makes a submitted run. A run for later than the watermark sleeps in its row."""
        if row.due_us > self.watermarks[row.shard]:
            self.outbox.created.append(row._replace(sleeps=True))
        else:
            self.outbox.created.append(row)
            self.admit(row, now_us)

    def begin_tick(self, shards: Iterable[int], watermark_us: int) -> None:
        """From here on a run due up to the new watermark stays in memory: the tick under way will not find it."""
        for shard in shards:
            self.watermarks[shard] = watermark_us

    def admit(self, row: RunRow, now_us: int) -> None:
        """A waiting run whose time is within the watermark exists; it is kept in memory if there is room."""
        key = (row.job_id, row.nominal_us)
        if key in self.live or shard_of(row.job_id) not in self.watermarks:
            return
        live = LiveRun(row, self._policies[row.policy_id].kind)
        if not self.backlog.admit(live.lane, live.shard, (live.nominal_us, live.job_id)):
            return
        if live.input is not None and len(live.input) > self.limits.input_bytes_in_memory:
            live.input = LEFT_IN_ROW
        self.live[key] = live
        self._wait(live, now_us)

    def paged(self, page: PageRequest, rows: Sequence[RunRow], now_us: int) -> None:
        """A page was read in the same serial order as commits, so the outbox holds all that it does not show."""
        forgotten = self.outbox.forgotten()
        full = len(rows) >= page.limit
        self.backlog.paged(page, (rows[-1].nominal_us, rows[-1].job_id) if full else None)
        for row in rows:
            if (row.job_id, row.nominal_us) not in forgotten:
                self.admit(row, now_us)

    # -- runs go without an end ----------------------------------------------------------------------------------------

    def set_aside(self, live: LiveRun) -> None:
        """Takes one waiting run out of memory and leaves its row to the caller."""
        self.backlog.leave(live.lane)
        self._forget(live)

    def withdraw(self, job_ids: Collection[JobId], kept: Collection[RunKey] = ()) -> None:
        """Takes all waiting runs of the jobs but those out of memory, and leaves their rows to the caller."""
        for live in [live for live in self.live.values() if live.job_id in job_ids]:
            if live.state is not State.GRANTED and live.key not in kept:
                self.set_aside(live)

    def unpark(self, job_ids: Collection[JobId]) -> None:
        """From now on runs of the jobs that must wait again are not parked, nor are those not yet committed."""
        self.paused.difference_update(job_ids)
        for key, requeue in self.outbox.requeues.items():
            if requeue.parked and requeue.job_id in job_ids:
                self.outbox.requeues[key] = requeue._replace(parked=False)
                self.backlog.start_scan(requeue.shard)

    # -- reading -------------------------------------------------------------------------------------------------------

    def granted_of(self, job_ids: Collection[JobId]) -> list[RunKey]:
        """The runs of the jobs that workers have."""
        return [key for key, live in self.live.items() if key[0] in job_ids and live.state is State.GRANTED]

    def next_due_us(self) -> int | None:
        """When `advance` has something to release."""
        return self._due_heap.next_due_us()

    def heads(self) -> Iterable[tuple[TenantId, Kind, int]]:
        """(tenant, kind, due time) of the first ready run of every lane."""
        return self._ready.heads()

    def take_outbox(self) -> Batch:
        batch, self.outbox = self.outbox, Batch()
        return batch

    # -- inside --------------------------------------------------------------------------------------------------------

    def _wait(self, live: LiveRun, now_us: int) -> None:
        if live.due_us <= now_us:
            self._ready.push(live)
        else:
            live.state = State.HELD
            self._due_heap.push(live)

    def _forget(self, live: LiveRun) -> None:
        if live.state is State.READY:
            self._ready.discard(live)
        live.state = State.GONE
        live.grant = None
        del self.live[live.key]
