"""Runs that end without an attempt, and the audit's details of many runs."""

from collections.abc import Sequence

import msgspec

from noonmark.model.ids import RunKey, job_text, run_text
from noonmark.model.reason import Outcome, Reason
from noonmark.model.run import AttemptRow, RunRow
from noonmark.store.commit_steps import copy_attempts
from noonmark.store.connect import Connection

_MAX_NAMED = 10
"""So many runs are named in one entry of the audit."""


async def record_end(
    connection: Connection, rows: Sequence[RunRow], outcome: Outcome, reason: Reason, now_us: int
) -> None:
    """In history as attempt 0."""
    if not rows:
        return
    records = [AttemptRow.without_attempt(row, outcome, reason, now_us) for row in rows]
    await copy_attempts(connection, records)


def audit_details(keys: Sequence[RunKey]) -> tuple[str, str]:
    """Many runs as one entry of the audit: under their job, if they have one in common; how many, and the first."""
    first = keys[0][0]
    subject = job_text(first) if all(job_id == first for job_id, _ in keys) else "runs"
    details = {"count": len(keys), "runs": [run_text(key) for key in keys[:_MAX_NAMED]]}
    return subject, msgspec.json.encode(details).decode()
