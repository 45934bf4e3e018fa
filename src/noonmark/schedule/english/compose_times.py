"""The times of a day for what was said of them."""

from noonmark.schedule.english.compose_days import refuse
from noonmark.schedule.english.fields import DAY_S, HOUR_S, ClockFields, clocks
from noonmark.schedule.english.said import Said, SaidStep, Window
from noonmark.schedule.english.tokens import Reader
from noonmark.schedule.english.words import SECONDS

MAX_EXPRESSIONS = 16
_MAX_UNEVEN = 48


def pace_s(step: SaidStep | None) -> int | None:
    """The seconds of a step that is shorter than a day or no whole number of days; None for one by the calendar."""
    return step.number * SECONDS[step.unit] if step and step.unit in ("second", "minute", "hour") else None


def is_even(pace: int) -> bool:
    """It divides the minute, the hour or the day, so that it falls on the same times of each."""
    return any(
        pace < longer and pace % unit == 0 and longer % pace == 0
        for unit, longer in ((1, 60), (60, HOUR_S), (HOUR_S, DAY_S))
    )


def even_clock(pace: int) -> ClockFields:
    """An even pace through the whole day."""
    second, minute, hour = (
        f"{'*' if step == 1 else f'*/{step}'}" if step else "0" for step in (pace % 60, pace // 60 % 60, pace // HOUR_S)
    )
    return ClockFields(second, "*" if pace < 60 else minute, "*" if pace < HOUR_S else hour)


def stepped_clocks(reader: Reader, said: Said, pace: int) -> list[ClockFields]:
    """`every 15 minutes between 9 and 17`, `every hour at minute 20`."""
    if said.times:
        fix = "leave out the time, or write 'between 9:00 and 17:00', or 'at minute 20' of every hour"
        refuse(reader, said, "times", "a pace within the day has no time of the day", fix)
    offsets, unit = _offsets(reader, said, pace)
    if is_even(pace) and said.window is None and not offsets:
        return [even_clock(pace)]
    found = pace_times(pace, said.window, offsets, unit)
    if not found:
        refuse(reader, said, "window", "no time lies between them", "write longer hours")
    if not is_even(pace) and len(found) > _MAX_UNEVEN:
        fix = "use a step that divides the hour or the day, or shorter hours"
        refuse(reader, said, "step", f"an uneven step gives {len(found)} times a day", fix)
    return clocks(found, steady=True)


def pace_times(pace: int, window: Window | None, offsets: set[int], unit: int) -> list[int]:
    """Seconds of the day from the start of the window on, both ends included; at these offsets within each unit."""
    first, last = (0, DAY_S - 1) if window is None else window
    last += DAY_S if last < first else 0
    starts = {first + (offset - first) % unit for offset in offsets} if offsets else {first}
    return sorted({at % DAY_S for start in starts for at in range(start, last + 1, pace)})


def fixed_clocks(reader: Reader, said: Said) -> list[ClockFields]:
    """`at 9:30 and 17:00`; midnight if nothing is said."""
    for clause, fix in (
        ("window", "say how often: 'every 15 minutes between 9:00 and 17:00'"),
        ("minutes", "say of which hours: 'every hour at minute 20'"),
        ("seconds", "say of which minutes: 'every minute at second 15'"),
    ):
        if clause in said.tokens:
            refuse(reader, said, clause, f"{said.tokens[clause].written!r} needs a pace within the day", fix)
    return clocks(said.times or [0], steady=False)


def _offsets(reader: Reader, said: Said, pace: int) -> tuple[set[int], int]:
    if said.minutes and said.seconds:
        refuse(reader, said, "seconds", "minutes and seconds together are not understood", "write times: 'at 9:20:15'")
    if said.seconds and said.window:
        refuse(reader, said, "seconds", "seconds within some hours are not understood", "leave out one of the two")
    if said.minutes and (pace % HOUR_S or not is_even(pace)):
        refuse(reader, said, "minutes", "minutes belong to a pace in hours", "write 'every hour at minute 20'")
    if said.seconds and (pace % 60 or not is_even(pace)):
        refuse(reader, said, "seconds", "seconds belong to a pace in minutes", "write 'every minute at second 15'")
    if said.minutes:
        return {minute * 60 for minute in said.minutes}, HOUR_S
    return said.seconds, 60
