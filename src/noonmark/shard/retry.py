"""After a failed attempt: try again, and when, or give up."""

from collections.abc import Callable

from noonmark.clock import SECOND_US
from noonmark.model.policy import Policy, Retry
from noonmark.model.reason import PROCESS_DIED, Outcome, Reason


def delay_us(retry: Retry, failures: int, random: Callable[[], float]) -> int:
    """Full jitter: anywhere between nothing and the exponential bound."""
    bound_s = min(retry.max_delay_s, retry.base_s * retry.factor ** min(failures - 1, 64))
    return round(random() * bound_s * SECOND_US)


def gives_up(policy: Policy, outcome: Outcome, failures: int, error_type: str | None) -> Reason | None:
    """The reason to make the run a dead letter, or None to try again. `failures` counts this one."""
    if policy.at_most_once and (outcome is Outcome.LOST or PROCESS_DIED in (error_type or "").split()):
        return Reason.AT_MOST_ONCE
    if error_type and not set(policy.retry.no_retry).isdisjoint(error_type.split()):
        return Reason.NOT_RETRYABLE
    if failures >= policy.retry.max_attempts:
        return Reason.ATTEMPTS_EXHAUSTED
    return None
