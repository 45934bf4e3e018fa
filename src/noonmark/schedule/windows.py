"""Cuts time into windows by due time (nominal time plus the job's own jitter): nothing is fired twice or left out.

An owner ticks in consecutive windows (W, W']. A job with offset o is due at n + o for each nominal n, so a window
holds, for each n, the jobs whose offset lies in (W - n, W' - n]: a *slice*. The slices of consecutive windows
are disjoint and together cover each (nominal, offset) once, wherever time is cut. Without jitter the only offset is 0.
"""

import msgspec

from noonmark.schedule.pattern import Recurrence

MAX_ON_TIME = 100_000
"""More on-time occurrences than a day of seconds means a wrong window, which is refused rather than cut short."""


class Slice(msgspec.Struct, frozen=True):
    """The jobs with offset_from_us < offset <= offset_to_us, at one nominal time."""

    nominal_us: int
    offset_from_us: int
    offset_to_us: int
    missed: bool
    rank: int
    """Among the missed, 0 being the latest; 0 for one that is on time."""


def slices(rec: Recurrence, after_us: int, until_us: int, now_us: int, grace_us: int, max_catch_up: int) -> list[Slice]:
    """What is due in (after, until]: all that is on time, and the latest `max_catch_up` of each job that it missed.

    With jitter the rank of one nominal differs between jobs: it may come in several slices, of disjoint offsets.
    """
    missed_until_us = missed_until(now_us, grace_us)
    found = _missed(rec, after_us, until_us, missed_until_us, max_catch_up)
    after_us = max(after_us, missed_until_us)
    for nominal_us in _on_time_between(rec, after_us - _last_offset_us(rec), until_us):
        found += _cut(rec, nominal_us, after_us, until_us, missed=False, rank=0)
    return found


def missed_until(now_us: int, grace_us: int) -> int:
    """What was due up to then and is made only now was missed."""
    return now_us - grace_us - 1


def next_needed_after(rec: Recurrence, w_us: int) -> int | None:
    """The earliest time after w at which some job could be due; w + 1 while a jitter window is open."""
    started_us = rec.previous_before(w_us + 1)
    if started_us is not None and started_us + _last_offset_us(rec) > w_us:
        return w_us + 1
    return rec.next_after(w_us)


def _missed(rec: Recurrence, after_us: int, until_us: int, missed_until_us: int, max_catch_up: int) -> list[Slice]:
    if missed_until_us <= after_us or max_catch_up <= 0:
        return []
    width_us = _last_offset_us(rec)
    # Of the last job only the latest `max_catch_up` before its own last missed nominal; the first job has some more.
    nominals = rec.last_between(after_us - width_us, missed_until_us - width_us, max_catch_up)
    nominals += _on_time_between(rec, max(after_us, missed_until_us) - width_us, missed_until_us)
    found: list[Slice] = []
    for i, nominal_us in enumerate(nominals):
        if nominal_us > until_us:
            break
        # Rank r holds for the jobs that have missed exactly the r nominals after this one.
        for rank, later_us in enumerate(nominals[i : i + max_catch_up]):
            following_us = nominals[i + rank + 1] if i + rank + 1 < len(nominals) else missed_until_us + 1
            from_us = max(after_us, nominal_us + missed_until_us - following_us)
            to_us = min(until_us, nominal_us + missed_until_us - later_us)
            found += _cut(rec, nominal_us, from_us, to_us, missed=True, rank=rank)
    return found


def _cut(rec: Recurrence, nominal_us: int, after_us: int, until_us: int, *, missed: bool, rank: int) -> list[Slice]:
    from_us = max(after_us - nominal_us, -1)
    to_us = min(until_us - nominal_us, _last_offset_us(rec))
    return [Slice(nominal_us, from_us, to_us, missed, rank)] if from_us < to_us else []


def _last_offset_us(rec: Recurrence) -> int:
    return max(rec.jitter_us, 1) - 1


def _on_time_between(rec: Recurrence, after_us: int, until_us: int) -> list[int]:
    found = rec.between(after_us, until_us, MAX_ON_TIME + 1)
    if len(found) > MAX_ON_TIME:
        raise ValueError(
            f"more than {MAX_ON_TIME} occurrences between {after_us} and {until_us}: tick in smaller windows"
        )
    return found
