"""The owner: one node's decisions for the shards that it owns.

Memory runs ahead of the database. Every event changes memory at once and writes what must be remembered to the outbox;
the node commits the outbox as one transaction, in order, and only then releases the answers. If a commit fails, or may
have failed, all of this memory is thrown away and built anew from the rows, under a new node id.

States of a run in memory
    HELD -> READY -> GRANTED -> (ended | HELD again after a failure | READY again after a hand-back)
A run whose time is beyond its shard's watermark sleeps: it is a row and not in memory, until a tick passes its time.

Invariants
- One grant at most holds a run; its attempt number is one above the row's. A report counts only under both.
- The attempt number never falls, and every grant that ended, however it ended, has used one up in the row.
- A run leaves memory only when its end is in the outbox, when it sleeps, when it was spilled, or with its shard.
- Nothing is granted for a shard that was dropped.
- An answer leaves only in the batch that makes it true.
"""

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from noonmark.clock import SECOND_US
from noonmark.model.ids import (
    GrantId,
    JobId,
    PolicyId,
    RunKey,
    TenantId,
    WorkerId,
    is_scheduled,
    shard_of,
    submitted_nominal_us,
)
from noonmark.model.policy import Policy
from noonmark.model.reason import Outcome, Reason
from noonmark.model.run import AttemptRow, DeadRow, GrantRow, RunRow
from noonmark.shard.answers import Granted, Reported, ReportedAttempt
from noonmark.shard.backlog import Backlog, Page
from noonmark.shard.due_heap import DueHeap
from noonmark.shard.fleet import Fleet, WaitingClaim
from noonmark.shard.limits import LATENESS_BOUNDS_S, Counts, Limits
from noonmark.shard.live_run import LEFT_IN_ROW, Grant, Kind, LiveRun, State
from noonmark.shard.notice_rules import NoticeRules
from noonmark.shard.outbox import Batch, FixedDelayEnd, Requeue
from noonmark.shard.ready import ReadyQueue
from noonmark.shard.retry import delay_us
from noonmark.shard.rules import Rule, StartDeadline
from noonmark.shard.verdict import AttemptEnd, Ended, Verdict, judge

_LATENESS_BOUNDS_US = [round(bound_s * SECOND_US) for bound_s in LATENESS_BOUNDS_S]


class Owner:
    def __init__(
        self,
        *,
        node_id: int,
        policies: Mapping[PolicyId, Policy],
        weights: Mapping[TenantId, int],
        limits: Limits,
        random: Callable[[], float],
    ) -> None:
        self.node_id = node_id
        self.limits = limits
        self.outbox = Batch()
        self.counts = Counts()
        self.watermarks: dict[int, int] = {}
        self.live: dict[RunKey, LiveRun] = {}
        self.fleet = Fleet(node_id)
        self.notice_rules = NoticeRules(node_id)
        self.paused: set[JobId] = set()
        """Paused jobs that may still have granted runs: if such a run must wait again, it is parked."""
        self.backlog = Backlog(memory_runs=limits.memory_runs, lane_runs=limits.lane_runs, page_runs=limits.page_runs)
        self._policies = policies
        self._random = random
        self._ready = ReadyQueue(weights)
        self._due_heap = DueHeap()
        self._claims: OrderedDict[object, WaitingClaim] = OrderedDict()
        self._rules: tuple[Rule, ...] = (StartDeadline(),)
        self._last_nominal_us = 0
        self._rescued_us = 0

    # -- ownership ---------------------------------------------------------------------------------------------------

    def adopt(
        self, shard: int, watermark_us: int, grants: Iterable[GrantRow], granted: Iterable[RunRow], now_us: int
    ) -> None:
        """Takes over a shard: its grants at once, its waiting runs page by page. Workers get time to appear."""
        self.watermarks[shard] = watermark_us
        rows = {row.key: row for row in granted}
        for grant_row in grants:
            grant = self.fleet.take_over(grant_row, now_us)
            for key, attempt in zip(
                zip(grant_row.job_ids, grant_row.nominals_us, strict=True), grant_row.attempts, strict=True
            ):
                row = rows.get(key)
                if row is not None and row.attempt + 1 == attempt and key not in self.live:
                    live = self.live[key] = LiveRun(row, self._policies[row.policy_id].kind)
                    self.fleet.attach(live, grant)
            if shard not in grant.remaining:
                self.outbox.finished_grants.append((shard, grant.grant_id))
                self.fleet.drop_part(grant, shard)
        self.backlog.start_scan(shard)

    def drop(self, shard: int) -> None:
        """Forgets a shard that is given away; all that was decided for it has been committed."""
        del self.watermarks[shard]
        self.backlog.drop_shard(shard)
        self.notice_rules.drop(shard)
        self.paused = {job_id for job_id in self.paused if shard_of(job_id) != shard}
        for live in [live for live in self.live.values() if live.shard == shard]:
            if live.state is not State.GRANTED:
                self.backlog.leave(live.lane)
            self._forget(live)
        for grant in list(self.fleet.grants.values()):
            self.fleet.drop_part(grant, shard)

    # -- supply ------------------------------------------------------------------------------------------------------

    def next_nominal_us(self, now_us: int) -> int:
        """A nominal time for a run that no schedule names, unique within this owner's life."""
        self._last_nominal_us = submitted_nominal_us(now_us, self._last_nominal_us)
        return self._last_nominal_us

    def create(self, row: RunRow, now_us: int) -> None:
        """Makes a run that somebody asked for. A run for later than the watermark sleeps in its row."""
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

    def paged(self, page: Page, rows: Sequence[RunRow], now_us: int) -> None:
        """A page was read in the same serial order as commits, so the outbox holds all that it does not show."""
        forgotten = self.outbox.forgotten()
        full = len(rows) >= page.limit
        self.backlog.paged(page, (rows[-1].nominal_us, rows[-1].job_id) if full else None)
        for row in rows:
            if (row.job_id, row.nominal_us) not in forgotten:
                self.admit(row, now_us)

    # -- demand ------------------------------------------------------------------------------------------------------

    def claim(self, token: object, worker_id: WorkerId, most: int, now_us: int) -> None:
        """Asks for runs; the answer comes in a batch, now or when there are some. `withdraw_claim` gives up waiting."""
        worker = self.fleet.workers[worker_id]
        worker.seen_us = now_us
        self._claims[token] = WaitingClaim(token, worker, max(1, min(most, self.limits.claim_runs)))

    def withdraw_claim(self, token: object) -> bool:
        return self._claims.pop(token, None) is not None

    def heartbeat(self, worker_id: WorkerId, grant_ids: Iterable[int], now_us: int) -> tuple[list[RunKey], list[int]]:
        """(runs to cancel, grants that the worker lost); grants that it does not name are granted again."""
        worker = self.fleet.workers[worker_id]
        worker.seen_us = now_us
        named = set(grant_ids)
        for grant in list(worker.grants.values()):
            if grant.grant_id not in named and now_us - grant.known_us > self.limits.delivery_us:
                self._end_grant(grant, Outcome.RELEASED, Reason.UNDELIVERED, now_us)
        cancel = [
            live.key
            for grant_id in named
            if (held := worker.grants.get(grant_id)) is not None
            for live in held.runs
            if live.grant is held and live.cancelling
        ]
        return cancel, self.fleet.revoked(named)

    def report(self, token: object, worker_id: WorkerId, items: Iterable[ReportedAttempt], now_us: int) -> None:
        """Ends attempts. What is not the current attempt of its run changes nothing."""
        refused: list[int] = []
        elsewhere: list[int] = []
        find = self.live.get
        for position, item in enumerate(items):
            live = find((item.job_id, item.nominal_us))  # type: ignore[arg-type]
            if live is None or (grant := live.grant) is None:
                (refused if shard_of(item.job_id) in self.watermarks else elsewhere).append(position)
            elif grant.grant_id != item.grant or grant.worker_id != worker_id or live.attempt + 1 != item.attempt:
                refused.append(position)
            else:
                self._end_attempt(live, grant, item, now_us)
        self.outbox.answers.append((token, Reported(refused, elsewhere)))
        self.counts.refused_reports += len(refused)

    def cancel(self, key: RunKey, now_us: int) -> State | None:
        """Cancels a run in memory: a waiting one ends, a granted one is asked to stop. None: it is not in memory."""
        live = self.live.get(key)
        if live is None:
            return None
        state = live.state
        if state is State.GRANTED:
            live.cancelling = True
            self.outbox.cancelling.append((live.shard, live.nominal_us, live.job_id))
        else:
            self._end_waiting(live, Outcome.CANCELLED, Reason.CANCELLED, now_us)
        return state

    def set_aside(self, live: LiveRun) -> None:
        """Takes one waiting run out of memory and leaves its row to the caller."""
        self.backlog.leave(live.lane)
        self._forget(live)

    def withdraw(self, job_ids: Collection[JobId]) -> None:
        """Takes all waiting runs of the jobs out of memory and leaves their rows to the caller."""
        for live in [live for live in self.live.values() if live.job_id in job_ids]:
            if live.state is not State.GRANTED:
                self.set_aside(live)

    def granted_of(self, job_ids: Collection[JobId]) -> list[RunKey]:
        """The runs of the jobs that workers have."""
        return [key for key, live in self.live.items() if key[0] in job_ids and live.state is State.GRANTED]

    def return_grant(self, grant_id: GrantId, now_us: int) -> None:
        """The worker hung up before its answer was ready: nothing of the grant was started."""
        grant = self.fleet.grants.get(grant_id)
        if grant is not None:
            self._end_grant(grant, Outcome.RELEASED, Reason.UNDELIVERED, now_us)

    # -- time --------------------------------------------------------------------------------------------------------

    def next_due_us(self) -> int | None:
        """When `advance` has something to release."""
        return self._due_heap.next_due_us()

    def advance(self, now_us: int) -> None:
        """Releases what is due and grants what is wanted."""
        for live in self._due_heap.release(now_us):
            if live.state is State.HELD and live.due_us <= now_us:
                self._ready.push(live)
        self._serve_claims(now_us)

    def rescue(self, now_us: int) -> None:
        """Ends the attempts of workers that went silent, and those that overran their timeout without a word.

        Called every second. After a longer pause it was the node that slept, and words of workers may lie unread.
        """
        slept = now_us - self._rescued_us > self.limits.stall_us
        self._rescued_us = now_us
        for worker in () if slept else self.fleet.silent(now_us, self.limits.silence_us):
            for grant in list(worker.grants.values()):
                self._end_grant(grant, Outcome.LOST, Reason.WORKER_LOST, now_us)
            del self.fleet.workers[worker.worker_id]
            # Nobody watches over a worker that is not known: a run granted to its old claim would never come back.
            for token in [token for token, claim in self._claims.items() if claim.worker is worker]:
                del self._claims[token]
                self.outbox.answers.append((token, Granted(GrantId(0), ())))
        for grant in list(self.fleet.grants.values()):
            for live in grant.current():
                timeout_us = round(self._policies[live.policy_id].timeout_s * 1_000_000)
                if now_us - grant.known_us > timeout_us + self.limits.overrun_us:
                    self._end_attempt(live, grant, Ended(Outcome.TIMED_OUT, now_us), now_us)

    def heads(self) -> Iterable[tuple[TenantId, Kind, int]]:
        """(tenant, kind, due time) of the first ready run of every lane."""
        return self._ready.heads()

    def take_outbox(self) -> Batch:
        batch, self.outbox = self.outbox, Batch()
        return batch

    # -- inside ------------------------------------------------------------------------------------------------------

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

    def _serve_claims(self, now_us: int) -> None:
        """Grants in the order of asking, an even share to each, so that no worker takes all while another idles."""
        barren: set[tuple[TenantId | None, frozenset[Kind]]] = set()
        waiting = len(self._claims)
        for claim in list(self._claims.values()):
            if not self._ready.size:
                break
            share = -(-self._ready.size // waiting)
            waiting -= 1
            served = (claim.worker.tenant_id, claim.worker.kinds)
            if served in barren:
                continue
            runs = self._pick(claim, min(claim.most, share), now_us)
            if runs:
                del self._claims[claim.token]
                self._grant(claim, runs, now_us)
            else:
                barren.add(served)

    def _pick(self, claim: WaitingClaim, most: int, now_us: int) -> list[LiveRun]:
        picked: list[LiveRun] = []
        while len(picked) < most:
            taken = self._ready.take(claim.worker.kinds, most - len(picked), now_us, claim.worker.tenant_id)
            if not taken:
                break
            for live in taken:
                reason = self._refusal(live, now_us)
                if reason is None:
                    picked.append(live)
                else:
                    self._end_waiting(live, Outcome.EXPIRED, reason, now_us)
        return picked

    def _refusal(self, live: LiveRun, now_us: int) -> Reason | None:
        policy = self._policies[live.policy_id]
        for rule in self._rules:
            reason = rule.refuses(live, policy, now_us)
            if reason is not None:
                return reason
        return None

    def _grant(self, claim: WaitingClaim, runs: list[LiveRun], now_us: int) -> None:
        worker = claim.worker
        grant = self.fleet.new_grant(worker, now_us)
        rows: dict[int, GrantRow] = {}
        lateness = self.counts.lateness
        noticed_us = self.notice_rules.late_us
        for live in runs:
            self.backlog.leave(live.lane)
            self.fleet.attach(live, grant)
            late_us = max(0, now_us - live.due_us)
            lateness[bisect_left(_LATENESS_BOUNDS_US, late_us)] += 1
            self.counts.lateness_us += late_us
            if late_us > noticed_us:
                self.notice_rules.granted(live, now_us, self.outbox)
            row = rows.get(live.shard)
            if row is None:
                row = rows[live.shard] = GrantRow(live.shard, grant.grant_id, worker.worker_id, now_us, [], [], [])
            row.job_ids.append(live.job_id)
            row.nominals_us.append(live.nominal_us)
            row.attempts.append(live.attempt + 1)
        self.outbox.grants.extend(rows.values())
        self.outbox.answers.append((claim.token, Granted(grant.grant_id, runs)))
        self.counts.granted += len(runs)

    def _end_grant(self, grant: Grant, outcome: Outcome, reason: Reason, now_us: int) -> None:
        self.fleet.revoke(grant)
        for live in grant.current():
            self._end_attempt(live, grant, Ended(outcome, now_us), now_us, reason)
        self.counts.rescued_grants += 1

    def _end_attempt(
        self, live: LiveRun, grant: Grant, end: AttemptEnd, now_us: int, reason: Reason | None = None
    ) -> None:
        """One attempt is over: the run ends, dies or waits again."""
        outcome, reason, final, failed = verdict = judge(live, self._policies[live.policy_id], end, reason)
        finished_us = min(max(end.finished_us, grant.granted_us), now_us)
        live.attempt += 1
        live.failures += failed
        self.outbox.attempts.append(
            AttemptRow.of_attempt(
                live,
                grant.worker_id,
                grant.granted_us,
                None if end.started_us is None else min(max(end.started_us, grant.granted_us), now_us),
                finished_us,
                outcome,
                reason,
                final,
                end.error,
                end.result,
            )
        )
        self.counts.ended[outcome] += 1
        if self.notice_rules.on:
            self.notice_rules.ended(live, verdict, end, now_us, self.outbox)
        if self.fleet.detach(live, grant):
            self.outbox.finished_grants.append((live.shard, grant.grant_id))
        if not final:
            self._requeue(live, verdict, end.error, now_us)
            return
        if failed:
            self.counts.died += 1
            self.outbox.dead.append(
                DeadRow(
                    live.shard, live.nominal_us, live.job_id, now_us, live.attempt, live.failures, reason, end.error
                )
            )
        self._end_row(live, finished_us)

    def _requeue(self, live: LiveRun, verdict: Verdict, error: str | None, now_us: int) -> None:
        live.due_us = now_us
        if verdict.failed:
            live.due_us += delay_us(self._policies[live.policy_id].retry, live.failures, self._random)
            self.counts.retried += 1
        live.reason = verdict.reason
        sleeps = live.due_us > self.watermarks[live.shard]
        parked = live.job_id in self.paused
        self.outbox.requeues[live.key] = Requeue(
            live.shard, live.nominal_us, live.job_id, live.attempt, live.failures, live.due_us, live.reason, error,
            sleeps, parked,
        )  # fmt: skip
        if sleeps or parked:
            self.outbox.slept.add(live.key)
            self._forget(live)
        else:
            self.backlog.enter(live.lane)
            self._wait(live, now_us)

    def _end_waiting(self, live: LiveRun, outcome: Outcome, reason: Reason, now_us: int) -> None:
        """A run ends without an attempt: it was cancelled, or came too late."""
        self.outbox.attempts.append(AttemptRow.without_attempt(live, outcome, reason, now_us))
        self.counts.ended[outcome] += 1
        if self.notice_rules.on:
            self.notice_rules.expired(live, reason, now_us, self.outbox)
        self.backlog.leave(live.lane)
        self._end_row(live, now_us)

    def _end_row(self, live: LiveRun, ended_us: int) -> None:
        self.outbox.ended.append((live.shard, live.nominal_us, live.job_id))
        if self._policies[live.policy_id].fixed_delay and is_scheduled(live.nominal_us):
            self.outbox.fixed_delay_ends.append(FixedDelayEnd(live.shard, live.job_id, live.nominal_us, ended_us))
        self._forget(live)
