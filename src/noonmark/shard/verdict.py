"""The verdict on an attempt that ended: whether its run is over, dead or tried again."""

from typing import NamedTuple, Protocol

from noonmark.model.policy import Policy
from noonmark.model.reason import Outcome, Reason
from noonmark.shard.live_run import LiveRun
from noonmark.shard.retry import gives_up


class AttemptEnd(Protocol):
    """How one attempt ended, from its worker's report or its silence."""

    @property
    def outcome(self) -> Outcome: ...
    @property
    def started_us(self) -> int | None: ...
    @property
    def finished_us(self) -> int: ...
    @property
    def error_type(self) -> str | None: ...
    @property
    def error(self) -> str | None: ...
    @property
    def result(self) -> str | None: ...


class Ended(NamedTuple):
    """An attempt that ended without a word from its worker."""

    outcome: Outcome
    finished_us: int
    started_us: int | None = None
    error_type: str | None = None
    error: str | None = None
    result: str | None = None


class Verdict(NamedTuple):
    outcome: Outcome
    reason: Reason
    final: bool
    """The run is over."""
    failed: bool
    """Counts against the job's attempts; with `final`, the run becomes a dead letter."""


_SUCCEEDED = Verdict(Outcome.SUCCEEDED, Reason.SUCCEEDED, final=True, failed=False)
_CANCELLED = Verdict(Outcome.CANCELLED, Reason.CANCELLED, final=True, failed=False)


def judge(live: LiveRun, policy: Policy, end: AttemptEnd, reason: Reason | None) -> Verdict:
    """`reason` overrides the ordinary one where the owner knows better than the report.

    Of a run with delivery at most once, only an attempt that is known not to have begun is repeated as if it had not
    been: one that its worker hands back with no time of its start, or one that no worker can have received.
    """
    outcome = end.outcome
    if outcome is Outcome.SUCCEEDED:
        return _SUCCEEDED
    if live.cancelling or outcome is Outcome.CANCELLED:
        return _CANCELLED
    if outcome is Outcome.RELEASED:
        if policy.at_most_once and end.started_us is not None:
            return Verdict(outcome, Reason.AT_MOST_ONCE, final=True, failed=True)
        return Verdict(outcome, reason or Reason.RELEASED, final=False, failed=False)
    fatal = gives_up(policy, outcome, live.failures + 1, end.error_type)
    if policy.at_most_once and reason is Reason.AT_MOST_ONCE:
        fatal = reason
    ordinary = Reason.TIMED_OUT if outcome is Outcome.TIMED_OUT else Reason.FAILED
    return Verdict(outcome, fatal or reason or ordinary, final=fatal is not None, failed=True)
