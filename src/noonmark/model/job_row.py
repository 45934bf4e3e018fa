"""A job as its row has it: all that an owner needs to make runs of it."""

from collections.abc import Sequence
from typing import NamedTuple

from noonmark.model.ids import JobId, PolicyId, ScheduleId, TenantId, shard_of


class JobRow(NamedTuple):
    job_id: JobId
    tenant_id: TenantId
    name: str
    version: int
    policy_id: PolicyId
    schedule_id: ScheduleId | None
    jitter_ms: int
    priority: int
    catch_up: int
    """How many missed occurrences are caught up at the most: the latest ones."""
    active: bool
    created_us: int
    planned_us: int
    """Occurrences after this count: the job was created, changed or resumed then, or starts right after."""
    input: str | None
    ends_us: int | None = None
    """Occurrences after this do not count."""
    runs_left: int | None = None
    """How many occurrences were left at `planned_us`; of a fixed delay, how many runs may still be made."""
    catch_up_s: float | None = None
    """An occurrence that was missed by longer is not caught up."""
    delay_ms: int | None = None
    current_run_us: int | None = None
    """The nominal time of a fixed delay's current run, at the moment when this was read. The column is `link_at`."""
    labels: Sequence[str] | None = None
    """Each as `key` and as `key:value`."""
    skips: Sequence[int] | None = None
    """Occurrences that do not fire."""

    @property
    def shard(self) -> int:
        return shard_of(self.job_id)

    @property
    def jitter_us(self) -> int:
        """How long after their nominal times its occurrences are due."""
        return self.jitter_ms * 1000
