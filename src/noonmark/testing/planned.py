"""A job in memory: its row, and when it fires next."""

from noonmark.clock import NEVER_US, SECOND_US
from noonmark.model.ids import JobId
from noonmark.model.job_row import JobRow
from noonmark.model.run import RunRow
from noonmark.planning.occurrences import due_runs, next_occurrences
from noonmark.planning.plan import Plan
from noonmark.schedule import Recurrence, recurrence
from noonmark.wire.resources import JobSpec

TENANT = 1
GRACE_US = 30 * SECOND_US
"""An occurrence that fires later than this was missed; the nodes' default."""


class Planned:
    def __init__(self, plan: Plan, row: JobRow, recurring: Recurrence | None) -> None:
        self.plan = plan
        self.row = row
        self.recurrence = recurring
        self.updated_us = row.created_us
        self.next_us: int | None = None
        """The nominal time of the next occurrence that no tick has made."""

    @property
    def spec(self) -> JobSpec:
        return self.plan.spec

    @property
    def job_id(self) -> JobId:
        return self.row.job_id

    @property
    def due_us(self) -> int | None:
        """When it fires next by the clock."""
        return None if self.next_us is None or not self.row.active else self.next_us + self.row.jitter_us

    def look_ahead(self, watermark_us: int) -> None:
        """All that was due up to the watermark has been made."""
        found = self.next_fires(watermark_us - self.row.jitter_us, 1)
        self.next_us = found[0] if found else None

    def fire(self, watermark_us: int, now_us: int) -> list[RunRow]:
        """The due runs that no tick has made; missed ones as far as the misfire policy catches them up."""
        if self.recurrence is None:
            return []
        return due_runs(self.row, self.recurrence, watermark_us, now_us, now_us, GRACE_US)

    def next_fires(self, after_us: int, most: int) -> list[int]:
        if self.recurrence is None or not self.row.active:
            return []
        return next_occurrences(self.row, self.recurrence, after_us, most, NEVER_US)


def recurrence_of(plan: Plan) -> Recurrence | None:
    return None if plan.timing.text is None else recurrence(plan.timing.text)
