"""Sets of numbers as fields of cron, and times of the day as the fewest expressions."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

HOUR_S, DAY_S = 3_600, 86_400


class ClockFields(NamedTuple):
    """The three fields of cron that say a time of the day."""

    second: str
    minute: str
    hour: str

    def expression(self, days: "DayFields") -> str:
        """Five fields, or six if the second is not 0."""
        fields = (*self, *days)
        return " ".join(fields[1:] if self.second == "0" else fields)


class DayFields(NamedTuple):
    date: str = "*"
    month: str = "*"
    weekday: str = "*"


def clocks(times: Iterable[int], *, steady: bool) -> list[ClockFields]:
    """The expressions for seconds of the day. A steady pace may be said by stars, which keep it when clocks change."""
    hours: dict[int, list[int]] = {}
    for at_s in sorted(set(times)):
        hours.setdefault(at_s // HOUR_S, []).append(at_s % HOUR_S)
    found: list[ClockFields] = []
    for within, of_hours in _grouped(hours):
        hour = numbers(of_hours, steady=steady, size=24)
        minutes: dict[int, list[int]] = {}
        for at_s in within:
            minutes.setdefault(at_s // 60, []).append(at_s % 60)
        for seconds, of_minutes in _grouped(minutes):
            second, minute = (numbers(values, steady=steady, size=60) for values in (seconds, of_minutes))
            found.append(ClockFields(second, minute, hour))
    return found


def numbers(values: Collection[int], *, steady: bool = False, size: int = 0) -> str:
    """`*/15` for a steady pace through all of the field, otherwise `9-16`, `8-18/2` or `1,4,7`."""
    ordered = sorted(set(values))
    step = ordered[1] - ordered[0] if len(ordered) > 1 else 0
    if steady and step and size % step == 0 and ordered == list(range(0, size, step)):
        return "*" if step == 1 else f"*/{step}"
    if size and step > 1 and len(ordered) > 4 and ordered == list(range(ordered[0], ordered[-1] + 1, step)):
        return f"{ordered[0]}-{ordered[-1]}/{step}"
    return ",".join(f"{first}-{last}" if last > first else f"{first}" for first, last in _runs(ordered))


def _grouped(inner: dict[int, list[int]]) -> list[tuple[tuple[int, ...], list[int]]]:
    """The keys of each value, in the order of the first key."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for key, value in inner.items():
        groups.setdefault(tuple(value), []).append(key)
    return list(groups.items())


def _runs(ordered: list[int]) -> list[tuple[int, int]]:
    """Three numbers or more in a row are a range."""
    found: list[tuple[int, int]] = []
    start = 0
    for at in range(1, len(ordered) + 1):
        if at < len(ordered) and ordered[at] == ordered[at - 1] + 1:
            continue
        if at - start > 2:
            found.append((ordered[start], ordered[at - 1]))
        else:
            found += [(value, value) for value in ordered[start:at]]
        start = at
    return found
