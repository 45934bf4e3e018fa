"""Which notices the owner sends to subscribers of its jobs, and which it folds into one.

A notice goes into the outbox with the decision that it is about, so both are durable or neither is. For one kind and
job a subscription gets one notice in its quiet time; later ones are counted, and sent as one when that time is over.

In memory and in `trouble` rows: jobs whose last news was a failure, or silence. A new owner reads them with the shard,
so that a recovery is noticed across a change of owner. Only in memory: quiet times, their folded notices, and the
waiting runs that were late already. After a change of owner one notice more may come, and a count of folded ones is
lost.
"""

from collections.abc import Callable, Collection, Iterable
from heapq import heappop, heappush

import msgspec

from noonmark.clock import NEVER_US, SECOND_US, to_datetime
from noonmark.model.ids import JobId, RunKey, TenantId, event_text, run_text, shard_of
from noonmark.model.notice import DELIVERIES, TYPES, Event, NoticeRow, NoticeRule, Trouble
from noonmark.model.reason import SENTENCES, Reason
from noonmark.shard.live_run import LiveRun, State
from noonmark.shard.outbox import Batch
from noonmark.shard.verdict import AttemptEnd, Verdict

_MAX_ERROR = 8_000
"""Characters; the whole of a notice stays below 64 KiB."""
_MAX_QUIET = 100_000
"""So many (subscription, job, kind) can have a quiet time; further notices are dropped and counted."""
_LATE = "it started later than the subscription allows"
_WAITS = "it still waits, longer than the subscription allows"
_SILENT = "it has not succeeded by the time it should have"
_RECOVERED = "its first success after trouble"

_Key = tuple[int, JobId, Event]


class _Quiet:
    __slots__ = ("folded", "last", "until_us")

    def __init__(self, until_us: int) -> None:
        self.until_us = until_us
        self.folded = 0
        self.last: NoticeRow | None = None


class NoticeRules:
    def __init__(self, node_id: int) -> None:
        self._node_id = node_id
        self._notices = 0
        self.rules: dict[int, NoticeRule] = {}
        """By subscription."""
        self._of_job: dict[JobId, tuple[NoticeRule, ...]] = {}
        self._of_tenant: dict[TenantId, tuple[NoticeRule, ...]] = {}
        self._quiet: dict[_Key, _Quiet] = {}
        self._ends: list[tuple[int, _Key]] = []
        self._noticed_late: set[RunKey] = set()
        self.troubles: dict[JobId, Trouble] = {}
        self.on = False
        """Whether there is a subscription at all: without one, the end of an attempt asks nothing else."""
        self.late_us = NEVER_US
        """The least lateness that a subscription asks for."""
        self.sent = 0
        self.dropped = 0

    def follow(self, rules: Iterable[NoticeRule], outbox: Batch) -> None:
        """Replaces all subscriptions; trouble without a subscription is forgotten."""
        of_job: dict[JobId, tuple[NoticeRule, ...]] = {}
        of_tenant: dict[TenantId, tuple[NoticeRule, ...]] = {}
        self.late_us = NEVER_US
        self.rules = {rule.subscription_id: rule for rule in rules}
        for rule in self.rules.values():
            if rule.job_id is not None:
                of_job[rule.job_id] = (*of_job.get(rule.job_id, ()), rule)
            else:
                of_tenant[rule.tenant_id] = (*of_tenant.get(rule.tenant_id, ()), rule)
            if "late" in rule.events:
                self.late_us = min(self.late_us, rule.late_us)
        self._of_job, self._of_tenant = of_job, of_tenant
        self.on = bool(of_job or of_tenant)
        self._keep_quiet(lambda key: key[0] in self.rules)
        if not self._of_tenant:
            for job_id in [job_id for job_id in self.troubles if job_id not in of_job]:
                self._mend(job_id, outbox)

    def drop(self, shard: int) -> None:
        """Forgets a shard that another node owns now, with the folded notices of its jobs."""
        self._keep_quiet(lambda key: shard_of(key[1]) != shard)
        self._noticed_late = {key for key in self._noticed_late if shard_of(key[0]) != shard}
        self.troubles = {job_id: one for job_id, one in self.troubles.items() if shard_of(job_id) != shard}

    # -- events ------------------------------------------------------------------------------------------------------

    def ended(self, live: LiveRun, verdict: Verdict, end: AttemptEnd, now_us: int, outbox: Batch) -> None:
        """An attempt is over; `live` counts it already."""
        if not verdict.failed and live.job_id not in self.troubles:
            return
        rules = self._rules(live)
        if verdict.failed:
            kind: Event = "dead" if verdict.final else "failed"
            self._remember(live.job_id, rules, now_us, outbox)
        elif verdict.reason is Reason.SUCCEEDED:
            kind = "recovered"
            self._mend(live.job_id, outbox)
        else:
            return
        why = _RECOVERED if kind == "recovered" else SENTENCES[verdict.reason]
        state = {"failed": "retrying", "dead": "dead", "recovered": "succeeded"}[kind]
        run = _run(live, state, end.started_us, end.finished_us)
        for rule in rules:
            # A subscription to failures alone gets the last one as well.
            event: Event = "failed" if kind == "dead" and "dead" not in rule.events else kind
            if event in rule.events:
                self._notify(rule, live.job_id, event, verdict.reason.name.lower(), why, now_us, outbox, run, end.error)

    def granted(self, live: LiveRun, now_us: int, outbox: Batch) -> None:
        """A run starts; a notice goes to each subscription for which it is late."""
        if live.key in self._noticed_late:
            self._noticed_late.discard(live.key)
        else:
            self._late(live, "running", _LATE, now_us, outbox)

    def expired(self, live: LiveRun, reason: Reason, now_us: int, outbox: Batch) -> None:
        """A run was too late to start at all: every subscription to lateness gets a notice."""
        for rule in self._rules(live) if reason is Reason.START_DEADLINE_PASSED else ():
            if "late" in rule.events:
                run = _run(live, "expired", late_us=now_us - live.due_us)
                name = reason.name.lower()
                self._notify(rule, live.job_id, "late", name, SENTENCES[reason], now_us, outbox, run)

    def waiting(self, lives: Collection[LiveRun], now_us: int, outbox: Batch) -> None:
        """Looks at the runs in memory for those that should have started by now."""
        self._noticed_late = {live.key for live in lives if live.key in self._noticed_late}
        for live in lives:
            if (
                live.state is State.READY
                and now_us - live.due_us > self.late_us
                and live.key not in self._noticed_late
                and self._late(live, "waiting", _WAITS, now_us, outbox)
            ):
                self._noticed_late.add(live.key)

    def silent(
        self, rule: NoticeRule, job_id: JobId, expected_us: int, succeeded_us: int | None, now_us: int, outbox: Batch
    ) -> None:
        trouble = self.troubles.get(job_id) or Trouble(now_us, frozenset())
        if rule.subscription_id in trouble.silent_for:
            return
        trouble = trouble._replace(silent_for=trouble.silent_for | {rule.subscription_id})
        self.troubles[job_id] = outbox.troubles[job_id] = trouble
        silence = {"expected_at": _time(expected_us), "last_success_at": _time(succeeded_us)}
        self._notify(rule, job_id, "silent", "silent", _SILENT, now_us, outbox, silence=_json(silence))

    def send_folded(self, now_us: int, outbox: Batch) -> None:
        """Sends the folded notices of all quiet times that are over."""
        while self._ends and self._ends[0][0] <= now_us:
            until_us, key = heappop(self._ends)
            quiet = self._quiet.get(key)
            if quiet is None or quiet.until_us != until_us:
                continue
            del self._quiet[key]
            rule = self.rules.get(key[0])
            if quiet.last is not None and rule is not None:
                self.sent += 1
                outbox.notices.append(quiet.last._replace(folded=quiet.folded - 1))
                self._begin_quiet(key, rule, now_us)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _rules(self, live: LiveRun) -> tuple[NoticeRule, ...]:
        if live.lane[1] == DELIVERIES:
            return ()
        of_job = self._of_job.get(live.job_id)
        of_tenant = self._of_tenant.get(live.tenant_id)
        if of_job is None:
            return of_tenant or ()
        return tuple(rule for rule in of_job if rule.tenant_id == live.tenant_id) + (of_tenant or ())

    def _remember(self, job_id: JobId, rules: tuple[NoticeRule, ...], now_us: int, outbox: Batch) -> None:
        if job_id not in self.troubles and any("recovered" in rule.events for rule in rules):
            self.troubles[job_id] = outbox.troubles[job_id] = Trouble(now_us, frozenset())

    def _mend(self, job_id: JobId, outbox: Batch) -> None:
        del self.troubles[job_id]
        outbox.troubles[job_id] = None

    def _late(self, live: LiveRun, state: str, why: str, now_us: int, outbox: Batch) -> bool:
        late_us = now_us - live.due_us
        noticed = False
        for rule in self._rules(live):
            if "late" in rule.events and late_us > rule.late_us:
                run = _run(live, state, late_us=late_us)
                self._notify(rule, live.job_id, "late", "late", why, now_us, outbox, run)
                noticed = True
        return noticed

    def _notify(
        self,
        rule: NoticeRule,
        job_id: JobId,
        event: Event,
        reason: str,
        why: str,
        now_us: int,
        outbox: Batch,
        run: str | None = None,
        error: str | None = None,
        silence: str | None = None,
    ) -> None:
        key = (rule.subscription_id, job_id, event)
        quiet = self._quiet.get(key)
        if quiet is None and len(self._quiet) >= _MAX_QUIET:
            self.dropped += 1
            return
        self._notices += 1
        notice = NoticeRow(
            rule.subscription_id, shard_of(job_id), job_id, event_text(self._node_id, self._notices), TYPES[event],
            to_datetime(now_us).isoformat(), run, silence, reason, why, error and error[:_MAX_ERROR], 0,
        )  # fmt: skip
        if quiet is not None and quiet.until_us > now_us:
            quiet.folded += 1
            quiet.last = notice
            return
        self.sent += 1
        outbox.notices.append(notice._replace(folded=quiet.folded if quiet else 0))
        self._begin_quiet(key, rule, now_us)

    def _begin_quiet(self, key: _Key, rule: NoticeRule, now_us: int) -> None:
        if rule.quiet_us:
            until_us = now_us + rule.quiet_us
            self._quiet[key] = _Quiet(until_us)
            heappush(self._ends, (until_us, key))
        else:
            self._quiet.pop(key, None)

    def _keep_quiet(self, wanted: Callable[[_Key], bool]) -> None:
        self._quiet = {key: quiet for key, quiet in self._quiet.items() if wanted(key)}


_encode = msgspec.json.Encoder().encode


def _json(value: object) -> str:
    return _encode(value).decode()


def _run(
    live: LiveRun, state: str, started_us: int | None = None, finished_us: int | None = None, late_us: int | None = None
) -> str:
    return _json(
        {
            "id": run_text(live.key),
            "state": state,
            "attempt": live.attempt + 1 if state == "running" else live.attempt,
            "failures": live.failures,
            "nominal_at": _time(live.nominal_us),
            "due_at": _time(live.due_us),
            "started_at": _time(started_us),
            "finished_at": _time(finished_us),
            "late_s": None if late_us is None else round(late_us / SECOND_US, 3),
        }
    )


def _time(instant_us: int | None) -> str | None:
    return None if instant_us is None else to_datetime(instant_us).isoformat()
