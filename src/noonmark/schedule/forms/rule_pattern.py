"""A rule with all that bounds it, adds to it and takes from it, as a pattern by the wall clock."""

import heapq
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice, takewhile
from math import inf

import msgspec

from noonmark.schedule.forms.rule_text import parse_rule
from noonmark.schedule.forms.rule_times import RuleTimes

_LONGEST_BLOCK = 128


class _Block(msgspec.Struct, frozen=True):
    """All occurrences in (after, until]; one that RDATE repeats stands there twice, which no question notices."""

    after_s: float
    until_s: float
    walls: tuple[int, ...]

    @property
    def next_length(self) -> int:
        """A caller that steps on gets longer and longer blocks, one that asks once does not pay for them."""
        return min(max(2 * len(self.walls), 1), _LONGEST_BLOCK)


class RulePattern:
    """The times of a rule with its DTSTART; keeps a block of those that were asked for last."""

    def __init__(self, body: str) -> None:
        parts = parse_rule(body, "UTC")
        if parts.start_s is None:
            raise ValueError(f"{body!r} has no DTSTART")
        self.keeps_pace = parts.keeps_pace
        self._start_s = parts.start_s
        self._rule = parts.explicit(parts.start_s)
        self._times = RuleTimes(self._rule, parts.start_s)
        self._removed = frozenset(parts.removed_s)
        self._block = _Block(0, 0, ())

    def next_wall(self, after_s: int) -> int | None:
        block = self._block
        if block.after_s <= after_s < block.until_s:
            index = bisect_right(block.walls, after_s)
            if index < len(block.walls):
                return block.walls[index]
            if block.until_s == inf:
                return None
        length = block.next_length if after_s == block.until_s else 1
        walls = tuple(islice(self._forwards(after_s), length))
        self._block = _Block(after_s, walls[-1] if walls else inf, walls)
        return walls[0] if walls else None

    def previous_wall(self, before_s: int) -> int | None:
        block = self._block
        if block.after_s < before_s <= block.until_s + 1:
            index = bisect_left(block.walls, before_s)
            if index:
                return block.walls[index - 1]
            if block.after_s == -inf:
                return None
        length = block.next_length if before_s == block.after_s + 1 else 1
        walls = tuple(islice(self._backwards(before_s), length))[::-1]
        self._block = _Block(walls[0] - 1 if walls else -inf, before_s - 1, walls)
        return walls[-1] if walls else None

    @cached_property
    def _end_s(self) -> float:
        """The last time of the rule, as far as UNTIL or COUNT say."""
        if self._rule.count is None:
            return inf if self._rule.until_s is None else self._rule.until_s
        counted = deque(islice(self._times.forwards(self._start_s - 1), self._rule.count), maxlen=1)
        return counted[0] if counted else -inf

    def _forwards(self, after_s: int) -> Iterator[int]:
        end_s, extra_s = self._end_s, self._rule.extra_s
        times: Iterator[int] = iter(())
        if after_s < end_s:
            times = takewhile(lambda wall_s: wall_s <= end_s, self._times.forwards(after_s))
        return self._combined(times, extra_s[bisect_right(extra_s, after_s) :], reverse=False)

    def _backwards(self, before_s: int) -> Iterator[int]:
        extra_s = self._rule.extra_s
        times: Iterator[int] = iter(())
        if self._end_s >= self._start_s:
            times = self._times.backwards(int(min(before_s, self._end_s + 1)))
        return self._combined(times, extra_s[: bisect_left(extra_s, before_s)][::-1], reverse=True)

    def _combined(self, times: Iterator[int], extra: Sequence[int], *, reverse: bool) -> Iterator[int]:
        """RDATE adds, then EXDATE removes."""
        if not extra and not self._removed:
            return times
        merged = heapq.merge(times, extra, reverse=reverse)
        return (wall_s for wall_s in merged if wall_s not in self._removed)
