"""What one sentence said, clause by clause, before it is put together."""

from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from noonmark.schedule.english.tokens import Reader, Token


class SaidStep(NamedTuple):
    """`every 2 weeks`; of a period in several units, the unit is the second."""

    number: int
    unit: str
    text: str
    """As a period is written: `90m`, `1h30m`."""


class Window(NamedTuple):
    """Seconds of the day, both ends included; the end is below the start if midnight lies between them."""

    first_s: int
    last_s: int


class Day(NamedTuple):
    """A date with a time of the day, if one was said."""

    day: date
    time_s: int | None
    offset_s: int | None = None
    """Ahead of UTC, if that was said."""


@dataclass
class SaidDays:
    """Days that the sentence names, each in its own way; together they are a union."""

    weekdays: set[int] = field(default_factory=set)
    dates: set[int] = field(default_factory=set)
    before_last: set[int] = field(default_factory=set)
    """Days before the last of the month, 0 for the last itself."""
    nearest: set[int] = field(default_factory=set)
    """The working days nearest to these dates."""
    nth: set[tuple[int, int]] = field(default_factory=set)
    """(weekday, which one of the month), -1 for the last."""
    working: set[int] = field(default_factory=set)
    """Which working day of the month, -1 for the last."""
    annual: set[tuple[int, int]] = field(default_factory=set)
    """(month, date)."""

    def of_month(self) -> bool:
        """Some are named by their place in a month."""
        return bool(self.dates or self.before_last or self.nearest or self.nth or self.working)

    def __bool__(self) -> bool:
        return self.of_month() or bool(self.weekdays or self.annual)


@dataclass
class Said:
    """One part of a sentence; `tokens` holds the word that opened each clause."""

    tokens: dict[str, Token] = field(default_factory=dict)
    step: SaidStep | None = None
    delay: bool = False
    counted: bool = False
    anchor: Day | None = None
    times: list[int] = field(default_factory=list)
    minutes: set[int] = field(default_factory=set)
    seconds: set[int] = field(default_factory=set)
    window: Window | None = None
    days: SaidDays = field(default_factory=SaidDays)
    months: set[int] = field(default_factory=set)
    period: str | None = None
    """What the days are counted in: month, quarter or year."""
    often: tuple[int, str] | None = None
    """`twice a day`."""
    moment: Day | None = None
    at_once: bool = False
    manual: bool = False

    def note(self, reader: Reader, clause: str, token: Token) -> None:
        """Remembers where a clause stands; none may be said twice."""
        if clause in self.tokens:
            before = self.tokens[clause]
            message = f"{token.written!r} says {CLAUSES[clause]} again, after {before.written!r}"
            reader.wrong(token, message, "say it once, or separate two schedules with ';'")
        self.tokens[clause] = token


@dataclass
class Extras:
    """What holds for the whole sentence."""

    tokens: dict[str, Token] = field(default_factory=dict)
    zone: str | None = None
    start: Day | None = None
    end: Day | None = None
    max_runs: int | None = None
    exclude: list[str] = field(default_factory=list)
    only: list[str] = field(default_factory=list)
    move: bool = False

    def note(self, reader: Reader, clause: str, token: Token) -> None:
        if clause in self.tokens:
            reader.wrong(token, f"{token.written!r} says {CLAUSES[clause]} again", "say it once")
        self.tokens[clause] = token


CLAUSES = {
    "step": "how often",
    "delay": "what it waits for",
    "counted": "what it is counted from",
    "times": "the time",
    "minutes": "the minute",
    "seconds": "the second",
    "window": "the hours",
    "days": "the days",
    "months": "the months",
    "period": "the period",
    "often": "how often",
    "moment": "the date",
    "at_once": "when",
    "manual": "when",
    "zone": "the time zone",
    "start": "the start",
    "end": "the end",
    "max_runs": "the number of runs",
    "exclude": "what is left out",
    "only": "what it is limited to",
    "move": "what happens to the excluded",
}
