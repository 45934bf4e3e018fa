"""What the owner tells, to whom, and what it folds: without a database."""

import json
from typing import Any

from noonmark.clock import SECOND_US
from noonmark.model.ids import JobId, PolicyId, TenantId
from noonmark.model.notice import DELIVERIES, NoticeRule, Trouble
from noonmark.model.reason import Outcome, Reason
from noonmark.model.run import RunRow
from noonmark.shard.live_run import LiveRun, State
from noonmark.shard.notice_rules import NoticeRules
from noonmark.shard.outbox import Batch
from noonmark.shard.verdict import Ended, Verdict

JOB, OTHER = JobId(5 << 12 | 3), JobId(6 << 12 | 3)
KIND = ("default", "task")
FAILED = Verdict(Outcome.FAILED, Reason.FAILED, final=False, failed=True)
DIED = Verdict(Outcome.FAILED, Reason.ATTEMPTS_EXHAUSTED, final=True, failed=True)
SUCCEEDED = Verdict(Outcome.SUCCEEDED, Reason.SUCCEEDED, final=True, failed=False)
CANCELLED = Verdict(Outcome.CANCELLED, Reason.CANCELLED, final=True, failed=False)


def rule(*events: str, number: int = 1, job: JobId | None = None, tenant: int = 1, **changes: Any) -> NoticeRule:
    values = {"quiet_us": 60 * SECOND_US, "late_us": 10 * SECOND_US} | changes
    return NoticeRule(number, TenantId(tenant), job, frozenset(events), **values)  # type: ignore[arg-type]


def live(job: JobId = JOB, nominal_us: int = 1, kind: tuple[str, str] = KIND, tenant: int = 1) -> LiveRun:
    row = RunRow(job, nominal_us, nominal_us, TenantId(tenant), 1, PolicyId(1), 5, 1, 1, Reason.SCHEDULED, None)
    return LiveRun(row, kind)


class Watched:
    """A watch, and what it has told so far."""

    def __init__(self, *rules: NoticeRule) -> None:
        self.notice_rules = NoticeRules(7)
        self.outbox = Batch()
        self.notice_rules.follow(rules, self.outbox)

    def end(self, verdict: Verdict, at_s: float = 0.0, of: LiveRun | None = None) -> None:
        end = Ended(verdict.outcome, 2, 1, error="boom" if verdict.failed else None)
        self.notice_rules.ended(of or live(), verdict, end, round(at_s * SECOND_US), self.outbox)

    def told(self) -> list[tuple[str, int]]:
        return [(notice.type, notice.folded) for notice in self.outbox.notices]


def test_nobody_watches() -> None:
    watched = Watched()
    assert not watched.notice_rules.on
    watched.end(DIED)
    assert not watched.outbox


def test_rules_of_the_job_and_of_its_tenant_and_of_no_other() -> None:
    watched = Watched(
        rule("dead", number=1, job=JOB),
        rule("dead", number=2),
        rule("dead", number=3, job=OTHER),
        rule("dead", number=4, tenant=2),
        rule("late", number=5),
    )
    watched.end(DIED)
    assert [notice.subscription_id for notice in watched.outbox.notices] == [1, 2]


def test_deliveries_are_never_told_of() -> None:
    watched = Watched(rule("failed", "dead", "late", late_us=0))
    delivery = live(kind=DELIVERIES)
    watched.end(DIED, of=delivery)
    watched.notice_rules.granted(delivery, SECOND_US, watched.outbox)
    assert watched.told() == []


def test_a_recovery_comes_once_and_a_cancelled_run_is_none() -> None:
    watched = Watched(rule("recovered", quiet_us=0))
    watched.end(SUCCEEDED)
    watched.end(FAILED, 1)
    watched.end(DIED, 2)
    assert watched.outbox.troubles == {JOB: Trouble(SECOND_US, frozenset())}
    watched.end(CANCELLED, 3)
    watched.end(SUCCEEDED, 4)
    watched.end(SUCCEEDED, 5)
    assert watched.told() == [("job.recovered", 0)]
    assert watched.outbox.troubles == {JOB: None}


def test_trouble_is_kept_only_for_who_wants_to_hear_of_its_end() -> None:
    watched = Watched(rule("failed"))
    watched.end(FAILED)
    assert watched.notice_rules.troubles == {}


def test_trouble_that_nobody_watches_any_more_is_forgotten() -> None:
    watched = Watched(rule("recovered"))
    watched.end(FAILED)
    watched.notice_rules.follow([], watched.outbox)
    assert (watched.notice_rules.troubles, watched.outbox.troubles) == ({}, {JOB: None})
    assert not watched.notice_rules.on


def test_what_happens_in_the_quiet_time_is_folded_and_told_at_its_end() -> None:
    watched = Watched(rule("failed"))
    for second in (0, 1, 2, 3):
        watched.end(FAILED, second)
    watched.end(FAILED, 3, of=live(OTHER))
    assert watched.told() == [("run.failed", 0), ("run.failed", 0)]
    watched.notice_rules.send_folded(59 * SECOND_US, watched.outbox)
    assert len(watched.told()) == 2
    watched.notice_rules.send_folded(60 * SECOND_US, watched.outbox)
    assert watched.told()[2:] == [("run.failed", 2)]
    # that notice began a quiet time of its own, and the other job's went by without more
    watched.end(FAILED, 70)
    watched.notice_rules.send_folded(100 * SECOND_US, watched.outbox)
    assert len(watched.told()) == 3
    watched.notice_rules.send_folded(120 * SECOND_US, watched.outbox)
    assert watched.told()[3:] == [("run.failed", 0)]
    watched.notice_rules.send_folded(1000 * SECOND_US, watched.outbox)
    watched.end(FAILED, 1001)
    assert len(watched.told()) == 5
    assert len({notice.event_id for notice in watched.outbox.notices}) == 5


def test_a_subscription_that_ended_is_not_told_what_was_folded() -> None:
    watched = Watched(rule("failed"))
    watched.end(FAILED, 0)
    watched.end(FAILED, 1)
    watched.notice_rules.follow([rule("failed", number=2)], watched.outbox)
    watched.notice_rules.send_folded(100 * SECOND_US, watched.outbox)
    assert len(watched.told()) == 1


def test_a_late_start_is_told_unless_its_waiting_was() -> None:
    watched = Watched(rule("late", quiet_us=0))
    assert watched.notice_rules.late_us == 10 * SECOND_US
    waiting, started, on_time = live(nominal_us=1), live(nominal_us=2), live(nominal_us=25 * SECOND_US)
    for one in (waiting, started, on_time):
        one.state = State.READY
    started.state = State.GRANTED
    watched.notice_rules.waiting([waiting, started, on_time], 30 * SECOND_US, watched.outbox)
    watched.notice_rules.waiting([waiting, started, on_time], 31 * SECOND_US, watched.outbox)
    watched.notice_rules.granted(waiting, 32 * SECOND_US, watched.outbox)
    watched.notice_rules.granted(started, 32 * SECOND_US, watched.outbox)
    told = [json.loads(notice.run or "") for notice in watched.outbox.notices]
    assert [(run["state"], run["late_s"]) for run in told] == [("waiting", 30.0), ("running", 32.0)]


def test_a_run_that_never_started_is_late_whatever_the_threshold() -> None:
    watched = Watched(rule("late", late_us=10**12))
    watched.notice_rules.expired(live(), Reason.CANCELLED, SECOND_US, watched.outbox)
    watched.notice_rules.expired(live(), Reason.START_DEADLINE_PASSED, SECOND_US, watched.outbox)
    assert [notice.reason for notice in watched.outbox.notices] == ["start_deadline_passed"]


def test_silence_is_told_once_to_each_until_a_success() -> None:
    first, second = rule("silent", number=1), rule("silent", "recovered", number=2)
    watched = Watched(first, second)
    for one in (first, first, second):
        watched.notice_rules.silent(one, JOB, 5, None, 6, watched.outbox)
    assert [notice.subscription_id for notice in watched.outbox.notices] == [1, 2]
    assert watched.outbox.troubles == {JOB: Trouble(6, frozenset({1, 2}))}
    watched.end(SUCCEEDED)
    assert watched.told()[2:] == [("job.recovered", 0)]
    assert watched.outbox.notices[2].subscription_id == 2


def test_a_shard_that_is_given_away_takes_its_state_along() -> None:
    watched = Watched(rule("failed", "recovered"))
    watched.end(FAILED, 0)
    watched.end(FAILED, 1)
    watched.notice_rules.drop(3)
    watched.notice_rules.send_folded(100 * SECOND_US, watched.outbox)
    assert len(watched.told()) == 1
    assert watched.notice_rules.troubles == {}


def test_a_long_error_is_cut() -> None:
    watched = Watched(rule("dead"))
    watched.notice_rules.ended(live(), DIED, Ended(Outcome.FAILED, 1, error="x" * 20_000), 0, watched.outbox)
    assert len(watched.outbox.notices[0].error or "") == 8_000
