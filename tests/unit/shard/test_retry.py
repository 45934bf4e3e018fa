"""How long a failed run waits, and when it is given up."""

import pytest

from noonmark.model.policy import Policy, Retry
from noonmark.model.reason import PROCESS_DIED, Outcome, Reason
from noonmark.shard.retry import delay_us, gives_up

RETRY = Retry(max_attempts=3, base_s=2.0, factor=3.0, max_delay_s=10.0, no_retry=("ValueError", "app.Fatal"))
POLICY = Policy(task="t", retry=RETRY)
AT_MOST_ONCE = Policy(task="t", retry=RETRY, delivery="at_most_once")


@pytest.mark.parametrize(("failures", "bound_s"), [(1, 2), (2, 6), (3, 10), (4, 10), (10_000, 10)])
def test_the_delay_lies_between_nothing_and_the_exponential_bound(failures, bound_s):
    assert delay_us(RETRY, failures, lambda: 0.0) == 0
    assert delay_us(RETRY, failures, lambda: 1.0) == bound_s * 1_000_000
    assert delay_us(RETRY, failures, lambda: 0.5) == bound_s * 500_000


def test_a_large_factor_does_not_overflow():
    assert delay_us(Retry(base_s=1.0, factor=10.0, max_delay_s=5.0), 100, lambda: 1.0) == 5_000_000


@pytest.mark.parametrize(
    ("policy", "outcome", "failures", "error_type", "reason"),
    [
        (POLICY, Outcome.FAILED, 1, None, None),
        (POLICY, Outcome.FAILED, 2, "KeyError Exception", None),
        (POLICY, Outcome.FAILED, 3, None, Reason.ATTEMPTS_EXHAUSTED),
        (POLICY, Outcome.TIMED_OUT, 3, None, Reason.ATTEMPTS_EXHAUSTED),
        (POLICY, Outcome.FAILED, 1, "ValueError", Reason.NOT_RETRYABLE),
        (POLICY, Outcome.FAILED, 1, "app.Worse app.Fatal Exception", Reason.NOT_RETRYABLE),
        (POLICY, Outcome.FAILED, 1, "MyValueError", None),
        (POLICY, Outcome.LOST, 1, None, None),
        (AT_MOST_ONCE, Outcome.LOST, 1, None, Reason.AT_MOST_ONCE),
        (AT_MOST_ONCE, Outcome.FAILED, 1, f"{PROCESS_DIED} ProcessDied", Reason.AT_MOST_ONCE),
        (AT_MOST_ONCE, Outcome.FAILED, 1, "OSError Exception", None),
        (AT_MOST_ONCE, Outcome.FAILED, 1, None, None),
    ],
)
def test_giving_up(policy, outcome, failures, error_type, reason):
    assert gives_up(policy, outcome, failures, error_type) is reason
