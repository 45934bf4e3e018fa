"""Time zones by IANA name from the tzdata package, so that every node agrees, and the offsets of their clocks."""

from collections.abc import Callable
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from zoneinfo import ZoneInfo

from noonmark.schedule.errors import ScheduleError

# No zone has kept an offset for less than 6.9 days since 1970, nor is due to.
_PROBE_S = 3 * 86_400
_SAME_AS_UTC = frozenset({"Etc/UTC", "Etc/UCT", "UCT", "Zulu", "Etc/Zulu", "Universal", "Etc/Universal"})


@cache
def zone_names() -> frozenset[str]:
    return frozenset((files("tzdata") / "zones").read_text("utf-8").split()) - {"Factory"}


def canonical_zone(name: str) -> str:
    """The name under which schedules of this zone are interned, or a ScheduleError."""
    if name in zone_names():
        return "UTC" if name in _SAME_AS_UTC else name
    folded = {known.casefold(): known for known in sorted(zone_names())}
    close = get_close_matches(name[:60].casefold(), folded, n=1)
    fix = f"did you mean {folded[close[0]]!r}?" if close else "use an IANA name such as 'Europe/Berlin' or 'UTC'"
    raise ScheduleError("schedule.tz", f"{name[:60]!r} is not a known time zone", fix)


@cache
def zone(name: str) -> ZoneInfo:
    if name not in zone_names():
        raise ValueError(f"unknown time zone {name!r}")
    with files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def offset_s(where: ZoneInfo, at_s: int) -> int:
    """Seconds that the wall clock is ahead of UTC at an instant."""
    return _offset_of(datetime.fromtimestamp(at_s, where))


def wall_to_instants(where: ZoneInfo, wall_s: int) -> tuple[int, int]:
    """The instants of a wall-clock time, read with the offset before and after a change; equal outside of one.

    In an overlap the first is earlier. In a gap the second is earlier, and the change lies between them.
    """
    wall = datetime.fromtimestamp(wall_s, UTC).replace(tzinfo=where)
    return wall_s - _offset_of(wall), wall_s - _offset_of(wall.replace(fold=1))


def next_change(where: ZoneInfo, from_s: int, to_s: int) -> int | None:
    """The first instant in (from, to] whose offset differs from that at `from`."""
    offset, low = offset_s(where, from_s), from_s
    while low < to_s:
        high = min(low + _PROBE_S, to_s)
        if offset_s(where, high) != offset:
            return _bisect(low, high, lambda at_s: offset_s(where, at_s) != offset)
        low = high
    return None


def last_change(where: ZoneInfo, from_s: int, to_s: int) -> int | None:
    """The last instant in (from, to] at which the offset became that at `to`."""
    offset, high = offset_s(where, to_s), to_s
    while high > from_s:
        low = max(high - _PROBE_S, from_s)
        if offset_s(where, low) != offset:
            return _bisect(low, high, lambda at_s: offset_s(where, at_s) == offset)
        high = low
    return None


def _bisect(low: int, high: int, changed: Callable[[int], bool]) -> int:
    """The first changed instant, given that `low` is not and `high` is."""
    while high - low > 1:
        middle = (low + high) // 2
        if changed(middle):
            high = middle
        else:
            low = middle
    return high


def _offset_of(wall: datetime) -> int:
    offset = wall.utcoffset()
    assert offset is not None
    return offset.days * 86_400 + offset.seconds
