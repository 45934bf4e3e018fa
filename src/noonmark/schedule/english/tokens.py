"""Cuts a sentence into words that know their place in it, and reads them one by one."""

import re
from collections.abc import Container, Iterable
from difflib import get_close_matches
from typing import NamedTuple, NoReturn

from noonmark.schedule.english.words import (
    COUNTS,
    FREQUENCIES,
    MONTHS,
    NUMBERS,
    ORDINALS,
    UNITS,
    WEEKDAYS,
)
from noonmark.schedule.errors import ScheduleError

FIELD = "schedule.english"
MAX_LENGTH = 300
_CHUNK = re.compile(r"[,;()]|[^\s,;()]+")
_CLOCK = r"[0-9]{1,2}(?::[0-9]{2}){0,2}(?:[ap]\.?m\.?)?"
_RANGE = re.compile(rf"({_CLOCK}|[a-z]+)[-\u2013]({_CLOCK}|[a-z]+)")
_KINDS = {
    kind: re.compile(pattern)
    for kind, pattern in {
        "number": r"[0-9]{1,9}",
        "ordinal": r"[0-9]{1,4}(?:st|nd|rd|th)",
        "time": r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:[ap]m)?|[0-9]{1,2}[ap]m",
        "date": r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
        "offset_time": r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:z|[+-][0-9]{2}:?[0-9]{2})",
        "moment": r"[0-9]{4}-[0-9]{2}-[0-9]{2}t[0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:z|[+-][0-9]{2}:?[0-9]{2})?",
        "period": r"(?=[0-9])(?:[0-9]{1,9}w)?(?:[0-9]{1,9}d)?(?:[0-9]{1,9}h)?(?:[0-9]{1,9}m)?(?:[0-9]{1,9}s)?",
        "other_date": r"[0-9]{1,4}[/.][0-9]{1,2}[/.][0-9]{1,4}|[0-9]{1,2}-[0-9]{1,2}-[0-9]{2,4}",
    }.items()
}
_CLAUSE_WORDS = (
    "every each at on the in of between from to until starting except only for now manually never and or times last "
    "noon midnight holidays business working day days after run ends ended counted creation other nearest before "
    "quarter half moved next allowed time most"
)
KNOWN = sorted({*_CLAUSE_WORDS.split(), *WEEKDAYS, *MONTHS, *ORDINALS, *NUMBERS, *UNITS, *FREQUENCIES, *COUNTS})


class Token(NamedTuple):
    kind: str
    """`word`, `mark`, `end` or one of _KINDS."""
    text: str
    """In lower case."""
    written: str
    place: int
    """Counted from 1, in words."""


class Reader:
    """Reads tokens from left to right; whatever fails names the word and its place."""

    def __init__(self, sentence: str) -> None:
        if len(sentence) > MAX_LENGTH:
            message = f"{len(sentence)} characters are more than {MAX_LENGTH}"
            raise ScheduleError(FIELD, message, "say it in fewer words, or use several jobs")
        self.sentence = " ".join(sentence.split())
        self._tokens = _tokens(self.sentence)
        self._at = 0

    def peek(self, ahead: int = 0) -> Token:
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def take(self) -> Token:
        token = self.peek()
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def skip(self, *words: str) -> bool:
        """Takes these words if they stand here, in this order."""
        if all(self.peek(ahead).text == word for ahead, word in enumerate(words)):
            self._at += len(words)
            return True
        return False

    def skip_any(self, words: Container[str]) -> bool:
        """Takes one word if it is among these."""
        found = self.peek().text in words and self.peek().kind != "end"
        self._at += found
        return found

    def need(self, words: Container[str], fix: str) -> Token:
        if self.peek().text not in words or self.peek().kind == "end":
            self.confused(fix)
        return self.take()

    def confused(self, fix: str, among: Iterable[str] = KNOWN) -> NoReturn:
        """The next word cannot stand here."""
        token = self.peek()
        if token.kind == "end":
            before = self._tokens[self._at - 1] if self._at else None
            after = f" after {before.written!r}" if before else ""
            message = f"the sentence ends too early{after} ({self.place(before or token)})"
            raise ScheduleError(FIELD, message, fix)
        if token.kind == "word" and token.text not in KNOWN:
            close = get_close_matches(token.text[:40], list(among), n=1, cutoff=0.7)
            fix = f"did you mean {close[0]!r}? Otherwise {fix}" if close else fix
            self.wrong(token, f"I do not understand {token.written!r}", fix)
        self.wrong(token, f"{token.written!r} cannot stand here", fix)

    def wrong(self, token: Token, message: str, fix: str) -> NoReturn:
        raise ScheduleError(FIELD, f"{message} ({self.place(token)})", fix)

    def place(self, token: Token) -> str:
        return f'word {token.place} of "{self.sentence}"' if self.sentence else "no word was given"


def _tokens(sentence: str) -> list[Token]:
    tokens: list[Token] = []
    place = 0
    for chunk in _CHUNK.findall(sentence.rstrip(" .")):
        if chunk in ",;()":
            tokens.append(Token("mark", chunk, chunk, max(place, 1)))
            continue
        place += 1
        text = chunk.lower()
        if text in ("a.m.", "a.m", "p.m.", "p.m"):
            text = text.replace(".", "")
        between = _RANGE.fullmatch(text)
        if between and all(_is_range_end(end) for end in between.groups()):
            first, last = between.groups()
            tokens += _token(first, first, place), Token("mark", "-", chunk, place), _token(last, last, place)
        else:
            tokens.append(_token(text, chunk, place))
    tokens.append(Token("end", "", "", place + 1))
    return tokens


def _is_range_end(text: str) -> bool:
    return text[0].isdigit() or text in WEEKDAYS or text in MONTHS


def _token(text: str, written: str, place: int) -> Token:
    if text[0].isdigit() and text.endswith("m"):
        text = text.replace("a.m", "am").replace("p.m", "pm")
    kind = next((kind for kind, pattern in _KINDS.items() if pattern.fullmatch(text)), "word")
    return Token(kind, text, written[:60], place)
