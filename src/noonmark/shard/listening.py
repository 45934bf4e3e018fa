"""How long a worker has been silent, for an owner that has only just taken its runs over.

Silence counts across owners: otherwise each change of owner would give a dead worker its whole time again. Nodes keep
in rows, a few seconds late, when they last heard each worker. Time in which no node could hear is no silence. So a
worker has been silent for as long as some node listened since the row's `seen_at`. A node listens from shortly after
its life began, when workers have found it, until it was last known to live.
"""

from collections.abc import Iterable
from typing import NamedTuple

from noonmark.shard.limits import Limits


class NodeLife(NamedTuple):
    """A node's life, over or not, as its row has it."""

    began_us: int
    lived_us: int
    """When it last renewed its lease."""


def last_heard_us(seen_us: int, lives: Iterable[NodeLife], own_began_us: int, now_us: int, limits: Limits) -> int:
    """From when on the worker's silence counts: the time since then until `now_us` is its silence so far.

    It always gets the time to appear at this node before it is given up.
    """
    since_us = seen_us + limits.kept_late_us
    silent_us = _covered_us(
        [(max(life.began_us + limits.appear_us, since_us), min(life.lived_us, now_us)) for life in lives]
    )
    return max(now_us - silent_us, own_began_us + limits.appear_us - limits.silence_us)


def _covered_us(stretches: list[tuple[int, int]]) -> int:
    """The length of all stretches together, where they overlap counted once."""
    covered_us = 0
    until_us = 0
    for begin_us, end_us in sorted(stretches):
        covered_us += max(0, end_us - max(begin_us, until_us))
        until_us = max(until_us, end_us)
    return covered_us
