"""Times and lists as a sentence says them."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

SECOND_US = 1_000_000
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_UNITS = ((86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


def local_time(at_us: int, where: ZoneInfo) -> datetime:
    return datetime.fromtimestamp(at_us // SECOND_US, where)


def day_text(day: date) -> str:
    """Sunday 1 November 2026."""
    return f"{_DAYS[day.weekday()]} {day.day} {month_text(day.month)} {day.year}"


def month_text(month: int) -> str:
    return _MONTHS[month - 1]


def moment_text(at_us: int, where: ZoneInfo) -> str:
    local = local_time(at_us, where)
    return f"{clock_text(local)} on {day_text(local)}"


def clock_text(local: datetime) -> str:
    """01:30, with seconds only if there are any."""
    return local.strftime("%H:%M:%S" if local.second else "%H:%M")


def wall_text(wall_s: int) -> str:
    return clock_text(datetime.fromtimestamp(wall_s, UTC))


def length_text(seconds: int) -> str:
    """90 minutes, 1 second: in the largest unit that says it without a fraction."""
    for size, unit in _UNITS:
        if seconds >= size and seconds % size == 0:
            return f"{seconds // size} {unit}" + ("" if seconds == size else "s")
    return f"{seconds} seconds"


def times_text(count: int) -> str:
    return {0: "no time", 1: "once", 2: "twice"}.get(count, f"{count} times")


def and_text(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
