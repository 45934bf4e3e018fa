"""Public holidays of countries and closing days of markets, from the `holidays` library.

The library is imported when a rule first needs it: it costs about 50 ms and 10 MB. It knows holidays up to 2100, those
of the Islamic calendar up to 2077 and those of the Hindu calendar up to 2035; where it knows none, no day is one.
"""

import warnings
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import msgspec

from noonmark.schedule.calendar.days import EPOCH_ORDINAL, date_of
from noonmark.schedule.errors import ScheduleError

if TYPE_CHECKING:
    from holidays import HolidayBase

_CACHED_YEARS = 512


class PublicHolidays(msgspec.Struct, frozen=True):
    """Days off by law, with the days on which they are observed instead."""

    code: str
    subdivision: str | None

    def __contains__(self, day: int) -> bool:
        return day in _year(self.code, self.subdivision, date_of(day).year)

    def __str__(self) -> str:
        return f"holidays {self.code}" if self.subdivision is None else f"holidays {self.code}-{self.subdivision}"

    def name(self, day: int) -> str | None:
        """What the day is called, in English where the library can say so."""
        return _year(self.code, self.subdivision, date_of(day).year).get(day)


def read_holidays(text: str, field: str) -> PublicHolidays:
    """What follows the word `holidays`: `DE`, `DE-BY` or `NYSE`, in any case."""
    place, dash, part = text.partition("-")
    code = _codes().get(place.casefold())
    if code is None:
        known = _codes() | _names()
        close = get_close_matches(place.casefold(), known, n=1, cutoff=0.7)
        fix = "use a country such as DE, a part of it such as DE-BY, or a market such as NYSE"
        if close:
            fix = f"did you mean 'holidays {known[close[0]]}'?"
        raise ScheduleError(field, f"{place!r} is not a country or market whose holidays are known", fix)
    return PublicHolidays(code, _subdivision(code, part, field) if dash else None)


def _subdivision(code: str, part: str, field: str) -> str:
    entity = _entity(code)
    known: dict[str, str] = {name.casefold(): code for name, code in entity.subdivisions_aliases.items()}
    known |= {name.casefold(): name for name in entity.subdivisions}
    if part.casefold() in known:
        return known[part.casefold()]
    if not known:
        fix = f"write 'holidays {code}'"
    elif close := get_close_matches(part.casefold(), known, n=1):
        fix = f"did you mean 'holidays {code}-{known[close[0]]}'?"
    else:
        names = ", ".join(sorted(entity.subdivisions)[:60])
        fix = f"use one of {names}"
    raise ScheduleError(field, f"{part!r} is not a part of {code} whose holidays are known", fix)


@cache
def _codes() -> dict[str, str]:
    """Every code in lower case, with the one that we write: DE for DEU, NYSE for XNYS."""
    from holidays.registry import COUNTRIES, FINANCIAL

    known: dict[str, str] = {}
    for _, first, *others in COUNTRIES.values():
        known |= {code.casefold(): first for code in (first, *others) if len(code) <= 3}
    for _, *codes in FINANCIAL.values():
        common = next((code for code in codes if not code.startswith("X")), codes[0])
        known |= {code.casefold(): common for code in codes if len(code) <= 4}
    return known


@cache
def _names() -> dict[str, str]:
    """Names in English, for those who do not know the code."""
    from holidays.registry import COUNTRIES, FINANCIAL

    return {name.replace("_", " "): _codes()[codes[1].casefold()] for name, codes in (COUNTRIES | FINANCIAL).items()}


def _entity(code: str) -> "type[HolidayBase]":
    import holidays

    entity: type[HolidayBase] = getattr(holidays, code).get_entity()
    return entity


@lru_cache(_CACHED_YEARS)
def _year(code: str, subdivision: str | None, year: int) -> dict[int, str]:
    entity = _entity(code)
    language = "en_US" if "en_US" in entity.supported_languages else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of years in which it does not know every holiday
        found = entity(years=year, subdiv=subdivision, expand=False, language=language, categories=("public",))
    return {at.toordinal() - EPOCH_ORDINAL: name for at, name in found.items()}
