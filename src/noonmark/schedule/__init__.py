"""When jobs fire: pure arithmetic on µs since the epoch, with no clock and no event loop inside.

A `ScheduleSpec` is what an owner writes; `validate` refuses what cannot be meant; `intern` reduces it to a shared text;
`recurrence` reads that text back; `slices` says which (nominal time, jitter offset) pairs are due in a window.
"""

from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.explain import describe
from noonmark.schedule.jitter import jitter_offset_us
from noonmark.schedule.misfire import Firing, firings
from noonmark.schedule.recurrence import Recurrence, intern, recurrence
from noonmark.schedule.spec import At, Cron, Every, Manual, Now, ScheduleSpec, instant_us, once_at_us
from noonmark.schedule.validation import validate
from noonmark.schedule.windows import Slice, next_needed_after, slices

__all__ = [
    "At",
    "Cron",
    "Every",
    "Firing",
    "Manual",
    "Now",
    "Recurrence",
    "ScheduleError",
    "ScheduleSpec",
    "Slice",
    "describe",
    "firings",
    "instant_us",
    "intern",
    "jitter_offset_us",
    "next_needed_after",
    "once_at_us",
    "recurrence",
    "slices",
    "validate",
]
