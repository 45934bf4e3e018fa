"""Times of the day, lists of them, and the hours between two of them."""

from collections.abc import Callable
from typing import NamedTuple

from noonmark.schedule.english.said import Window
from noonmark.schedule.english.tokens import Reader, Token
from noonmark.schedule.english.words import MONTHS, UNITS

TIME_FIX = "write a time such as '9:30', '8am', '17:00', 'noon' or 'midnight'"
_NAMED = {"noon": 43_200, "midday": 43_200, "midnight": 0}
_AND = ("and", "or", "&")


class Time(NamedTuple):
    second: int
    style: str
    """`bare` for a number alone, `12h` with am or pm, `plain` otherwise."""
    token: Token


def more(reader: Reader, again: tuple[str, ...], is_item: Callable[[int], bool], fix: str | None) -> bool:
    """Whether a list goes on, past a comma or an 'and'; words such as 'on' may be said `again` after it.

    With a fix, an 'and' before anything else is an error.
    """
    ahead = int(reader.peek().text == ",")
    joined = reader.peek(ahead).text in _AND
    at = ahead + joined
    if at == 0:
        return False
    start = at
    while reader.peek(start).text in again:
        start += 1
    if is_item(start):
        for _ in range(start):
            reader.take()
        return True
    if joined and fix and reader.peek(at).text not in ("next", "moved") and reader.peek(at + 1).text != "next":
        for _ in range(at):
            reader.take()
        reader.confused(f"{fix}, or separate two schedules with ';'")
    return False


def is_time(reader: Reader, ahead: int) -> bool:
    token, after = reader.peek(ahead), reader.peek(ahead + 1)
    if token.kind == "number":
        return (
            after.text not in UNITS and after.text not in MONTHS and after.text not in ("times", "business", "working")
        )
    return token.kind == "time" or token.text in _NAMED


def read_time(reader: Reader) -> Time:
    token = reader.peek()
    if token.text in _NAMED:
        reader.take()
        return Time(_NAMED[token.text], "plain", token)
    if token.kind not in ("number", "time"):
        reader.confused(TIME_FIX)
    reader.take()
    clock = token.text.removesuffix("am").removesuffix("pm")
    half = token.text[len(clock) :]
    if not half and reader.peek().text in ("am", "pm"):
        half = reader.take().text
    reader.skip("o'clock")
    hour, minute, second = (*map(int, clock.split(":")), 0, 0)[:3]
    if hour > 99 and ":" not in clock:
        reader.wrong(token, f"{token.written!r} is not a time", TIME_FIX)
    if minute > 59 or second > 59 or (hour > 23 and not half):
        fix = "write 0:00, which begins the next day, or 23:59" if hour == 24 else "hours go to 23, minutes to 59"
        reader.wrong(token, f"there is no time {token.written!r}", fix)
    if half:
        if not 1 <= hour <= 12:
            fix = f"leave out {half!r}, or write an hour from 1 to 12"
            reader.wrong(token, f"there is no hour {hour} {half}", fix)
        hour = hour % 12 + (12 if half == "pm" else 0)
    style = "12h" if half else "plain" if ":" in clock else "bare"
    return Time(hour * 3_600 + minute * 60 + second, style, token)


def read_times(reader: Reader) -> list[int]:
    """Ascending, each once."""
    found = [read_time(reader)]
    while more(reader, ("at",), lambda ahead: is_time(reader, ahead), TIME_FIX):
        found.append(read_time(reader))
    _check_halves(reader, found)
    return sorted({time.second for time in found})


def read_window(reader: Reader, joins: tuple[str, ...]) -> Window:
    first = read_time(reader)
    reader.need(joins, f"write {joins[0]!r} and the time at which it ends")
    last = read_time(reader)
    _check_halves(reader, [first, last])
    if first.second == last.second:
        reader.wrong(last.token, "the hours end where they begin", "write two different times, or leave them out")
    if last.second < first.second and "bare" in (first.style, last.style):
        message = f"from {first.token.written!r} to {last.token.written!r} leads over midnight"
        fix = "write '9:00 and 17:00' or '9am and 5pm' for hours of one day, '22:00 and 6:00' for a night"
        reader.wrong(last.token, message, fix)
    return Window(first.second, last.second)


def clock_text(second: int) -> str:
    """09:30, or 09:30:15."""
    hour, rest = divmod(second, 3_600)
    minute, second = divmod(rest, 60)
    return f"{hour:02}:{minute:02}" + (f":{second:02}" if second else "")


def _check_halves(reader: Reader, times: list[Time]) -> None:
    if any(time.style == "12h" for time in times):
        for time in times:
            if time.style == "bare":
                hour = time.token.text
                message = f"{time.token.written!r} stands beside a time with am or pm and has neither"
                reader.wrong(time.token, message, f"write '{hour}am', '{hour}pm' or '{hour}:00'")
