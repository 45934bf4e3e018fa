"""Which occurrences to fire after a delay, and which of them count as missed.

An occurrence is *missed* when its time lies more than the grace before now. Missed ones are ranked from the latest
backwards: rank 0 is the latest missed one, 1 the one before. The statement that creates the runs keeps a missed firing
for a job iff `rank < job.catch_up`: 0 skips all, 1 runs once, n runs all up to n. Ranks count up to now and not
only up to the end of the asked window, so a long gap may be caught up in several windows.
"""

import msgspec

from noonmark.schedule.pattern import Recurrence

MAX_ON_TIME = 100_000
"""More on-time occurrences than a day of seconds means a wrong window, which is refused rather than cut short."""


class Firing(msgspec.Struct, frozen=True):
    nominal_us: int
    missed: bool
    rank: int
    """Among the missed, 0 being the latest; 0 for one that is on time."""


def firings(
    rec: Recurrence, after_us: int, until_us: int, now_us: int, grace_us: int, max_catch_up: int
) -> list[Firing]:
    """Occurrences in (after, until] by nominal time, ascending: missed ones of rank < max_catch_up, all others."""
    missed_until_us = now_us - grace_us - 1
    latest = rec.last_between(after_us, missed_until_us, max_catch_up)
    missed = [Firing(at_us, True, len(latest) - 1 - i) for i, at_us in enumerate(latest) if at_us <= until_us]
    on_time = on_time_between(rec, max(after_us, missed_until_us), until_us)
    return missed + [Firing(at_us, False, 0) for at_us in on_time]


def on_time_between(rec: Recurrence, after_us: int, until_us: int) -> list[int]:
    found = rec.between(after_us, until_us, MAX_ON_TIME + 1)
    if len(found) > MAX_ON_TIME:
        raise ValueError(
            f"more than {MAX_ON_TIME} occurrences between {after_us} and {until_us}: tick in smaller windows"
        )
    return found
