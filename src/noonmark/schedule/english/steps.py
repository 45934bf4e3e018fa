"""`every …`: how often, or on which days."""

import re

from noonmark.schedule.english.days import is_day, is_ordinal, read_days, read_months
from noonmark.schedule.english.said import Said, SaidStep
from noonmark.schedule.english.tokens import Reader, Token
from noonmark.schedule.english.words import (
    LETTERS,
    MONTHS,
    NUMBERS,
    ORDINALS,
    SECONDS,
    UNITS,
    WEEKDAYS,
    ordinal,
)
from noonmark.schedule.forms.period import MAX_PERIOD_S

EVERY_FIX = (
    "write 'every' and a number with a unit ('15 minutes'), a unit ('hour', 'day') or a day ('monday', 'weekday')"
)
_UNIT_FIX = "write a unit: seconds, minutes, hours, days, weeks, months, quarters or years"
_MAX_NUMBER = {"month": 120, "quarter": 1, "year": 10}
_LONG = {letter: unit for unit, letter in LETTERS.items()}


def read_every(reader: Reader, said: Said) -> None:
    opened = reader.take()
    token, after = reader.peek(), reader.peek(1)
    if token.text == "other":
        _read_other(reader, said, opened)
    elif _is_step(reader):
        said.note(reader, "step", opened)
        said.step = read_step(reader)
    elif token.text in MONTHS and not is_day(reader):
        read_months(reader, said)
    elif is_day(reader) and not (token.text == "second" and after.kind == "end"):
        _check_ordinal(reader, token, after)
        read_days(reader, said)
    else:
        reader.confused(EVERY_FIX)


def read_step(reader: Reader) -> SaidStep:
    """`hour`, `15 minutes`, `1 hour and 30 minutes`, `90m`, `half hour`."""
    token = reader.peek()
    if (short := _read_fraction(reader)) is not None:
        return short
    parts: list[tuple[int, str]] = []
    while True:
        parts += _read_component(reader)
        ahead = int(reader.peek().text == "and")
        number = reader.peek(ahead)
        if number.kind != "number" or reader.peek(ahead + 1).text not in UNITS or not parts:
            break
        if parts[-1][1] not in SECONDS or UNITS[reader.peek(ahead + 1).text] not in SECONDS:
            break
        reader.skip("and")
    return _added(reader, token, parts)


def _read_fraction(reader: Reader) -> SaidStep | None:
    """Half and quarter hours."""
    word = reader.peek().text
    hour = (("hour",), ("an", "hour"), ("of", "an", "hour"))
    for words in hour if word in ("half", "quarter") else ():
        if reader.skip(word, *words):
            minutes = 30 if word == "half" else 15
            return SaidStep(minutes, "minute", f"{minutes}m")
    if reader.skip("fortnight"):
        return SaidStep(2, "week", "2w")
    return None


def _read_component(reader: Reader) -> list[tuple[int, str]]:
    token = reader.take()
    if token.kind == "period":
        return [(int(number), _LONG[letter]) for number, letter in re.findall(r"([0-9]+)([wdhms])", token.text)]
    if token.text in UNITS:
        return [(1, UNITS[token.text])]
    number = int(token.text) if token.kind == "number" else NUMBERS[token.text]
    if reader.peek().text == "half" and reader.peek(1).text == "hours":
        reader.wrong(reader.peek(), "half hours are not counted", f"write '{number * 30} minutes'")
    unit = reader.need(UNITS, _UNIT_FIX)
    if number == 0:
        reader.wrong(token, f"every 0 {unit.written} is no pace", "write a number of at least 1")
    return [(number, UNITS[unit.text])]


def _added(reader: Reader, token: Token, parts: list[tuple[int, str]]) -> SaidStep:
    text = "".join(f"{number}{LETTERS.get(unit, '')}" for number, unit in parts)
    sizes = [SECONDS.get(unit, 0) for _, unit in parts]
    if sizes != sorted(set(sizes), reverse=True):
        reader.wrong(token, "the units do not go from the largest to the smallest", "write '1 hour and 30 minutes'")
    total = sum(number * size for (number, _), size in zip(parts, sizes, strict=True))
    number, unit = parts[0]
    if number > _MAX_NUMBER.get(unit, MAX_PERIOD_S) or total > MAX_PERIOD_S:
        fix = "write 'every 6 months'" if unit == "quarter" else "write at most ten years"
        reader.wrong(token, f"{number} {unit}s are too many", fix)
    if total == 0 and unit in SECONDS:
        reader.wrong(token, f"every {token.written} is no pace", "write a number of at least 1")
    return SaidStep(number, unit, text) if len(parts) == 1 else SaidStep(total, "second", text)


def _is_step(reader: Reader) -> bool:
    token, after = reader.peek(), reader.peek(1)
    if token.text == "second" and (after.text in WEEKDAYS or after.text in UNITS):
        return False
    if token.text == "second" and after.text in (",", "and", "or") and is_ordinal(reader.peek(2)):
        return False
    counts = token.kind in ("number", "period") or token.text in NUMBERS
    named = token.text in UNITS or token.text in ("half", "fortnight")
    return named or (counts and not is_day(reader))


def _read_other(reader: Reader, said: Said, opened: Token) -> None:
    reader.take()
    said.note(reader, "step", opened)
    unit = UNITS.get(reader.peek().text)
    if unit is not None:
        reader.take()
        text = f"2{LETTERS.get(unit, '')}"
        said.step = SaidStep(2, unit, text)
        if unit == "quarter":
            reader.wrong(opened, "two quarters are not counted", "write 'every 6 months'")
    elif reader.peek().text in WEEKDAYS:
        said.step = SaidStep(2, "week", "2w")
        read_days(reader, said)
    else:
        reader.confused("write a unit or a day: 'every other week', 'every other friday'")


def _check_ordinal(reader: Reader, token: Token, after: Token) -> None:
    """`every second tuesday` may be every other one, or the second of each month."""
    number = ORDINALS.get(token.text) or (int(token.text[:-2]) if token.kind == "ordinal" else 0)
    of = reader.peek(2).text in ("of", "in")
    if number > 1 and not of and (after.text in WEEKDAYS or after.text in UNITS):
        other = f"every {number} {after.text}s" if after.text in UNITS else f"every {number} weeks on {after.text}"
        fix = f"write '{other}', or 'the {ordinal(number)} {after.text} of each month'"
        reader.wrong(token, f"'every {token.written} {after.written}' can mean two things", fix)
