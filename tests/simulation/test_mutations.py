"""The simulation notices bugs: each of these, made on purpose, is found within a bounded number of seeds."""

import pytest

from tests.simulation.explore import outcome_of
from tests.simulation.mutations import BLIND, MUTANTS, UNBROKEN

SEEDS = 400


def first_failure(world_class):
    for seed in range(SEEDS):
        result = outcome_of(seed, world_class)
        if result.failure is not None:
            return result
    return None


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutation_is_caught(name):
    caught = first_failure(MUTANTS[name])
    assert caught is not None, f"{name}: {MUTANTS[name].__doc__}"
    assert outcome_of(caught.seed, UNBROKEN[name]).failure is None, "the same world without the bug fails too"


@pytest.mark.parametrize(
    "name",
    ["DeadNodesWriteUnwatched", "WatermarkForgotten", "WatermarkFirst", "AnyReportCounts", "AnswersBeforeCommit"],
)
def test_a_mutation_breaks_a_promise_to_the_outside(name):
    """Even with nobody looking into the nodes' memory or at who writes."""
    assert first_failure(BLIND[name]) is not None
