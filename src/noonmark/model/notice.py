"""What owners of jobs can ask to be told of, and one such word as it is written down."""

from typing import Literal, NamedTuple

from noonmark.model.ids import JobId, TenantId

Event = Literal["failed", "dead", "recovered", "late", "silent"]
TYPES: dict[Event, str] = {
    "failed": "run.failed",
    "dead": "run.dead",
    "recovered": "job.recovered",
    "late": "run.late",
    "silent": "job.silent",
}
DELIVER_TASK = "noonmark.deliver"
DELIVER_QUEUE = "noonmark"
DELIVERIES = (DELIVER_QUEUE, DELIVER_TASK)
"""What a run must be of to be a delivery; nobody is told how these end."""
DELIVERY_REFUSED = "noonmark.Refused"
"""The type of the error of a delivery that was refused for good, which is not tried again."""
OWN_TASKS = "noonmark."
"""Names of tasks that nodes carry out themselves begin so."""


class NoticeRule(NamedTuple):
    """A subscription as the owner of a shard knows it. Its labels are looked at where the notice is written."""

    subscription_id: int
    tenant_id: TenantId
    job_id: JobId | None
    """None for all jobs of the tenant."""
    events: frozenset[Event]
    quiet_us: int
    """One notice of a kind and job at most in this time."""
    late_us: int
    """A run is late after this long."""


class NoticeRow(NamedTuple):
    """In the order of the parameters of insert_notices.sql, which adds the names of job and tenant."""

    subscription_id: int
    shard: int
    job_id: JobId
    event_id: str
    type: str
    at: str
    run: str | None
    """JSON"""
    silence: str | None
    """JSON"""
    reason: str
    why: str
    error: str | None
    folded: int
    """How many more of this kind and job it stands for."""


class Trouble(NamedTuple):
    """A watched job whose last word was not a success."""

    since_us: int
    silent_for: frozenset[int]
    """The subscriptions that were told of its silence."""
