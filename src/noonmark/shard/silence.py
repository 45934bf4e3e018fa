"""When a job should have succeeded by."""

from collections.abc import Collection
from typing import NamedTuple

from noonmark.schedule import Recurrence


class Expectation(NamedTuple):
    """Of one subscription to one job."""

    subscription_id: int
    job_id: int
    since_us: int
    """Nothing before this was expected: the job was changed or the subscription made then."""
    ends_us: int | None
    skips: Collection[int]
    current_run_us: int | None
    """The nominal time of the current run of a fixed delay."""
    expect_every_us: int | None
    """A success is expected at least so often; the schedule does not matter then."""
    grace_us: int
    succeeded_us: int | None


def expected_us(expectation: Expectation, recurrence: Recurrence | None) -> int | None:
    """The moment from which a success is awaited; None while none is. After the time of grace, the job is silent."""
    since_us = max(expectation.since_us, expectation.succeeded_us or 0)
    if expectation.expect_every_us is not None:
        return since_us + expectation.expect_every_us
    if recurrence is None:
        current_run_us = expectation.current_run_us
        return current_run_us if current_run_us is not None and current_run_us > since_us else None
    for _ in range(len(expectation.skips) + 1):
        next_us = recurrence.next_after(since_us)
        if next_us is None or (expectation.ends_us is not None and next_us > expectation.ends_us):
            return None
        if next_us not in expectation.skips:
            return next_us
        since_us = next_us
    return None
