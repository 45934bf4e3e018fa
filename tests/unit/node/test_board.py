"""Pages that the processes of a node write and read: one node's metrics and readiness."""

import tempfile
from collections.abc import Iterator

import pytest

from noonmark.node import board as board_module
from noonmark.node.board import Board
from noonmark.node.sum_metrics import parse, render

TEXT = """# HELP noonmark_fires_total Runs that ticks made or woke
# TYPE noonmark_fires_total counter
noonmark_fires_total {fires}
# HELP noonmark_lateness_seconds From due time to grant
# TYPE noonmark_lateness_seconds histogram
noonmark_lateness_seconds_bucket{{le="0.1"}} {fires}
noonmark_lateness_seconds_bucket{{le="+Inf"}} {fires}
noonmark_lateness_seconds_count {fires}
noonmark_lateness_seconds_sum 0.5
# HELP noonmark_shards_owned Shards that this node owns
# TYPE noonmark_shards_owned gauge
noonmark_shards_owned {shards}
# HELP noonmark_workers Workers heard of lately
# TYPE noonmark_workers gauge
noonmark_workers 3.0
# HELP noonmark_backlog_oldest_seconds Age of the oldest ready run
# TYPE noonmark_backlog_oldest_seconds gauge
noonmark_backlog_oldest_seconds{{tenant="a b",queue="q"}} {fires}
"""


def text(fires: float, shards: float = 4.0) -> str:
    return TEXT.format(fires=float(fires), shards=float(shards))


@pytest.fixture
def pages() -> Iterator[list[int]]:
    files = [tempfile.TemporaryFile() for _ in range(2)]  # noqa: SIM115
    yield [file.fileno() for file in files]
    for file in files:
        file.close()


def told(board: Board) -> dict[str, float]:
    return {
        sample: value for family in parse(board.metrics().decode()).values() for sample, value in family.values.items()
    }


def test_a_text_is_read_and_written_as_it_was():
    assert render(parse(text(5))) == text(5)


def test_counts_are_summed_and_worst_values_are_the_worst(pages):
    one, other = Board(pages, 1), Board(pages, 2)
    one.write(text(5), ready=True)
    other.write(text(7, shards=3), ready=True)
    for board in (one, other):
        found = told(board)
        assert found["noonmark_fires_total"] == 12
        assert found['noonmark_lateness_seconds_bucket{le="0.1"}'] == 12
        assert found["noonmark_lateness_seconds_sum"] == 1
        assert found["noonmark_shards_owned"] == 7
        assert found["noonmark_workers"] == 3
        assert found['noonmark_backlog_oldest_seconds{tenant="a b",queue="q"}'] == 7
        assert found['noonmark_process_up{process="2"}'] == 1


def test_what_a_dead_process_counted_stays_and_its_replacement_goes_on_from_there(pages, monkeypatch):
    one, other = Board(pages, 1), Board(pages, 2)
    one.write(text(5), ready=True)
    other.write(text(7), ready=True)
    now_s = board_module.monotonic_s()
    monkeypatch.setattr(board_module, "monotonic_s", lambda: now_s + board_module.STALE_S)
    one.write(text(6), ready=True)
    found = told(one)
    assert found["noonmark_fires_total"] == 13
    assert found["noonmark_shards_owned"] == 4
    assert (found['noonmark_process_up{process="1"}'], found['noonmark_process_up{process="2"}']) == (1, 0)

    replacement = Board(pages, 2)
    replacement.write(text(2), ready=False)
    assert told(one)["noonmark_fires_total"] == 6 + 7 + 2
    assert told(one)["noonmark_shards_owned"] == 8


def test_a_node_is_ready_when_each_process_was_and_one_is(pages):
    one, other = Board(pages, 1), Board(pages, 2)
    one.write(text(0), ready=True)
    assert not one.ready(), "the other has not started"
    other.write(text(0), ready=True)
    assert one.ready()
    Board(pages, 2).write(text(0), ready=False)
    assert one.ready(), "a process is being replaced"
    one.write(text(0), ready=False)
    assert not one.ready(), "no process is ready, as when the database is away"


def test_a_page_that_is_half_written_does_not_count(pages):
    one, other = Board(pages, 1), Board(pages, 2)
    other.write(text(7), ready=True)
    assert told(one)["noonmark_fires_total"] == 7
    board_module.os.pwrite(pages[1], b"\xff\xff", 40)
    assert told(one)["noonmark_fires_total"] == 7
