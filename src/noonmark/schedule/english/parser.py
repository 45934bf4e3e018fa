"""Reads a sentence clause by clause, in whatever order they stand."""

from noonmark.schedule.english.clauses import read_extra, read_zone
from noonmark.schedule.english.days import is_day, read_days, read_months
from noonmark.schedule.english.moments import is_date, read_day
from noonmark.schedule.english.said import Extras, Said, SaidStep
from noonmark.schedule.english.steps import read_every, read_step
from noonmark.schedule.english.times import is_time, more, read_times, read_window
from noonmark.schedule.english.tokens import KNOWN, Reader, Token
from noonmark.schedule.english.words import COUNTS, FREQUENCIES, LETTERS, MONTHS, NUMBERS, TWO_MEANINGS, UNITS

START_FIX = (
    "write how often ('every 15 minutes'), the days ('every weekday', 'on the last friday of each month') or a date, "
    "with a time ('at 9:30')"
)
_PER = ("a", "an", "per", "each", "every")
_RUN_ENDS = ("end", "ends", "ended", "finish", "finishes", "finished")


def read_part(reader: Reader, extras: Extras) -> Said:
    """Up to a semicolon or the end."""
    said = Said()
    while reader.peek().kind != "end" and reader.peek().text != ";":
        if reader.skip(","):
            continue
        if not read_extra(reader, extras):
            _read_clause(reader, said, extras)
    return said


def _read_clause(reader: Reader, said: Said, extras: Extras) -> None:
    token, after = reader.peek(), reader.peek(1)
    match token.text:
        case "every" | "each":
            read_every(reader, said)
        case "at":
            reader.take()
            _read_at(reader, said, token)
        case "on" if is_date(reader, 1):
            reader.take()
            _read_moment(reader, said)
        case "on" if after.text == "demand":
            _read_manual(reader, said)
        case "in":
            reader.take()
            _read_in(reader, said, extras)
        case "of":
            reader.take()
            _read_of(reader, said)
        case "between":
            said.note(reader, "window", reader.take())
            said.window = read_window(reader, ("and",))
        case "from":
            said.note(reader, "window", reader.take())
            said.window = read_window(reader, ("to", "until", "till", "-"))
        case "after":
            _read_delay(reader, said)
        case "counted":
            _read_counted(reader, said)
        case "now" | "immediately" | "right":
            said.note(reader, "at_once", reader.take())
            if token.text == "right":
                reader.need(("away", "now"), "write 'right away'")
            said.at_once = True
        case "manually" | "never" | "only":
            _read_manual(reader, said)
        case "on" | "the":
            read_days(reader, said)
        case _:
            _read_other(reader, said, token)


def _read_other(reader: Reader, said: Said, token: Token) -> None:
    """Clauses that are told by more than their first word."""
    if token.text in FREQUENCIES:
        said.note(reader, "step", reader.take())
        count, unit = FREQUENCIES[token.text]
        said.step = SaidStep(count, unit, f"{count}{LETTERS.get(unit, '')}")
    elif token.text in TWO_MEANINGS:
        reader.wrong(token, f"{token.written!r} can mean two things", TWO_MEANINGS[token.text])
    elif _is_often(reader):
        _read_often(reader, said)
    elif is_day(reader):
        read_days(reader, said)
    elif is_date(reader):
        _read_moment(reader, said)
    elif is_time(reader, 0) and (token.kind != "number" or reader.peek(1).text in ("am", "pm", "-")):
        if reader.peek(1).text == "-":
            said.note(reader, "window", token)
            said.window = read_window(reader, ("-",))
        else:
            said.note(reader, "times", token)
            said.times = read_times(reader)
    elif token.kind == "period" or (token.kind == "number" and reader.peek(1).text in UNITS):
        said.note(reader, "step", token)
        said.step = read_step(reader)
        if reader.peek().text != "after":
            reader.wrong(token, f"{token.written!r} stands alone", "write 'every' before it, or 'after each run ends'")
    else:
        fix = f"write 'at {token.text}' for a time" if token.kind == "number" else START_FIX
        reader.confused(fix, [*KNOWN, *TWO_MEANINGS])


def _read_at(reader: Reader, said: Said, token: Token) -> None:
    if is_date(reader):
        _read_moment(reader, said)
    elif reader.peek().text in ("minute", "minutes", "second", "seconds"):
        clause = "minutes" if reader.take().text.startswith("minute") else "seconds"
        said.note(reader, clause, token)
        setattr(said, clause, _read_sixtieths(reader))
        if reader.skip("past") or reader.skip("of"):
            reader.skip_any(("every", "each", "the"))
            reader.need(("hour",) if clause == "minutes" else ("minute",), "write 'of every hour'")
            if said.step is None:
                said.note(reader, "step", token)
                unit = "hour" if clause == "minutes" else "minute"
                said.step = SaidStep(1, unit, f"1{LETTERS[unit]}")
    else:
        said.note(reader, "times", token)
        said.times = read_times(reader)


def _read_sixtieths(reader: Reader) -> set[int]:
    """`20`, `0 and 30`, `5 to 20`."""
    found: set[int] = set()
    while True:
        first = _read_sixtieth(reader)
        last = _read_sixtieth(reader) if reader.skip_any(("to", "-", "through")) else first
        found |= set(range(first, last + 1)) if first <= last else {*range(first, 60), *range(last + 1)}
        if not more(reader, (), lambda ahead: reader.peek(ahead).kind == "number", "write a number from 0 to 59"):
            return found


def _read_sixtieth(reader: Reader) -> int:
    token = reader.peek()
    if token.kind != "number":
        reader.confused("write a number from 0 to 59")
    if int(token.text) > 59:
        reader.wrong(token, f"{token.written} is out of range", "write a number from 0 to 59")
    return int(reader.take().text)


def _read_moment(reader: Reader, said: Said) -> None:
    said.note(reader, "moment", reader.peek())
    said.moment = read_day(reader)


def _read_in(reader: Reader, said: Said, extras: Extras) -> None:
    if reader.peek().text in MONTHS:
        read_months(reader, said)
    elif reader.peek().text in ("every", "each", "the"):
        _read_of(reader, said)
    else:
        read_zone(reader, extras)


def _read_of(reader: Reader, said: Said) -> None:
    if reader.peek().text in MONTHS:
        read_months(reader, said)
        return
    token = reader.peek()
    reader.skip_any((*_PER, "the"))
    if reader.peek().text in MONTHS:
        read_months(reader, said)
        return
    said.note(reader, "period", token)
    said.period = UNITS[
        reader.need(("month", "quarter", "year"), "write 'of each month', 'of january' or the like").text
    ]


def _is_often(reader: Reader) -> bool:
    token = reader.peek()
    counts = token.kind == "number" or token.text in NUMBERS
    return token.text in COUNTS or (counts and reader.peek(1).text == "times")


def _read_often(reader: Reader, said: Said) -> None:
    """`twice a day`; `once` alone."""
    token = reader.take()
    said.note(reader, "often", token)
    count = COUNTS.get(token.text) or NUMBERS.get(token.text) or int(token.text)
    if token.text not in COUNTS:
        reader.take()
    if not reader.skip_any(_PER):
        if count > 1:
            reader.confused("write 'twice a day', or 'at most 2 times'")
        said.often = (1, "once")
        return
    said.often = (
        count,
        UNITS[reader.need(("day", "week", "month", "year"), "write 'a day', 'a week' or 'a month'").text],
    )


def _read_delay(reader: Reader, said: Said) -> None:
    fix = "write 'after the previous run ended'"
    said.note(reader, "delay", reader.take())
    reader.skip_any(("each", "every", "the"))
    reader.skip_any(("previous", "last"))
    reader.need(("run",), fix)
    reader.skip("has")
    reader.need(_RUN_ENDS, fix)
    said.delay = True


def _read_counted(reader: Reader, said: Said) -> None:
    said.note(reader, "counted", reader.take())
    reader.need(("from",), "write 'counted from creation' or 'counted from 2026-01-05'")
    said.counted = True
    reader.skip("its")
    if not reader.skip("creation"):
        said.anchor = read_day(reader)


def _read_manual(reader: Reader, said: Said) -> None:
    fix = "write 'only when triggered'"
    token = reader.take()
    said.note(reader, "manual", token)
    if token.text == "on":
        reader.take()
    elif token.text == "only" and not reader.skip("manually"):
        reader.need(("when",), fix)
        reader.need(("triggered",), fix)
    said.manual = True
