"""Which shards a node should give away or take, so that they lie evenly over the live nodes."""

from collections.abc import Collection, Mapping
from typing import NamedTuple


class ShardMoves(NamedTuple):
    give: list[int]
    take: int


def moves(owners: Mapping[int, int | None], nodes: Collection[int], me: int) -> ShardMoves:
    """Every live node computes the same target for each: the shards divided, the remainder to the lowest ids."""
    mine = sorted(shard for shard, owner in owners.items() if owner == me)
    if me not in nodes:
        return ShardMoves([], 0)
    least, extra = divmod(len(owners), len(nodes))
    target = least + (sorted(nodes).index(me) < extra)
    free = sum(owner is None for owner in owners.values())
    return ShardMoves(mine[target:], min(free, max(0, target - len(mine))))
