"""How attempts and runs end: their rows of history, and whether the run is over, dead or waits again.

Invariants
- The attempt number never falls, and every attempt that ended, however it ended, has used one up in the row.
- Every end is in the outbox before the run leaves memory; its history row, its dead letter and the next run of a fixed
  delay are of the same batch.
"""

from collections.abc import Callable, Mapping

from noonmark.model.ids import PolicyId, TenantId, is_scheduled
from noonmark.model.policy import Policy
from noonmark.model.reason import Outcome, Reason
from noonmark.model.run import AttemptRow, DeadRow
from noonmark.shard.fleet import Fleet
from noonmark.shard.limits import Limits
from noonmark.shard.live_run import Grant, LiveRun
from noonmark.shard.memory import RunMemory
from noonmark.shard.notice_rules import NoticeRules
from noonmark.shard.outbox import FixedDelayEnd, Requeue
from noonmark.shard.retry import delay_us
from noonmark.shard.verdict import AttemptEnd, Verdict, judge


class RunEnds(RunMemory):
    def __init__(
        self,
        *,
        node_id: int,
        policies: Mapping[PolicyId, Policy],
        weights: Mapping[TenantId, int],
        limits: Limits,
        random: Callable[[], float],
    ) -> None:
        super().__init__(policies, weights, limits)
        self.fleet = Fleet(node_id)
        self.notice_rules = NoticeRules(node_id)
        self._random = random

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
