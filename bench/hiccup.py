"""hiccup: the workers stand still while the load goes on, then go on themselves.

The backlog that gathers is worked off while the load still comes in; then latency is as before. The rate of working off
counts all runs that ended between the return of the workers and the end of the last run that was asked for before it.
`drain`, with as many runs and workers and no load beside it, goes first.
"""

import argparse
import asyncio
import time

from bench import drain
from bench.database import fresh_database
from bench.fleet import Fleet
from bench.latency import RunTime, percentile, run_times
from bench.question import Question, Sample
from bench.sustain import add_load_options, create_jobs, offer
from noonmark.clock import SECOND_US


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--backlog", type=int, default=100_000, help="runs that gather while the workers stand still")
    parser.add_argument("--before", type=int, default=15, help="seconds of load before that")
    parser.add_argument("--working-off", type=int, default=25, help="seconds left for working it off")
    parser.add_argument("--after", type=int, default=15, help="seconds of load after that")
    add_load_options(parser)
    parser.set_defaults(workers=2)


async def run(options: argparse.Namespace) -> Sample:
    drained = await drain.run(_drain_options(options))
    still_s = options.backlog / options.rate
    options.seconds = round(options.before + still_s + options.working_off + options.after)
    async with fresh_database() as database:
        with Fleet(database.url) as fleet:
            fleet.start_node()
            fleet.start_workers(options.workers, options.concurrency)
            await fleet.ready()
            await fleet.workers_known()
            await create_jobs(fleet.server, options.jobs)
            await database.settle()
            offering = asyncio.create_task(offer(fleet.server, options))
            await asyncio.sleep(options.warmup + options.before)
            stopped_us = _now_us()
            fleet.stop_workers_for_now()
            await asyncio.sleep(still_s)
            backlog = await database.value("SELECT count(*) FROM noonmark.run")
            fleet.continue_workers()
            continued_us = _now_us()
            offered = await offering
            if not await database.finish_all(120):
                raise RuntimeError("the runs did not all end within two minutes of the load's end")
        counted = [call for call in offered.calls if call.intended_us >= offered.counted_from_us]
        times = await run_times(database, counted)
        attempts = await database.value("SELECT count(*) FROM noonmark.attempt")
    ends_us = offered.counted_from_us + options.seconds * SECOND_US
    figures = _figures(times, stopped_us, continued_us, ends_us - options.after * SECOND_US)
    figures |= {
        "drain_per_s": drained.figures["runs_per_s"],
        "ratio_to_drain": figures["working_off_per_s"] / drained.figures["runs_per_s"],
        "backlog": backlog,
        "attempts_per_run": attempts / sum(call.runs for call in offered.calls),
        "refused_calls": offered.refused,
    }
    settings = {"postgres": database.settings} | {
        name: getattr(options, name)
        for name in ("backlog", "rate", "before", "after", "jobs", "workers", "concurrency")
    }
    return Sample(figures, settings)


def _drain_options(options: argparse.Namespace) -> argparse.Namespace:
    return argparse.Namespace(
        runs=options.backlog, jobs=options.jobs, workers=options.workers, concurrency=options.concurrency, cold=False,
        profile=None, processes=1,
    )  # fmt: skip


def _now_us() -> int:
    return time.time_ns() // 1000


def _figures(times: list[RunTime], stopped_us: int, continued_us: int, after_us: int) -> dict[str, float]:
    before = [time.end_to_end_ms for time in times if time.finished_us < stopped_us]
    worked_off_us = max(time.finished_us for time in times if time.intended_us < continued_us)
    ended = sum(continued_us < time.finished_us <= worked_off_us for time in times)
    after = [time.end_to_end_ms for time in times if time.intended_us >= after_us]
    return {
        "working_off_per_s": ended / (worked_off_us - continued_us) * SECOND_US,
        "working_off_s": (worked_off_us - continued_us) / SECOND_US,
        "before_p50_ms": percentile(before, 0.50),
        "before_p99_ms": percentile(before, 0.99),
        "after_p50_ms": percentile(after, 0.50),
        "after_p99_ms": percentile(after, 0.99),
    }


QUESTION = Question(
    "hiccup",
    "Is a backlog that gathered while workers stood still worked off at full speed, and is latency then as before?",
    run,
    add_options,
    targets={"after_p99_ms": 250},
)
