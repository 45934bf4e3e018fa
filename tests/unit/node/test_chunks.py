"""Changes of many jobs, some at a time: whole shards to a chunk, answers in order."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from noonmark.node.commands.chunks import CHUNK, chunks, in_chunks
from noonmark.node.commands.once import by_shard, in_order


@given(st.lists(st.integers(0, 7), max_size=2_000))
def test_every_item_is_in_one_chunk_and_no_shard_in_two(shards: list[int]) -> None:
    found = list(chunks(shards))
    assert sorted(position for chunk in found for position in chunk) == list(range(len(shards)))
    of_chunk = [{shards[position] for position in chunk} for chunk in found]
    assert sum(map(len, of_chunk)) == len(set(shards))
    assert all(len(chunk) <= CHUNK or len(own) == 1 for chunk, own in zip(found, of_chunk, strict=True))


@given(st.lists(st.integers(0, 7), max_size=600))
def test_answers_come_back_in_order(shards: list[int]) -> None:
    async def do(positions: list[int]) -> list[int]:
        return [position * 10 for position in positions]

    assert asyncio.run(in_chunks(shards, do)) == [position * 10 for position in range(len(shards))]


@given(st.lists(st.integers(0, 7)))
def test_what_is_kept_by_shard_comes_back_in_order(shards: list[int]) -> None:
    answers = list(range(len(shards)))
    assert in_order(shards, by_shard(shards, answers)) == answers
