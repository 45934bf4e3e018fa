"""Each mode runs its function, tells it where it is, and carries its value or its error home."""

import msgspec
import pytest

from noonmark.clock import to_datetime
from noonmark.model.ids import job_text, run_text
from noonmark.model.reason import Outcome
from tests.worker.peer import EPOCH_US


@pytest.mark.parametrize("task", ["facts_async", "facts_thread", "facts_process", "facts_async_process"])
async def test_context_tells_every_mode_where_it_is(peer, start, task):
    await start(peer)
    key = await peer.grant(task, attempt=3)
    item = await peer.end_of(key)
    assert item.outcome == Outcome.SUCCEEDED, item.error
    facts = msgspec.json.decode(item.result)
    assert facts["run"] == facts["key"] == run_text(key)
    assert facts["job"] == job_text(key[0])
    assert facts["attempt"] == item.attempt == 3
    assert facts["nominal"] == to_datetime(key[1]).isoformat()
    assert EPOCH_US < key[1] <= item.started_us <= item.finished_us  # by the nodes' clock, not this machine's


@pytest.mark.parametrize(
    ("task", "input", "result"),
    [
        ("add", {"left": 1, "right": 2}, "3"),
        ("add", [1, 2], "3"),
        ("add", 5, "15"),
        ("subtract", {"left": 1, "right": 2}, "-1"),
        ("nothing", None, None),
    ],
)
async def test_input_becomes_arguments(peer, start, task, input, result):
    await start(peer)
    item = await peer.end_of(await peer.grant(task, input))
    assert (item.outcome, item.result) == (Outcome.SUCCEEDED, result), item.error


@pytest.mark.parametrize(
    ("task", "input", "words"),
    [
        ("add", {"wrong": 1}, "does not fit add"),
        ("subtract", [1], "does not fit subtract"),
        ("nothing", {"surplus": 1}, "does not fit nothing"),
        ("not_ours", None, "no task named 'not_ours'"),
    ],
)
async def test_input_that_does_not_fit_fails_the_run(peer, start, task, input, words):
    await start(peer)
    item = await peer.end_of(await peer.grant(task, input))
    assert item.outcome == Outcome.FAILED
    assert words in item.error


@pytest.mark.parametrize("task", ["raises_async", "raises_thread", "raises_process"])
async def test_an_error_is_named_with_all_it_derives_from(peer, start, task):
    await start(peer)
    item = await peer.end_of(await peer.grant(task))
    assert item.outcome == Outcome.FAILED
    names = item.error_type.split(" ")
    assert {"tests.worker.tasks.TooMuchError", "TooMuchError", "builtins.ValueError", "ValueError"} <= set(names)
    assert "far too much" in item.error
    assert "worker/execute.py" not in item.error
    assert "worker/child.py" not in item.error


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("exits_async", "SystemExit: 3"),
        ("exits_thread", "KeyboardInterrupt"),
        ("exits_process", "SystemExit: 3"),
        ("dies_process", "the process exited with code 7"),
        ("is_killed_process", "killed by SIGKILL"),
        ("out_of_memory", "MemoryError"),
    ],
)
async def test_leaving_or_dying_costs_only_its_own_run(peer, start, task, words):
    await start(peer)
    item = await peer.end_of(await peer.grant(task))
    assert item.outcome == Outcome.FAILED
    assert words in item.error
    for survivor in ("facts_async", "facts_thread", "facts_process"):
        assert (await peer.end_of(await peer.grant(survivor))).outcome == Outcome.SUCCEEDED


@pytest.mark.parametrize(("task", "words"), [("large", "70002 bytes dropped"), ("not_json", "not JSON")])
async def test_a_result_that_cannot_travel_is_dropped_and_says_so(peer, start, task, words):
    await start(peer)
    item = await peer.end_of(await peer.grant(task))
    assert item.outcome == Outcome.SUCCEEDED
    assert words in msgspec.json.decode(item.result)["noonmark"]


async def test_no_run_sees_the_context_variables_of_another(peer, start):
    await start(peer, concurrency=1)
    keys = [await peer.grant("leaks") for _ in range(5)]
    assert [(await peer.end_of(key)).result for key in keys] == ['"clean"'] * 5


async def test_an_async_function_that_never_yields_is_stopped(peer, start):
    await start(peer, stall_limit_s=0.5)
    item = await peer.end_of(await peer.grant("spins"))
    assert item.outcome == Outcome.FAILED
    assert "held up the worker's event loop" in item.error
    assert (await peer.end_of(await peer.grant("facts_async"))).outcome == Outcome.SUCCEEDED
