"""Rules that a run must pass at the moment it would start.

A rule answers None to let the run start, or the reason to end it without an attempt. The owner asks every rule for
every run it takes from the queue; limits, breakers and overlap policies join here.
"""

from typing import Protocol

from noonmark.clock import SECOND_US
from noonmark.model.policy import Policy
from noonmark.model.reason import Reason
from noonmark.shard.live_run import LiveRun


class StartRule(Protocol):
    def refuses(self, live: LiveRun, policy: Policy, now_us: int) -> Reason | None: ...


class StartDeadline:
    """A run that could not begin its first attempt within the job's start deadline is not worth starting."""

    def refuses(self, live: LiveRun, policy: Policy, now_us: int) -> Reason | None:
        if policy.start_deadline_s is None or live.attempt > 0:
            return None
        late_us = now_us - live.due_us
        return Reason.START_DEADLINE_PASSED if late_us > policy.start_deadline_s * SECOND_US else None
