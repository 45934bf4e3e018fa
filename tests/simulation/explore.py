"""Runs worlds by seed and tells what became of them."""

import traceback
from typing import NamedTuple

from structlog.testing import capture_logs

from tests.simulation.world import World

TRACE_LINES = 400


class Result(NamedTuple):
    seed: int
    failure: str | None
    digest: str
    trace: list[str]


def outcome_of(seed, world_class=World):
    """Any exception is a failure: the core must not raise, whatever happens around it."""
    world = world_class(seed)
    failure = None
    try:
        with capture_logs():
            world.run()
    except AssertionError as violation:
        failure = str(violation) or traceback.format_exc()
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        failure = f"crash: {type(error).__name__}: {error} at {where.filename.rpartition('/')[2]}:{where.lineno}"
    return Result(seed, failure, world.digest, world.trace[-TRACE_LINES:] if failure else [])


def outcomes_of(seeds):
    return [result for seed in seeds if (result := outcome_of(seed)).failure is not None]


def explore(pool, seeds, chunk=50):
    """The failing seeds, lowest first."""
    parts = [seeds[i : i + chunk] for i in range(0, len(seeds), chunk)]
    return [failure for failures in pool.map(outcomes_of, parts) for failure in failures]
