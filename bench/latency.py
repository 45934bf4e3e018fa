"""How long runs took, from the calls that asked for them and the rows that remember them."""

from bisect import bisect_right
from typing import Any, NamedTuple

from bench.database import Database
from bench.generator import Call


class RunTime(NamedTuple):
    intended_us: int
    """When the call was meant to begin."""
    finished_us: int
    committed_us: int

    @property
    def end_to_end_ms(self) -> float:
        return (self.finished_us - self.intended_us) / 1e3


async def run_times(database: Database, calls: list[Call]) -> list[RunTime]:
    """Each run of these calls that ended.

    One node numbers runs by nominal time and a call's runs lie together, so the nominal time leads to the call.
    """
    calls = sorted(calls, key=lambda call: call.first_nominal_us)
    starts = [call.first_nominal_us for call in calls]
    rows: list[Any] = await database.connection.fetch(
        """
        WITH commits AS MATERIALIZED (
            SELECT xid, pg_xact_commit_timestamp(xid) AS at FROM (SELECT DISTINCT xmin AS xid FROM noonmark.attempt) x
        )
        SELECT (extract(epoch FROM a.nominal_at) * 1e6)::bigint, (extract(epoch FROM a.finished_at) * 1e6)::bigint,
            (extract(epoch FROM c.at) * 1e6)::bigint
        FROM noonmark.attempt a JOIN commits c ON c.xid = a.xmin
        WHERE a.final
        """
    )
    times: list[RunTime] = []
    for nominal_us, finished_us, committed_us in rows:
        at = bisect_right(starts, nominal_us) - 1
        if at >= 0 and nominal_us <= calls[at].last_nominal_us:
            times.append(RunTime(calls[at].intended_us, finished_us, committed_us))
    return times


def completed_per_s(times: list[RunTime]) -> float:
    span_us = max(time.finished_us for time in times) - min(time.intended_us for time in times)
    return len(times) / span_us * 1e6


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
