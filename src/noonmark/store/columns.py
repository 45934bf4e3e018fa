"""Rows turned into the parallel lists that `unnest` takes."""

from collections.abc import Iterable, Sequence
from typing import Any

from noonmark.model.run import RunRow


def columns(rows: Iterable[Sequence[Any]], width: int) -> list[Sequence[Any]]:
    return list(zip(*rows, strict=True)) or [()] * width


def run_record(row: RunRow) -> tuple[Any, ...]:
    """In the order of the parameters of insert_runs.sql."""
    return (
        row.shard, row.nominal_us, row.job_id, row.due_us, row.tenant_id, row.version, row.policy_id, row.priority,
        row.attempt, row.failures, row.reason, row.input, row.sleeps,
    )  # fmt: skip
