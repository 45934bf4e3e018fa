"""snapshot: an offered load while another session holds a snapshot, minute by minute of the hold.

A reader in REPEATABLE READ (a dump, a report, a forgotten psql) keeps every row version that dies meanwhile. Whatever
reads through those costs more with every minute; whatever finds its rows by key does not notice.
"""

import argparse
import asyncio
from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any, NamedTuple

import asyncpg

from bench.database import Database, fresh_database
from bench.fleet import Fleet
from bench.latency import RunTime, percentile, run_times
from bench.machine import family_cpu_s
from bench.question import Question, Sample
from bench.sustain import add_load_options, create_jobs, latencies, offer
from noonmark.clock import SECOND_US

_MINUTE_S = 60
_MINUTE_US = _MINUTE_S * SECOND_US


class _Mark(NamedTuple):
    """The counters at the beginning of a minute."""

    cpu_s: float
    ended: int


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--minutes", type=int, default=10, help="how long the snapshot is held")
    add_load_options(parser)


async def run(options: argparse.Namespace) -> Sample:
    options.seconds = options.minutes * _MINUTE_S
    async with fresh_database() as database:
        with Fleet(database.url) as fleet:
            fleet.start_node()
            fleet.start_workers(options.workers, options.concurrency)
            await fleet.ready()
            await fleet.workers_known()
            await create_jobs(fleet.server, options.jobs)
            await database.settle()
            holder = await _hold(database)
            offering = asyncio.create_task(offer(fleet.server, options))
            marks = await _watch(database, options)
            offered = await offering
            await holder.close()
            drained = await database.finish_all(120)
        counted = [call for call in offered.calls if call.intended_us >= offered.counted_from_us]
        times = await run_times(database, counted)
    if not drained:
        raise RuntimeError("the runs did not all end within two minutes of the load's end")
    figures = latencies(times) | _by_minute(times, marks, offered.counted_from_us)
    figures["refused_calls"] = offered.refused
    settings = {"postgres": database.settings, "minutes": options.minutes} | {
        name: getattr(options, name) for name in ("rate", "warmup", "tick_ms", "jobs", "workers", "concurrency")
    }
    return Sample(figures, settings)


async def _hold(database: Database) -> Any:
    holder = await asyncpg.connect(database.url)
    await holder.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    await holder.fetchval("SELECT count(*) FROM noonmark.shard")
    return holder


async def _watch(database: Database, options: argparse.Namespace) -> list[_Mark]:
    """The counters at each minute's beginning; the rows of history are counted by the server, not by reading them."""
    await asyncio.sleep(options.warmup)
    marks = [await _mark(database)]
    for _ in range(options.minutes):
        await asyncio.sleep(_MINUTE_S)
        marks.append(await _mark(database))
    return marks


async def _mark(database: Database) -> _Mark:
    ended = await database.value(
        "SELECT sum(n_tup_ins)::bigint FROM pg_stat_user_tables WHERE schemaname = 'noonmark' AND relname ~ '^attempt_'"
    )
    return _Mark(family_cpu_s(database.postmaster), ended)


def _by_minute(times: list[RunTime], marks: list[_Mark], from_us: int) -> dict[str, float]:
    """Of each minute: what ended in it; how long what was asked for in it took; what PostgreSQL used for each run."""
    asked: dict[int, list[float]] = defaultdict(list)
    ended: Counter[int] = Counter()
    for time in times:
        asked[(time.intended_us - from_us) // _MINUTE_US].append(time.end_to_end_ms)
        ended[(time.finished_us - from_us) // _MINUTE_US] += 1
    figures: dict[str, float] = {}
    costs: list[float] = []
    for minute, (before, after) in enumerate(pairwise(marks)):
        costs.append((after.cpu_s - before.cpu_s) / max(1, after.ended - before.ended) * 1e6)
        figures[f"minute_{minute + 1}_per_s"] = ended[minute] / _MINUTE_S
        figures[f"minute_{minute + 1}_p99_ms"] = percentile(asked[minute] or [0.0], 0.99)
        figures[f"minute_{minute + 1}_postgres_us"] = costs[-1]
    figures["postgres_growth"] = costs[-1] / costs[0]
    return figures


QUESTION = Question(
    "snapshot",
    "Does it hold an offered load while somebody holds a snapshot, and at which cost, minute by minute?",
    run,
    add_options,
    repeats=1,
    targets={"completed_per_s": 9_900, "end_to_end_p99_ms": 250, "postgres_growth": 1.25},
)
