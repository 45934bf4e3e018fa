"""The owner's decisions that are not in the database yet: one batch becomes one transaction."""

from typing import NamedTuple

from noonmark.model.audit import Entry
from noonmark.model.ids import GrantId, JobId, RunKey
from noonmark.model.notice import NoticeRow, Trouble
from noonmark.model.reason import Reason
from noonmark.model.request import RequestRow
from noonmark.model.run import AttemptRow, DeadRow, GrantRow, RunRow


class Requeue(NamedTuple):
    """A run goes back to waiting: its row's new attempt number, failures, due time and reason."""

    shard: int
    nominal_us: int
    job_id: int
    attempt: int
    failures: int
    due_us: int
    reason: Reason
    error: str | None
    sleeps: bool
    """It waits beyond the watermark and is not in memory."""
    parked: bool
    """Its job is paused."""


class FixedDelayEnd(NamedTuple):
    """A run ended that may be the current run of a fixed delay, which the next one follows."""

    shard: int
    job_id: JobId
    nominal_us: int
    ended_us: int


class Batch:
    """Rows in the order in which the transaction writes them, and the answers that its commit releases."""

    __slots__ = (
        "answers",
        "attempts",
        "audit",
        "cancelling",
        "created",
        "dead",
        "ended",
        "finished_grants",
        "fixed_delay_ends",
        "grants",
        "notices",
        "requests",
        "requeues",
        "slept",
        "troubles",
    )

    def __init__(self) -> None:
        self.created: list[RunRow] = []
        self.requeues: dict[RunKey, Requeue] = {}
        self.cancelling: list[tuple[int, int, JobId]] = []
        self.ended: list[tuple[int, int, JobId]] = []
        """(shard, nominal_us, job_id) of runs whose rows go."""
        self.fixed_delay_ends: list[FixedDelayEnd] = []
        """Of some of the ended runs; never without them."""
        self.grants: list[GrantRow] = []
        self.finished_grants: list[tuple[int, GrantId]] = []
        self.attempts: list[AttemptRow] = []
        self.dead: list[DeadRow] = []
        self.audit: list[Entry] = []
        self.requests: list[RequestRow] = []
        """Of some of the created runs: the requests that asked for them."""
        self.notices: list[NoticeRow] = []
        self.troubles: dict[JobId, Trouble | None] = {}
        """Watched jobs that are in trouble from now on, or (None) no longer."""
        self.slept: set[RunKey] = set()
        """Runs that left memory but not the table; a page read before this batch commits shows them as they were."""
        self.answers: list[tuple[object, object]] = []
        """(token of the caller, its answer)"""

    def __bool__(self) -> bool:
        return bool(
            self.answers
            or self.created
            or self.requeues
            or self.cancelling
            or self.ended
            or self.grants
            or self.finished_grants
            or self.attempts
            or self.dead
            or self.audit
            or self.requests
            or self.notices
            or self.troubles
        )

    def forgotten(self) -> set[RunKey]:
        """Runs that a page read now would wrongly bring back."""
        return {(job_id, nominal_us) for _, nominal_us, job_id in self.ended} | self.slept
