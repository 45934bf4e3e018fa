"""Slices of windows, by hand: what is on time, what was missed and its rank, with jitter and without."""

import pytest

from noonmark.schedule import Slice, next_needed_after, recurrence, slices
from noonmark.schedule.forms.every import EveryRecurrence

TEN = EveryRecurrence(period_us=10, phase_us=0)
JITTERED = EveryRecurrence(period_us=10, phase_us=0, jitter_us=4)


def plain(nominal_us: int, rank: int | None = None) -> Slice:
    """Without jitter, the only offset is 0."""
    return Slice(nominal_us, -1, 0, rank is not None, rank or 0)


def test_missed_are_ranked_from_the_latest() -> None:
    found = slices(TEN, after_us=0, until_us=65, now_us=60, grace_us=20, max_catch_up=2)
    assert found == [plain(20, rank=1), plain(30, rank=0), plain(40), plain(50), plain(60)]


def test_exactly_at_the_grace_is_on_time() -> None:
    assert slices(TEN, 30, 40, 60, 20, 5) == [plain(40)]
    assert slices(TEN, 30, 40, 61, 20, 5) == [plain(40, rank=0)]


def test_no_catch_up_keeps_what_is_on_time() -> None:
    assert slices(TEN, 0, 60, 60, 5, 0) == [plain(60)]


def test_ranks_count_up_to_now_even_past_the_window() -> None:
    assert slices(TEN, 0, 20, now_us=51, grace_us=0, max_catch_up=4) == [plain(20, rank=3)]


def test_a_long_gap_costs_only_what_is_kept() -> None:
    every_second = recurrence("cron:* * * * * *|Europe/Berlin|j0")
    found = slices(every_second, 0, 10**15, 10**15, 1_000_000, 3)
    assert [(one.missed, one.rank) for one in found] == [(True, 2), (True, 1), (True, 0), (False, 0), (False, 0)]


def test_an_unbounded_window_is_refused_not_cut() -> None:
    with pytest.raises(ValueError, match="smaller windows"):
        slices(TEN, 0, 10**9, 0, 0, 1)


def test_slices_without_jitter_hold_offset_zero() -> None:
    assert slices(TEN, 10, 30, 30, 100, 9) == [Slice(20, -1, 0, False, 0), Slice(30, -1, 0, False, 0)]


def test_slices_cut_the_jitter_window() -> None:
    assert slices(JITTERED, 8, 11, 11, 100, 9) == [Slice(10, -1, 1, False, 0)]
    assert slices(JITTERED, 11, 12, 12, 100, 9) == [Slice(10, 1, 2, False, 0)]
    assert slices(JITTERED, 12, 19, 19, 100, 9) == [Slice(10, 2, 3, False, 0)]
    assert slices(JITTERED, 13, 19, 19, 100, 9) == []


def test_one_nominal_is_missed_for_some_jobs_only() -> None:
    found = slices(JITTERED, 5, 22, now_us=22, grace_us=0, max_catch_up=2)
    assert found == [
        Slice(10, 1, 3, True, 0),  # jobs due at 22 and 23: for them this was the latest missed one
        Slice(10, -1, 1, True, 1),
        Slice(20, -1, 1, True, 0),
        Slice(20, 1, 2, False, 0),
    ]


def test_next_needed() -> None:
    assert next_needed_after(TEN, 10) == 20
    assert next_needed_after(TEN, 19) == 20
    assert [next_needed_after(JITTERED, w) for w in (9, 10, 12, 13, 19)] == [10, 11, 13, 20, 20]
