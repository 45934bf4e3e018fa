"""Cron expressions in words."""

from collections.abc import Iterator
from itertools import groupby

from noonmark.schedule.english.describe_clock import clock_phrase, literal_clock_phrase
from noonmark.schedule.english.describe_days import cron_days_phrase
from noonmark.schedule.english.fields import ClockFields, DayFields
from noonmark.schedule.forms.cron_text import canonical_cron


def cron_sentence(cron: str) -> str:
    """Expressions that share their days are said together where they belong together."""
    expressions = [_split(expression) for expression in canonical_cron(cron).split("; ")]
    parts = [
        part
        for days, group in groupby(expressions, key=lambda expression: expression[1])
        for part in _parts([clock for clock, _ in group], days)
    ]
    return "; ".join([parts[0], *(part[0].lower() + part[1:] for part in parts[1:])])


def _split(expression: str) -> tuple[ClockFields, DayFields]:
    fields = expression.split(" ")
    second, minute, hour, *days = fields if len(fields) == 6 else ["0", *fields]
    return ClockFields(second, minute, hour), DayFields(*days)


def _parts(clocks: list[ClockFields], days: DayFields) -> Iterator[str]:
    together = clock_phrase(clocks)
    if together is not None:
        yield _sentence(together, days)
    elif len(clocks) > 1:
        for clock in clocks:
            yield from _parts([clock], days)
    else:
        yield _sentence(literal_clock_phrase(clocks[0]), days)


def _sentence(clock: str, days: DayFields) -> str:
    words = cron_days_phrase(*days)
    if clock.startswith("At ") and ", every hour" not in clock and (not words or words.startswith("in ")):
        words = f"every day {words}".rstrip()
    return f"{clock} {words}".rstrip()
