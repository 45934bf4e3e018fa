"""Clauses that hold for a whole sentence: its zone, its bounds and what it leaves out."""

from noonmark.schedule.bounds import MAX_RUNS
from noonmark.schedule.english.exclusions import read_rules
from noonmark.schedule.english.moments import is_date, read_day
from noonmark.schedule.english.said import Extras
from noonmark.schedule.english.tokens import Reader
from noonmark.schedule.english.words import COUNTS, NUMBERS
from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.zones import canonical_zone, zone_names

_START = ("starting", "beginning", "since")
_END = ("until", "till", "ending", "through")
_EXCEPT = ("except", "excluding", "but", "not", "without")


def read_extra(reader: Reader, extras: Extras) -> bool:
    """Reads one such clause if it stands here."""
    token, after = reader.peek(), reader.peek(1)
    if token.text in _START or (token.text == "from" and is_date(reader, 1)):
        _read_start(reader, extras)
    elif token.text == "between" and is_date(reader, 1):
        _read_start(reader, extras)
        reader.need(("and",), "write 'and' and the date on which it ends")
        extras.note(reader, "end", reader.peek())
        extras.end = read_day(reader)
    elif token.text in _END or (token.text == "to" and extras.start is not None and is_date(reader, 1)):
        extras.note(reader, "end", reader.take())
        reader.skip("on")
        extras.end = read_day(reader)
    elif token.text in _EXCEPT:
        extras.note(reader, "exclude", reader.take())
        reader.skip("not")
        extras.exclude = read_rules(reader)
    elif token.text == "only" and after.text not in ("when", "manually"):
        extras.note(reader, "only", reader.take())
        extras.only = read_rules(reader)
    elif token.text in ("moved", "moving") or (token.text == "or" and _is_next(reader)):
        _read_move(reader, extras)
    elif _is_count(reader):
        _read_count(reader, extras)
    elif token.text == "(":
        reader.take()
        read_zone(reader, extras)
        reader.need((")",), "close the bracket")
    elif token.text in ("in", "at") and _is_zone(reader, 1):
        reader.take()
        read_zone(reader, extras)
    elif _is_zone(reader, 0) and after.text != "-":
        read_zone(reader, extras)
    else:
        return False
    return True


def _read_start(reader: Reader, extras: Extras) -> None:
    extras.note(reader, "start", reader.take())
    reader.skip_any(("on", "from"))
    extras.start = read_day(reader)


def _is_zone(reader: Reader, ahead: int) -> bool:
    token = reader.peek(ahead)
    return token.kind == "word" and ("/" in token.text or token.text in ("utc", "gmt"))


def read_zone(reader: Reader, extras: Extras) -> None:
    token = reader.take()
    if token.kind == "end":
        reader.confused("write a time zone such as 'Europe/Berlin' or 'UTC'")
    extras.note(reader, "zone", token)
    folded = {name.casefold(): name for name in zone_names()}
    name = folded.get(token.text, token.written)
    try:
        extras.zone = canonical_zone(name)
    except ScheduleError as error:
        cities = sorted(known for known in zone_names() if known.casefold().endswith(f"/{token.text}"))
        fix = f"did you mean {cities[0]!r}?" if cities else error.fix or ""
        reader.wrong(token, error.message, fix)


def _is_count(reader: Reader) -> bool:
    """`5 times`, `at most 5 times`, `for 5 times`, but not `5 times a day`."""
    ahead = 2 if reader.peek().text == "at" and reader.peek(1).text == "most" else int(reader.peek().text == "for")
    number, times = reader.peek(ahead), reader.peek(ahead + 1)
    if number.text in COUNTS and ahead:
        return True
    after = reader.peek(ahead + 2).text
    counts = number.kind == "number" or number.text in NUMBERS
    return (
        counts and times.text in ("times", "time", "runs", "run") and after not in ("a", "an", "per", "each", "every")
    )


def _read_count(reader: Reader, extras: Extras) -> None:
    extras.note(reader, "max_runs", reader.peek())
    if not reader.skip("at", "most"):
        reader.skip("for")
    token = reader.take()
    number = COUNTS.get(token.text) or NUMBERS.get(token.text) or int(token.text)
    if token.text not in COUNTS:
        reader.take()
    reader.skip("in", "total")
    if not 1 <= number <= MAX_RUNS:
        reader.wrong(token, f"{number} runs are out of bounds", f"write 1 to {MAX_RUNS}")
    extras.max_runs = number


def _is_next(reader: Reader) -> bool:
    return reader.peek(1).text in ("next", "else") or (reader.peek(1).text == "the" and reader.peek(2).text == "next")


def _read_move(reader: Reader, extras: Extras) -> None:
    fix = "write 'moved to the next allowed time'"
    token = reader.take()
    extras.note(reader, "move", token)
    if token.text in ("moved", "moving"):
        reader.need(("to",), fix)
    reader.skip("else")
    reader.skip_any(("on", "at"))
    reader.skip("the")
    reader.need(("next",), fix)
    reader.need(("allowed",), fix)
    reader.need(("time", "day"), fix)
    extras.move = True
