"""What the end of an attempt means for its run: the whole table."""

import pytest

from noonmark.model.policy import Policy, Retry
from noonmark.model.reason import Outcome, Reason
from noonmark.model.run import RunRow
from noonmark.shard.live_run import LiveRun
from noonmark.shard.verdict import Ended, Verdict, judge

POLICY = Policy(task="t", retry=Retry(max_attempts=2, no_retry=("ValueError",)))
ONCE = Policy(task="t", retry=Retry(max_attempts=2), delivery="at_most_once")
Out, R = Outcome, Reason


def live(failures=0, reason=Reason.SCHEDULED):
    return LiveRun(RunRow(1, 1, 1, 1, 1, 1, 5, failures, failures, reason, None), POLICY.kind)


@pytest.mark.parametrize(
    ("policy", "failures", "outcome", "reason", "verdict"),
    [
        (POLICY, 0, Out.SUCCEEDED, None, Verdict(Out.SUCCEEDED, R.SUCCEEDED, True, False)),
        (POLICY, 0, Out.FAILED, None, Verdict(Out.FAILED, R.FAILED, False, True)),
        (POLICY, 1, Out.FAILED, None, Verdict(Out.FAILED, R.ATTEMPTS_EXHAUSTED, True, True)),
        (POLICY, 0, Out.TIMED_OUT, None, Verdict(Out.TIMED_OUT, R.TIMED_OUT, False, True)),
        (POLICY, 0, Out.LOST, R.WORKER_LOST, Verdict(Out.LOST, R.WORKER_LOST, False, True)),
        (POLICY, 1, Out.LOST, R.WORKER_LOST, Verdict(Out.LOST, R.ATTEMPTS_EXHAUSTED, True, True)),
        (ONCE, 0, Out.LOST, R.WORKER_LOST, Verdict(Out.LOST, R.AT_MOST_ONCE, True, True)),
        (ONCE, 0, Out.TIMED_OUT, R.AT_MOST_ONCE, Verdict(Out.TIMED_OUT, R.AT_MOST_ONCE, True, True)),
        (ONCE, 0, Out.TIMED_OUT, None, Verdict(Out.TIMED_OUT, R.TIMED_OUT, False, True)),
        (ONCE, 0, Out.RELEASED, R.UNDELIVERED, Verdict(Out.RELEASED, R.UNDELIVERED, False, False)),
        (POLICY, 1, Out.RELEASED, None, Verdict(Out.RELEASED, R.RELEASED, False, False)),
        (POLICY, 0, Out.CANCELLED, None, Verdict(Out.CANCELLED, R.CANCELLED, True, False)),
    ],
)
def test_verdicts(policy, failures, outcome, reason, verdict):
    assert judge(live(failures), policy, Ended(outcome, 9), reason) == verdict


def test_a_handed_back_attempt_of_an_at_most_once_run_is_repeated_only_if_it_had_not_begun():
    begun = judge(live(), ONCE, Ended(Out.RELEASED, 9, started_us=8), None)
    assert begun == Verdict(Out.RELEASED, R.AT_MOST_ONCE, True, True)
    assert judge(live(), ONCE, Ended(Out.RELEASED, 9), None) == Verdict(Out.RELEASED, R.RELEASED, False, False)
    assert not judge(live(), POLICY, Ended(Out.RELEASED, 9, started_us=8), None).final


def test_an_error_that_must_not_be_retried_is_fatal():
    verdict = judge(live(), POLICY, Ended(Out.FAILED, 9, error_type="ValueError Exception"), None)
    assert verdict == Verdict(Out.FAILED, R.NOT_RETRYABLE, True, True)
    assert (verdict.final, verdict.failed) == (True, True)


@pytest.mark.parametrize("outcome", [Out.FAILED, Out.TIMED_OUT, Out.LOST, Out.RELEASED, Out.CANCELLED])
def test_a_run_that_was_asked_to_stop_is_cancelled_however_it_stops(outcome):
    asked = live(reason=Reason.CANCEL_REQUESTED)
    assert judge(asked, POLICY, Ended(outcome, 9), None) == Verdict(Out.CANCELLED, R.CANCELLED, True, False)


def test_a_run_that_was_asked_to_stop_may_still_succeed():
    asked = live(reason=Reason.CANCEL_REQUESTED)
    assert judge(asked, POLICY, Ended(Out.SUCCEEDED, 9), None).outcome is Out.SUCCEEDED
