"""Times of the day in words: `At 09:30 and 17:00`, `Every 15 minutes between 09:00 and 17:00`."""

from collections.abc import Iterator

from noonmark.schedule.english.compose_times import even_clock, is_even, pace_times
from noonmark.schedule.english.fields import DAY_S, HOUR_S, ClockFields, clocks
from noonmark.schedule.english.said import Window
from noonmark.schedule.english.times import clock_text
from noonmark.schedule.english.words import counted, listed
from noonmark.schedule.forms.cron_fields import HOUR, MINUTE, SECOND, Field, read_field

_MAX_LISTED = 24
_PACES = (*range(1, 60), *range(60, HOUR_S, 60), *range(HOUR_S, DAY_S, HOUR_S))
_EVEN = {even_clock(pace): pace for pace in _PACES if is_even(pace)}
_Values = tuple[frozenset[int], frozenset[int], frozenset[int], bool]
"""Seconds, minutes and hours, and whether a star keeps their pace."""


def clock_phrase(fields: list[ClockFields]) -> str | None:
    """In the words of the grammar, if it has some that mean just these fields."""
    if len(fields) == 1 and fields[0] in _EVEN:
        return _every(_EVEN[fields[0]])
    if any("H" in text for clock in fields for text in clock):
        return None
    values = [_values(clock) for clock in fields]
    if sum(len(seconds) * len(minutes) * len(hours) for seconds, minutes, hours, _ in values) > DAY_S:
        return None
    times = sorted(
        {
            h * HOUR_S + m * 60 + s
            for seconds, minutes, hours, _ in values
            for h in hours
            for m in minutes
            for s in seconds
        }
    )
    nearly = None
    for phrase, found in _candidates(times, values):
        read = [_values(clock) for clock in found]
        if read == values:
            return phrase
        if nearly is None and [value[:3] for value in read] == [values[0][:3]]:
            nearly = phrase  # one expression with a star where the grammar has numbers
    return nearly if len(values) == 1 else None


def literal_clock_phrase(clock: ClockFields) -> str:
    """Field by field, for whatever the grammar has no words for."""
    second = "" if clock.second == "0" else f"{_field_phrase(SECOND, clock.second, 'at')}, "
    minute = _field_phrase(MINUTE, clock.minute, "at")
    words = f"{second}{minute}, {_field_phrase(HOUR, clock.hour, 'in')}"
    return words[0].upper() + words[1:]


def _values(clock: ClockFields) -> _Values:
    found = [frozenset(_numbers(field, text)) for field, text in zip((SECOND, MINUTE, HOUR), clock, strict=True)]
    return found[0], found[1], found[2], any(text.startswith("*") for text in clock)


def _numbers(field: Field, text: str) -> Iterator[int]:
    for term in read_field(field, text):
        yield from term.values


def _candidates(times: list[int], values: list[_Values]) -> Iterator[tuple[str, list[ClockFields]]]:
    """Phrases, the best first, with what each would be read as."""
    as_list = f"At {listed(map(clock_text, times))}" if len(times) <= _MAX_LISTED else ""
    if len(times) <= 3:
        yield as_list, clocks(times, steady=False)
    if len(times) > 1 and is_even(times[1]) and times == list(range(0, DAY_S, times[1])):
        yield _every(times[1]), [even_clock(times[1])]
    offsets = list(_offsets(*values[0][:3])) if len(values) == 1 else []
    yield from (candidate for candidate in offsets if " between " not in candidate[0])
    yield from _paces(times)
    if len(times) <= _MAX_LISTED // 2:
        yield as_list, clocks(times, steady=False)
    yield from offsets
    if as_list:
        yield as_list, clocks(times, steady=False)


def _paces(times: list[int]) -> Iterator[tuple[str, list[ClockFields]]]:
    if len(times) < 2:
        return
    gaps = [(after - at) % DAY_S for at, after in zip(times, [*times[1:], times[0]], strict=True)]
    pace = min(gaps)
    longer = [at for at, gap in enumerate(gaps) if gap != pace]
    if len(longer) <= 1:
        last = longer[0] if longer else len(times) - 1
        window = Window(times[(last + 1) % len(times)], times[last])
        words = f"{_every(pace)} between {clock_text(window.first_s)} and {clock_text(window.last_s)}"
        yield words, clocks(pace_times(pace, window, set(), 1), steady=True)


def _offsets(
    seconds: frozenset[int], minutes: frozenset[int], hours: frozenset[int]
) -> Iterator[tuple[str, list[ClockFields]]]:
    """`Every hour at minutes 5 and 10`, `Every 5 minutes at second 15`."""
    if seconds == {0} and (run := _circular_pace(sorted(hours), 24)):
        pace, first, last = run
        window = None if (first, last) == (0, 24 - pace) else Window(first * HOUR_S, last * HOUR_S + 3_540)
        between = "" if window is None else f" between {clock_text(window.first_s)} and {clock_text(window.last_s)}"
        found = pace_times(pace * HOUR_S, window, {minute * 60 for minute in minutes}, HOUR_S)
        yield f"{_every(pace * HOUR_S)} at {_sixtieths('minute', minutes)}{between}", clocks(found, steady=True)
    if len(hours) == 24 and (run := _circular_pace(sorted(minutes), 60)) and run[1:] == (0, 60 - run[0]):
        found = pace_times(run[0] * 60, None, set(seconds), 60)
        yield f"{_every(run[0] * 60)} at {_sixtieths('second', seconds)}", clocks(found, steady=True)


def _circular_pace(ordered: list[int], size: int) -> tuple[int, int, int] | None:
    """The pace, the first and the last of numbers that follow each other evenly, maybe past the end of the field."""
    if len(ordered) < 2:
        return None
    gaps = [(after - at) % size for at, after in zip(ordered, [*ordered[1:], ordered[0]], strict=True)]
    pace = min(gaps)
    longer = [at for at, gap in enumerate(gaps) if gap != pace]
    if len(longer) > 1 or size % pace:
        return None
    last = longer[0] if longer else len(ordered) - 1
    return pace, ordered[(last + 1) % len(ordered)], ordered[last]


def _every(pace: int) -> str:
    unit, size = next(
        (unit, size) for unit, size in (("hour", HOUR_S), ("minute", 60), ("second", 1)) if pace % size == 0
    )
    return f"Every {unit}" if pace == size else f"Every {pace // size} {unit}s"


def _sixtieths(unit: str, values: frozenset[int]) -> str:
    return f"{unit} {min(values)}" if len(values) == 1 else f"{unit}s {_listed_numbers(sorted(values))}"


def _listed_numbers(ordered: list[int]) -> str:
    words: list[str] = []
    start = 0
    for at in range(1, len(ordered) + 1):
        if at < len(ordered) and ordered[at] == ordered[at - 1] + 1:
            continue
        run = ordered[start:at]
        words += [f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run)
        start = at
    return listed(words)


def _field_phrase(field: Field, text: str, preposition: str) -> str:
    if text == "*":
        return f"every {field.name}"
    terms = list(read_field(field, text))
    if own := [term.text for term in terms if "H" in term.text]:
        step = own[0].partition("/")[2]
        article = "an" if field is HOUR else "a"
        within = own[0].removeprefix("H").partition("/")[0].strip("()").replace("-", " to ")
        bounds = f" from {within}" if within else ""
        start = f"every {counted(int(step), field.name)} from" if step else preposition
        return f"{start} {article} {field.name} of the job's own{bounds}"
    numbers = sorted({value for term in terms for value in term.values})
    plural = "s" if len(numbers) > 1 else ""
    return f"{preposition} {field.name}{plural} {_listed_numbers(numbers)}"
