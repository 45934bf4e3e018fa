"""ISO 8601 durations: a fixed number of seconds (`PT5M`), or months and days that the calendar measures (`P1M`)."""

import re

import msgspec

_TEXT = re.compile(
    r"P(?=[0-9T])(?:([0-9]{1,6})Y)?(?:([0-9]{1,6})M)?(?:([0-9]{1,6})W)?(?:([0-9]{1,6})D)?"
    r"(?:T(?=[0-9])(?:([0-9]{1,9})H)?(?:([0-9]{1,9})M)?(?:([0-9]{1,9})S)?)?"
)


class Duration(msgspec.Struct, frozen=True):
    """Months (a year is twelve), days (a week is seven) and seconds (the part after the T)."""

    months: int = 0
    days: int = 0
    seconds: int = 0

    @property
    def fixed_s(self) -> int:
        """The length if each day has 24 hours; months are left out."""
        return self.days * 86_400 + self.seconds


def read_duration(text: str) -> Duration | None:
    """None for a text that is not a duration in whole seconds."""
    match = _TEXT.fullmatch(text.upper())
    if match is None:
        return None
    years, months, weeks, days, hours, minutes, seconds = map(int, match.groups(default="0"))
    return Duration(years * 12 + months, weeks * 7 + days, hours * 3_600 + minutes * 60 + seconds)


def duration_text(duration: Duration) -> str:
    """The one way to write it: P1Y2M, P2W, P1DT12H. PT36H is not P1DT12H, as a day may have 23 hours."""
    years, months = divmod(duration.months, 12)
    weeks, days = divmod(duration.days, 7)
    if days or duration.months or duration.seconds:
        weeks, days = 0, duration.days
    minutes, seconds = divmod(duration.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    date = _units((years, "Y"), (months, "M"), (weeks, "W"), (days, "D"))
    time = _units((hours, "H"), (minutes, "M"), (seconds, "S"))
    return f"P{date}T{time}" if time else f"P{date}"


def _units(*counts: tuple[int, str]) -> str:
    return "".join(f"{count}{unit}" for count, unit in counts if count)
