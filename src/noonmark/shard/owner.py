"""The owner: one node's decisions for the shards that it owns.

Memory runs ahead of the database. Every event changes memory at once and writes its lasting effects to the outbox; the
node commits the outbox as one transaction, in order, and only then releases the answers. If a commit fails, or may
have failed, all of this memory is thrown away and built anew from the rows, under a new node id.

Three layers, each a file: `memory` keeps the runs (supply), `ends` says how attempts end, and this file has the demand:
ownership of shards, claims, grants, and workers that fell silent.

Invariants
- One grant at most holds a run; its attempt number is one above the row's. A report counts only under both.
- Nothing is granted for a shard that was dropped.
- An answer leaves only in the batch that makes it true.
"""

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping

from noonmark.clock import SECOND_US
from noonmark.model.ids import GrantId, PolicyId, RunKey, TenantId, WorkerId, shard_of
from noonmark.model.policy import Policy
from noonmark.model.reason import Outcome, Reason
from noonmark.model.run import GrantRow, RunRow
from noonmark.shard.answers import Granted, Heartbeaten, Reported, ReportedAttempt
from noonmark.shard.ends import RunEnds
from noonmark.shard.fleet import WaitingClaim
from noonmark.shard.limits import LATENESS_BOUNDS_S, Limits
from noonmark.shard.live_run import Grant, Kind, LiveRun, State
from noonmark.shard.rules import StartDeadline, StartRule
from noonmark.shard.verdict import Ended

_LATENESS_BOUNDS_US = [round(bound_s * SECOND_US) for bound_s in LATENESS_BOUNDS_S]


class Owner(RunEnds):
    def __init__(
        self,
        *,
        node_id: int,
        policies: Mapping[PolicyId, Policy],
        weights: Mapping[TenantId, int],
        limits: Limits,
        random: Callable[[], float],
    ) -> None:
        super().__init__(node_id=node_id, policies=policies, weights=weights, limits=limits, random=random)
        self.node_id = node_id
        self._claims: OrderedDict[object, WaitingClaim] = OrderedDict()
        self._rules: tuple[StartRule, ...] = (StartDeadline(),)
        self._rescued_us = 0
        self._slept = False

    # -- ownership ---------------------------------------------------------------------------------------------------

    def adopt(
        self,
        shard: int,
        watermark_us: int,
        grants: Iterable[GrantRow],
        granted: Iterable[RunRow],
        now_us: int,
        heard_us: Mapping[WorkerId, int],
    ) -> None:
        """Takes over a shard: its grants at once, its waiting runs page by page.

        `heard_us` says of the grants' workers from when on their silence counts, see `listening`.
        """
        self.watermarks[shard] = watermark_us
        rows = {row.key: row for row in granted}
        for grant_row in grants:
            grant = self.fleet.take_over(grant_row, now_us, heard_us.get(grant_row.worker_id, 0))
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

    # -- demand ------------------------------------------------------------------------------------------------------

    def claim(self, token: object, worker_id: WorkerId, most: int, now_us: int) -> None:
        """Asks for runs; the answer comes in a batch, now or when there are some. `withdraw_claim` gives up waiting."""
        worker = self.fleet.workers[worker_id]
        worker.hear(now_us)
        self._claims[token] = WaitingClaim(token, worker, max(1, min(most, self.limits.claim_runs)))

    def withdraw_claim(self, token: object) -> bool:
        return self._claims.pop(token, None) is not None

    def heartbeat(
        self, worker_id: WorkerId, grant_ids: Iterable[int], now_us: int, never: Collection[int] = ()
    ) -> Heartbeaten:
        """Grants that the worker does not name are granted again, except runs that run at most once.

        Of a grant with such runs the worker is first asked whether it ever had it. It says no by `never`, and will not
        start it then, even if the answer with it comes later. If it says neither, the runs may have begun.
        """
        worker = self.fleet.workers[worker_id]
        worker.hear(now_us)
        named = set(grant_ids)
        missing: list[int] = []
        for grant in list(worker.grants.values()):
            if grant.grant_id in named:
                grant.asked_us = None
            elif now_us - grant.known_us > self.limits.delivery_us:
                if grant.grant_id in never or not any(map(self._runs_once, grant.current())):
                    self._end_grant(grant, Outcome.RELEASED, Reason.UNDELIVERED, now_us)
                elif grant.asked_us is not None and now_us - grant.asked_us > self.limits.silence_us:
                    self._end_unnamed(grant, now_us)
                else:
                    grant.asked_us = grant.asked_us or now_us
                    missing.append(grant.grant_id)
        cancel = [
            live.key
            for grant_id in named
            if (held := worker.grants.get(grant_id)) is not None
            for live in held.runs
            if live.grant is held and live.cancelling
        ]
        return Heartbeaten(cancel, self.fleet.revoked(named), missing)

    def report(self, token: object, worker_id: WorkerId, items: Iterable[ReportedAttempt], now_us: int) -> None:
        """Ends attempts. A report of an attempt that is not the current one of its run changes nothing."""
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

    def return_grant(self, grant_id: GrantId, now_us: int) -> None:
        """The worker hung up before its answer was ready: nothing of the grant was started."""
        grant = self.fleet.grants.get(grant_id)
        if grant is not None:
            self._end_grant(grant, Outcome.RELEASED, Reason.UNDELIVERED, now_us)

    # -- time --------------------------------------------------------------------------------------------------------

    def advance(self, now_us: int) -> None:
        """Makes due runs ready and grants them to waiting claims."""
        for live in self._due_heap.release(now_us):
            if live.state is State.HELD and live.due_us <= now_us:
                self._ready.push(live)
        self._serve_claims(now_us)

    def rescue(self, now_us: int) -> None:
        """Ends the attempts of workers that went silent, and those that overran their timeout without a word.

        Called every second. After a longer pause it was the node that slept, and words of workers may lie unread: they
        are read before the next look. That one is taken also after another pause, or a node that stalls again and again
        would never give up a worker.
        """
        pause_us = now_us - self._rescued_us
        self._rescued_us = now_us
        self._slept = pause_us > self.limits.stall_us and (not self._slept or pause_us > self.limits.silence_us)
        for worker in () if self._slept else self.fleet.silent(now_us, self.limits.silence_us):
            for grant in list(worker.grants.values()):
                self._end_grant(grant, Outcome.LOST, Reason.WORKER_LOST, now_us)
            del self.fleet.workers[worker.worker_id]
            # The silence of an unknown worker is not measured: a run granted to its old claim would never come back.
            for token in [token for token, claim in self._claims.items() if claim.worker is worker]:
                del self._claims[token]
                self.outbox.answers.append((token, Granted(GrantId(0), ())))
        for grant in list(self.fleet.grants.values()):
            for live in grant.current():
                timeout_us = round(self._policies[live.policy_id].timeout_s * 1_000_000)
                # Counted across owners; but a new one gives its worker time to say how it ended meanwhile.
                overran_us = grant.granted_us + timeout_us + self.limits.overrun_us
                if now_us > max(overran_us, grant.known_us + self.limits.silence_us):
                    reason = Reason.AT_MOST_ONCE if self._runs_once(live) else None
                    self._end_attempt(live, grant, Ended(Outcome.TIMED_OUT, now_us), now_us, reason)

    # -- inside ------------------------------------------------------------------------------------------------------

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

    def _end_unnamed(self, grant: Grant, now_us: int) -> None:
        """Its worker lives, and neither names the grant nor denies that it had it."""
        self.fleet.revoke(grant)
        for live in grant.current():
            if self._runs_once(live):
                self._end_attempt(live, grant, Ended(Outcome.LOST, now_us), now_us, Reason.AT_MOST_ONCE)
            else:
                self._end_attempt(live, grant, Ended(Outcome.RELEASED, now_us), now_us, Reason.UNDELIVERED)
        self.counts.rescued_grants += 1

    def _runs_once(self, live: LiveRun) -> bool:
        return self._policies[live.policy_id].at_most_once
