"""Bounds of the owner's memory and patience, and its counters."""

import msgspec

from noonmark.model.reason import Outcome

LATENESS_BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0, 600.0)


class Limits(msgspec.Struct, frozen=True):
    memory_runs: int = 200_000
    lane_runs: int = 200
    page_runs: int = 5_000
    input_bytes_in_memory: int = 1_024
    claim_runs: int = 1_000
    silence_us: int = 10_000_000
    """A worker unheard for this long loses its grants."""
    stall_us: int = 2_500_000
    """After this long without a look at the workers, their silence may be the node's own."""
    appear_us: int = 3_000_000
    """A worker finds a node that has just begun within this time."""
    kept_late_us: int = 3_000_000
    """A worker may have been heard so much later than its row says."""
    delivery_us: int = 3_000_000
    """A grant that its worker does not name this long after it was made never arrived."""
    overrun_us: int = 60_000_000
    """A worker reports a timeout itself; this long after one, the owner stops waiting for that."""


class Counts:
    """Counters since the owner began; the node turns them into metrics."""

    def __init__(self) -> None:
        self.granted = 0
        self.retried = 0
        self.died = 0
        self.rescued_grants = 0
        self.refused_reports = 0
        self.ended = dict.fromkeys(Outcome, 0)
        self.lateness = [0] * (len(LATENESS_BOUNDS_S) + 1)
        """From due time to grant, by bound."""
        self.lateness_us = 0
