"""Stretches: the periods in which a zone keeps one offset from UTC.

The changes that a zone's file lists are read from it (RFC 8536), so none is missed, however short its stretch. After
the last of them the file has a rule that repeats each year; its changes are found by asking `zoneinfo`, in steps that
no such rule can hide a change in. Changes that keep the offset (of the zone's abbreviation, say) are left out.
"""

import struct
from bisect import bisect_right, insort
from collections.abc import Callable
from datetime import datetime
from io import BytesIO
from typing import NamedTuple
from zoneinfo import ZoneInfo

FIRST_S, LAST_S = -2_208_988_800, 32_503_680_000
"""The years 1900 to 2999: stretches begin and end there at the latest."""
_PROBE_S = 7 * 86_400  # half-years of summer and winter; the shortest of any zone lasts four months
_YEAR_S = 400 * 86_400  # a rule that changes nothing for so long never does


class Stretch(NamedTuple):
    """The instants in [start, end) with one offset, and the offset that the change at its start ended."""

    start_s: int
    end_s: int
    offset_s: int
    offset_before_s: int


class Zone(ZoneInfo):
    """A zone that also knows when its offset changes."""

    _changes_s: tuple[int, ...]
    """The changes that its file lists, with FIRST_S as the first."""
    _offsets_s: tuple[int, ...]
    """The offset from each of them on."""
    _rule_from_s: int | None
    """When the file ends and a rule goes on with changes each year; None without such a rule."""
    _known: list[Stretch]

    @classmethod
    def read(cls, name: str, file: bytes) -> "Zone":
        """A zone from the bytes of its file; ValueError if they are no such file."""
        times_s, offsets_s, rule = transitions(file)
        found = cls.from_file(BytesIO(file), key=name)
        skip = bisect_right(times_s, FIRST_S)
        changes = [(FIRST_S, offset_s(found, FIRST_S))]
        for at_s, offset in zip(times_s[skip:], offsets_s[skip:], strict=True):
            if offset != changes[-1][1]:
                changes.append((at_s, offset))
        found._changes_s = tuple(at_s for at_s, _ in changes)
        found._offsets_s = tuple(offset for _, offset in changes)
        found._rule_from_s = max((FIRST_S, *times_s[-1:])) if "," in rule else None
        found._known = []
        return found

    def stretch(self, at_s: int) -> Stretch:
        """The stretch that holds an instant of the years 1900 to 2999; the nearest one otherwise."""
        known = self._known
        index = bisect_right(known, (at_s, LAST_S + 1))
        if index and at_s < known[index - 1].end_s:
            return known[index - 1]
        found = self._find(min(max(at_s, FIRST_S), LAST_S - 1))
        if found not in known:
            insort(known, found)
        return found

    def _find(self, at_s: int) -> Stretch:
        index = bisect_right(self._changes_s, at_s)
        listed_s, offset = self._changes_s[index - 1], self._offsets_s[index - 1]
        if index < len(self._changes_s):
            start_s, end_s = listed_s, self._changes_s[index]
        elif self._rule_from_s is None:
            start_s, end_s = listed_s, LAST_S
        else:
            offset = offset_s(self, at_s)
            start_s = self._change_before(at_s, listed_s)
            end_s = self._change_after(max(at_s, self._rule_from_s))
        before = offset if start_s == FIRST_S else offset_s(self, start_s - 1)
        return Stretch(start_s, end_s, offset, before)

    def _change_before(self, at_s: int, listed_s: int) -> int:
        """When the offset at an instant began by the rule, or else by the last listed change."""
        offset, high_s, end_s = offset_s(self, at_s), at_s, max(at_s - _YEAR_S, listed_s)
        while high_s > end_s:
            low_s = max(high_s - _PROBE_S, end_s)
            if offset_s(self, low_s) != offset:
                return _first_s(low_s, high_s, lambda s: offset_s(self, s) == offset)
            high_s = low_s
        return listed_s

    def _change_after(self, at_s: int) -> int:
        """When the offset at an instant ends by the rule."""
        offset, low_s, end_s = offset_s(self, at_s), at_s, min(at_s + _YEAR_S, LAST_S)
        while low_s < end_s:
            high_s = min(low_s + _PROBE_S, end_s)
            if offset_s(self, high_s) != offset:
                return _first_s(low_s, high_s, lambda s: offset_s(self, s) != offset)
            low_s = high_s
        return LAST_S


def stretch(where: Zone, at_s: int) -> Stretch:
    """The period of constant offset that holds an instant."""
    return where.stretch(at_s)


def offset_s(where: ZoneInfo, at_s: int) -> int:
    """Seconds that the wall clock is ahead of UTC at an instant."""
    offset = datetime.fromtimestamp(at_s, where).utcoffset()
    assert offset is not None
    return offset.days * 86_400 + offset.seconds


def _first_s(low_s: int, high_s: int, holds: Callable[[int], bool]) -> int:
    """The first instant at which it holds, given that it does at `high` and not at `low`."""
    while high_s - low_s > 1:
        middle_s = (low_s + high_s) // 2
        if holds(middle_s):
            high_s = middle_s
        else:
            low_s = middle_s
    return high_s


def transitions(file: bytes) -> tuple[tuple[int, ...], list[int], str]:
    """The listed times, the offset from each on, and the rule after the last: the second, 64-bit block of RFC 8536."""
    if file[:4] != b"TZif" or file[4:5] < b"2" or file[-1:] != b"\n":
        raise ValueError("not a whole file of a time zone")
    try:
        ut, std, leaps, times, kinds, letters = struct.unpack_from(">6l", file, 20)
        at = 44 + times * 5 + kinds * 6 + letters + leaps * 8 + std + ut
        ut, std, leaps, times, kinds, letters = struct.unpack_from(">6l", file, at + 20)
        instants: tuple[int, ...] = struct.unpack_from(f">{times}q", file, at + 44)
        chosen = struct.unpack_from(f">{times}B", file, at + 44 + times * 8)
        at += 44 + times * 9
        offsets = [struct.unpack_from(">l", file, at + kind * 6)[0] for kind in range(kinds)]
        at += kinds * 6 + letters + leaps * 12 + std + ut
        return instants, [offsets[kind] for kind in chosen], file[at:].decode("ascii").strip()
    except (struct.error, IndexError) as error:
        raise ValueError("not a whole file of a time zone") from error
