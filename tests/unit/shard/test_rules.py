"""Rules at the moment of starting."""

import pytest

from noonmark.model.policy import Policy
from noonmark.model.reason import Reason
from noonmark.model.run import RunRow
from noonmark.shard.live_run import LiveRun
from noonmark.shard.rules import StartDeadline

DUE_US = 1_000_000_000


def live(attempt=0):
    return LiveRun(
        RunRow(1, DUE_US - 5, DUE_US, 1, 1, 1, 5, attempt, attempt, Reason.SCHEDULED, None), ("default", "t")
    )


@pytest.mark.parametrize(
    ("deadline_s", "attempt", "late_us", "reason"),
    [
        (None, 0, 10**12, None),
        (1.5, 0, -1, None),
        (1.5, 0, 1_500_000, None),
        (1.5, 0, 1_500_001, Reason.START_DEADLINE_PASSED),
        (1.5, 1, 10**12, None),
    ],
)
def test_start_deadline(deadline_s, attempt, late_us, reason):
    policy = Policy(task="t", start_deadline_s=deadline_s)
    assert StartDeadline().refuses(live(attempt), policy, DUE_US + late_us) is reason
