"""Changes of many jobs, some at a time: a chunk is one turn and one transaction, and others' commits go in between.

All jobs of one shard are in one chunk, so that the shard's row of the request's key is written with all of them.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TypeVar

CHUNK = 250
"""Jobs to a turn: some ten milliseconds."""

T = TypeVar("T")


async def in_chunks(shards: Sequence[int], do: Callable[[list[int]], Awaitable[list[T]]]) -> list[T]:
    """`do` gets positions, carries them out in one turn and answers for each; all answers come back in order."""
    found: dict[int, T] = {}
    for chunk in chunks(shards):
        found.update(zip(chunk, await do(chunk), strict=True))
    return [found[position] for position in range(len(shards))]


def chunks(shards: Sequence[int]) -> Iterator[list[int]]:
    of_shard: dict[int, list[int]] = {}
    for position, shard in enumerate(shards):
        of_shard.setdefault(shard, []).append(position)
    chunk: list[int] = []
    for positions in of_shard.values():
        if chunk and len(chunk) + len(positions) > CHUNK:
            yield chunk
            chunk = []
        chunk += positions
    if chunk:
        yield chunk
