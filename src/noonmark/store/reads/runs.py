"""One run, wherever it stands, and its attempts."""

from typing import Literal, NamedTuple, cast

from noonmark.model.ids import RunKey, shard_of
from noonmark.model.reason import Outcome
from noonmark.store.connect import Pool
from noonmark.store.statement import statement

RunState = Literal["waiting", "running", "retrying", "parked", "succeeded", "dead", "cancelled", "expired", "withdrawn"]
LIVE_STATES: tuple[RunState, ...] = ("waiting", "running", "retrying", "parked")
ENDED_STATES: dict[Outcome, RunState] = {
    Outcome.SUCCEEDED: "succeeded",
    Outcome.CANCELLED: "cancelled",
    Outcome.EXPIRED: "expired",
    Outcome.WITHDRAWN: "withdrawn",
    # A final attempt that ended in any other way used up the run.
    Outcome.FAILED: "dead",
    Outcome.TIMED_OUT: "dead",
    Outcome.LOST: "dead",
    Outcome.RELEASED: "dead",
}
ALL_STATES: tuple[RunState, ...] = (*LIVE_STATES, *dict.fromkeys(ENDED_STATES.values()))


class RunRecord(NamedTuple):
    nominal_us: int
    due_us: int
    version: int
    priority: int | None
    attempt: int
    reason: int
    error: str | None
    live_state: str | None
    """None for one that ended; then `outcome` says how."""
    outcome: int | None
    finished_us: int | None
    job_name: str | None = None

    @property
    def state(self) -> RunState:
        if self.outcome is None:
            return cast(RunState, self.live_state)
        return ENDED_STATES[Outcome(self.outcome)]


class AttemptRecord(NamedTuple):
    attempt: int
    outcome: int
    reason: int
    final: bool
    worker_id: int | None
    due_us: int
    granted_us: int | None
    started_us: int | None
    finished_us: int
    error: str | None
    result: str | None


async def fetch_run(pool: Pool, tenant_id: int, key: RunKey) -> RunRecord | None:
    job_id, nominal_us = key
    row = await pool.fetchrow(statement("fetch_run"), shard_of(job_id), job_id, nominal_us, tenant_id)
    return None if row is None else RunRecord(*row)


async def list_attempts(pool: Pool, tenant_id: int, key: RunKey, limit: int) -> list[AttemptRecord]:
    job_id, nominal_us = key
    rows = await pool.fetch(statement("list_attempts"), shard_of(job_id), job_id, nominal_us, tenant_id, limit)
    return [AttemptRecord(*row) for row in rows]
