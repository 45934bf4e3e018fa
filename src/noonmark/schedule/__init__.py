"""When jobs fire: pure arithmetic on µs since the epoch, with no clock and no event loop inside.

A `ScheduleSpec` is what an owner writes, `read_schedule` reads one from a string, and `validate` refuses what cannot be
meant. `timing` reduces it to a text that equal schedules share and the job's own bounds; `recurrence` reads that text
back; `slices` says which (nominal time, jitter offset) pairs are due in a window. `describe` says it in English.
"""

from noonmark.schedule.bounds import Bounded, count_between, nth_after
from noonmark.schedule.canonical import canonical
from noonmark.schedule.english import describe
from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.jitter import jitter_offset_us
from noonmark.schedule.pattern import Recurrence
from noonmark.schedule.recurrence import Timing, bounded, recurrence, timing
from noonmark.schedule.spec import (
    At,
    Cron,
    English,
    Every,
    Interval,
    Manual,
    Now,
    Rrule,
    ScheduleSpec,
    Solar,
    Times,
    instant_us,
    once_at_us,
)
from noonmark.schedule.text import read_schedule, write_schedule
from noonmark.schedule.validation import validate
from noonmark.schedule.windows import Slice, missed_until, next_needed_after, slices

__all__ = [
    "At",
    "Bounded",
    "Cron",
    "English",
    "Every",
    "Interval",
    "Manual",
    "Now",
    "Recurrence",
    "Rrule",
    "ScheduleError",
    "ScheduleSpec",
    "Slice",
    "Solar",
    "Times",
    "Timing",
    "bounded",
    "canonical",
    "count_between",
    "describe",
    "instant_us",
    "jitter_offset_us",
    "missed_until",
    "next_needed_after",
    "nth_after",
    "once_at_us",
    "read_schedule",
    "recurrence",
    "slices",
    "timing",
    "validate",
    "write_schedule",
]
