"""Thousands of worlds, each with its own faults: no promise is broken in any."""

import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import pytest
from structlog.testing import capture_logs

from tests.simulation.callers import KINDS
from tests.simulation.explore import explore, outcome_of
from tests.simulation.world import World

SEEDS = int(os.environ.get("NOONMARK_SIMULATION_SEEDS", "2000"))


@pytest.mark.timeout(600)
def test_no_seed_breaks_a_promise():
    with ProcessPoolExecutor(2) as pool:
        failures = explore(pool, range(SEEDS))
    if failures:
        seed, failure, _, trace = failures[0]
        pytest.fail("\n".join([*trace, f"seed {seed}: {failure}", f"{len(failures)} of {SEEDS} seeds failed"]))


def test_callers_meet_every_kind_of_answer():
    """A simulation in which nothing is done, or nothing goes wrong, would prove nothing."""
    heard = Counter()
    for seed in range(40):
        world = World(seed)
        with capture_logs():
            world.run()
        heard += world.promises.counts
    for kind in KINDS:
        for answer in ("done", "not_owner", "outcome_unknown"):
            assert heard[kind, answer] > 5, f"{kind} {answer}: {heard}"
    assert heard["batch", "partly_done"]
    assert heard["pause", "partly_done"]
    assert sum(count for (_, answer), count in heard.items() if answer == "deadline_passed")


def test_a_seed_replays_exactly():
    assert [outcome_of(seed).digest for seed in range(5)] == [outcome_of(seed).digest for seed in range(5)]


def test_a_seed_replays_exactly_in_another_process():
    """Hashes of strings differ there: no decision may hang on the order of a set."""
    said = [
        subprocess.run(
            [sys.executable, "-m", "tests.simulation", "--seed", "11"],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    ]
    assert said[0] == said[1]
    assert "seed 11: ok" in said[0]
