"""The database's time decides: no module but the clock reads one, and the clock follows the database alone."""

import ast
from pathlib import Path

import pytest

import noonmark
from noonmark.clock import SECOND_US, MonotonicClock

SOURCE = Path(noonmark.__file__).parent
OWN_TIME = {"embedded", "cli"}
"""Rooms that wait for processes on this machine, where only durations of the monotonic clock matter."""


def reads_of_time(tree: ast.AST) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name = f"{node.value.id}.{node.attr}"
            if name in {"time.time", "time.time_ns", "datetime.now", "datetime.utcnow", "datetime.today", "date.today"}:
                found.append(name)
        if isinstance(node, ast.ImportFrom) and node.module == "time":
            found += [f"from time import {alias.name}" for alias in node.names]
    return found


def reads_of_durations(tree: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Import) and any(alias.name == "time" for alias in node.names) for node in ast.walk(tree)
    )


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_only_the_clock_reads_time(path: Path) -> None:
    if path == SOURCE / "clock.py":
        return
    tree = ast.parse(path.read_text())
    assert reads_of_time(tree) == []
    if path.relative_to(SOURCE).parts[0] not in OWN_TIME:
        assert not reads_of_durations(tree), "take monotonic_s from noonmark.clock"


def test_no_decision_in_sql_uses_the_time_of_the_transactions_start() -> None:
    """`now()` stands still within a transaction, and a session may be old; reads for people may use it."""
    hot = [path for path in (SOURCE / "store" / "sql").glob("*.sql") if not path.name.startswith(("fetch_", "list_"))]
    assert [path.name for path in hot if "now()" in path.read_text().lower().replace("clock_timestamp()", "")] == []


class Machine:
    """A machine's monotonic clock, moved by hand."""

    def __init__(self) -> None:
        self.at_s = 1_000.0

    def __call__(self) -> float:
        return self.at_s


def observed(remote_us: int) -> tuple[Machine, MonotonicClock]:
    machine = Machine()
    clock = MonotonicClock(machine)
    clock.observe(machine.at_s - 0.001, remote_us, machine.at_s)
    return machine, clock


def test_a_clock_that_was_never_set_refuses_to_answer() -> None:
    clock = MonotonicClock(Machine())
    assert not clock.known
    with pytest.raises(RuntimeError, match="observe"):
        clock.now_us()


def test_time_goes_on_with_the_monotonic_clock_whatever_the_wall_says() -> None:
    machine, clock = observed(5_000 * SECOND_US)
    assert abs(clock.now_us() - 5_000 * SECOND_US) <= 1_000
    machine.at_s += 3.5
    assert abs(clock.now_us() - 5_003_500_000) <= 1_000


def test_a_slow_exchange_does_not_replace_a_better_one() -> None:
    machine, clock = observed(5_000 * SECOND_US)
    machine.at_s += 1.0
    before_us = clock.now_us()
    # The answer spent nearly all of a second on the way back: taken for the middle, it would be half a second off.
    clock.observe(machine.at_s - 1.0, 5_000 * SECOND_US + 50_000, machine.at_s)
    assert clock.now_us() == before_us


def test_a_slow_exchange_replaces_one_that_is_old_enough() -> None:
    machine, clock = observed(5_000 * SECOND_US)
    machine.at_s += 3_600.0
    clock.observe(machine.at_s - 0.2, 8_600_000_000 + 30_000, machine.at_s)
    assert abs(clock.now_us() - (8_600_000_000 + 130_000)) <= 1_000


@pytest.mark.parametrize("jump_s", [-300.0, -2.0, 2.0, 300.0])
def test_a_jump_of_the_databases_clock_is_followed_at_once(jump_s: float) -> None:
    machine, clock = observed(5_000 * SECOND_US)
    machine.at_s += 1.0
    there_us = round((5_001 + jump_s) * SECOND_US)
    clock.observe(machine.at_s - 0.01, there_us, machine.at_s)
    assert abs(clock.now_us() - there_us) <= 10_000


def test_a_process_that_was_frozen_finds_that_time_has_passed() -> None:
    machine, clock = observed(5_000 * SECOND_US)
    machine.at_s += 60.0  # SIGSTOP, SIGCONT: the monotonic clock went on
    assert abs(clock.now_us() - 5_060_000_000) <= 1_000
