"""Steps that commands about several jobs share."""

from collections.abc import Sequence

from noonmark.errors import NotFound
from noonmark.model.ids import JobId
from noonmark.model.job_row import JobRow
from noonmark.wire.commands import Refusal

ACTIVE, PAUSED = '{"state":"active"}', '{"state":"paused"}'
TRIES = 5
"""So often a command looks again after another caller has changed one of its jobs."""
GONE = Refusal(NotFound.code, "there is no such job")


def refusals(
    asked: Sequence[JobId], found: Sequence[JobRow], tenant_id: int
) -> tuple[list[JobRow], list[Refusal | None]]:
    """The jobs of the tenant among those that were found, and an answer for each that was asked for."""
    jobs = [job for job in found if job.tenant_id == tenant_id]
    known = {job.job_id for job in jobs}
    return jobs, [None if job_id in known else GONE for job_id in asked]
