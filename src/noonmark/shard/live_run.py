"""A run in its owner's memory, and the grant that holds it."""

from enum import IntEnum

from noonmark.model.ids import GrantId, RunKey, TenantId, WorkerId, shard_of
from noonmark.model.reason import Reason
from noonmark.model.run import RunRow

Kind = tuple[str, str]
"""A queue and a task: a worker that serves both can be granted the run."""
LaneKey = tuple[TenantId, Kind, int]
"""One tenant's runs of one kind and priority."""

LEFT_IN_ROW = ""
"""Stands for an input too large to keep in memory; never valid JSON itself. It is read when the run is granted."""


class State(IntEnum):
    HELD = 0
    """Waits for its due time."""
    READY = 1
    """Waits for a worker."""
    GRANTED = 2
    """A worker has it."""
    GONE = 3
    """No longer in memory; queues drop it when they meet it."""


class Grant:
    """The runs that one answer gave to one worker. `remaining` counts its current runs by shard."""

    __slots__ = ("asked_us", "grant_id", "granted_us", "known_us", "remaining", "runs", "worker_id")

    def __init__(self, grant_id: GrantId, worker_id: WorkerId, granted_us: int, known_us: int) -> None:
        self.grant_id = grant_id
        self.worker_id = worker_id
        self.granted_us = granted_us
        self.known_us = known_us
        """Since when its worker should know it: since the answer left, or since a takeover. Patience begins then."""
        self.asked_us: int | None = None
        """Since when its worker, which does not name it, is asked whether it ever had it."""
        self.runs: list[LiveRun] = []
        self.remaining: dict[int, int] = {}

    def current(self) -> list["LiveRun"]:
        return [live for live in self.runs if live.grant is self]


class LiveRun:
    __slots__ = (
        "attempt",
        "cancelling",
        "due_us",
        "failures",
        "grant",
        "input",
        "job_id",
        "key",
        "lane",
        "nominal_us",
        "policy_id",
        "priority",
        "reason",
        "shard",
        "state",
        "tenant_id",
        "version",
    )

    def __init__(self, row: RunRow, kind: Kind) -> None:
        (
            self.job_id,
            self.nominal_us,
            self.due_us,
            self.tenant_id,
            self.version,
            self.policy_id,
            self.priority,
            self.attempt,
            self.failures,
            self.reason,
            self.input,
        ) = row[:11]
        self.key: RunKey = (self.job_id, self.nominal_us)
        self.lane: LaneKey = (self.tenant_id, kind, self.priority)
        self.shard = shard_of(self.job_id)
        self.cancelling = self.reason == Reason.CANCEL_REQUESTED
        self.state = State.HELD
        self.grant: Grant | None = None

    def __lt__(self, other: "LiveRun") -> bool:
        """Heaps ask this when all else is equal: of a run that was taken out and read back, the old entry lingers."""
        return False
