"""Windows cover each (nominal, offset) once wherever time is cut, and ranks are those that each job would count."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from noonmark.schedule import Slice, next_needed_after, slices
from noonmark.schedule.forms.every import EveryRecurrence

recurrences = st.builds(
    EveryRecurrence,
    period_us=st.integers(1, 20),
    phase_us=st.integers(0, 19),
    jitter_us=st.integers(0, 50),
)
times = st.integers(0, 200)


def pairs(found: list[Slice]) -> list[tuple[int, int]]:
    return [(s.nominal_us, o) for s in found for o in range(s.offset_from_us + 1, s.offset_to_us + 1)]


def offsets(rec: EveryRecurrence) -> range:
    return range(max(rec.jitter_us, 1))


def due(rec: EveryRecurrence, after_us: int, until_us: int) -> set[tuple[int, int]]:
    nominals = [n for n in range(after_us - 60, until_us + 1) if (n - rec.phase_us) % rec.period_us == 0]
    return {(n, o) for n in nominals for o in offsets(rec) if after_us < n + o <= until_us}


@settings(max_examples=300, deadline=None)
@given(recurrences, st.lists(times, min_size=2, max_size=12))
def test_any_partition_covers_each_pair_once(rec: EveryRecurrence, cuts: list[int]) -> None:
    cuts.sort()
    found = [pair for after, until in pairwise(cuts) for pair in pairs(slices(rec, after, until, until, 10_000, 0))]
    assert len(found) == len(set(found))
    assert set(found) == due(rec, cuts[0], cuts[-1])


@settings(max_examples=300, deadline=None)
@given(recurrences, times, times, times, st.integers(0, 60), st.integers(0, 6))
def test_each_job_counts_its_own_missed(
    rec: EveryRecurrence, after: int, until: int, now: int, grace: int, max_catch_up: int
) -> None:
    expected = []
    for nominal, offset in due(rec, after, until):
        if nominal + offset >= now - grace:
            expected.append((nominal, offset, False, 0))
            continue
        missed_later = [n for n in range(nominal + 1, now - grace - offset) if (n - rec.phase_us) % rec.period_us == 0]
        if len(missed_later) < max_catch_up:
            expected.append((nominal, offset, True, len(missed_later)))
    found = slices(rec, after, until, now, grace, max_catch_up)
    assert sorted((n, o, s.missed, s.rank) for s in found for n, o in pairs([s])) == sorted(expected)


@settings(max_examples=300, deadline=None)
@given(recurrences, st.lists(times, min_size=2, max_size=8), times, st.integers(0, 60), st.integers(0, 6))
def test_catching_up_in_several_windows_changes_nothing(
    rec: EveryRecurrence, cuts: list[int], now: int, grace: int, max_catch_up: int
) -> None:
    cuts.sort()

    def kept(after: int, until: int) -> set[tuple[int, int, bool, int]]:
        found = slices(rec, after, until, now, grace, max_catch_up)
        return {(n, o, s.missed, s.rank) for s in found for n, o in pairs([s])}

    assert set().union(*(kept(*window) for window in pairwise(cuts))) == kept(cuts[0], cuts[-1])


@settings(max_examples=300, deadline=None)
@given(recurrences, times)
def test_nothing_is_due_before_it_is_needed(rec: EveryRecurrence, w: int) -> None:
    needed = next_needed_after(rec, w)
    assert needed is not None
    assert due(rec, w, needed - 1) == set()
    assert due(rec, needed - 1, needed) != set()
