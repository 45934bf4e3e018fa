"""Makes runs ahead of their time: moves every shard's watermark to now plus the lookahead.

A round goes over the shards in `tick_parts` transactions, so that grants and finishes go in between; in one if no
schedule is due in it and the round before woke few runs, which is what an idle node does all the time. A shard that
lags (after a takeover) starts from its own watermark, and missed occurrences are caught up as each job's misfire policy
says.
"""

from collections import defaultdict
from collections.abc import Collection

from noonmark.clock import SECOND_US
from noonmark.errors import NotOwner
from noonmark.model.run import RunRow
from noonmark.node.life import Life
from noonmark.node.loop import Loop
from noonmark.schedule import Slice
from noonmark.store.connect import Connection
from noonmark.store.tick import load_missed_ends, tick

FEW = 1_000
"""So many runs of a round do not hold up a commit that waits for them."""


class TickerLoop(Loop):
    name = "ticker"

    def __init__(self, life: Life) -> None:
        super().__init__(life.config.tick_s, life.tick_wanted)
        self._life = life

    async def tick(self) -> None:
        await tick_all(self._life)


async def tick_all(life: Life) -> None:
    """One round over all owned shards."""
    now_us = life.clock.now_us()
    until_us = now_us + round(life.config.lookahead_s * SECOND_US)
    few = life.ticked < FEW
    life.ticked = 0
    standing: dict[int, list[int]] = defaultdict(list)
    for shard in life.terms:
        standing[life.owner.watermarks[shard]].append(shard)
    for after_us, shards in sorted(standing.items(), reverse=True):
        if after_us >= until_us:
            continue
        pieces = life.timetable.window(after_us, until_us, now_us)
        quiet = few and not pieces and after_us >= now_us
        part = max(life.config.tick_shards, -(-len(shards) // life.config.tick_parts))
        width = len(shards) if quiet else part
        for start in range(0, len(shards), width):
            await _tick(life, shards[start : start + width], after_us, until_us, now_us, pieces)
    life.timetable.stand_at(until_us)


async def _tick(
    life: Life, shards: Collection[int], after_us: int, until_us: int, now_us: int, pieces: list[tuple[int, Slice]]
) -> None:
    terms: dict[int, int] = {}

    def prepare() -> None:
        # Since the round began, a shard may have been given away.
        terms.update((shard, life.terms[shard]) for shard in shards if shard in life.terms)
        if not terms:
            raise NotOwner("the shards were given away")
        life.owner.begin_tick(terms, until_us)

    async def action(connection: Connection) -> None:
        timetable = life.timetable
        missed_until_us = timetable.missed_until_us(now_us)
        due = timetable.expand(pieces + timetable.fresh(after_us, until_us, now_us), terms.keys())
        if missed_until_us > after_us:
            ends = await load_missed_ends(connection, list(terms), after_us, missed_until_us)
            due += timetable.ended(ends, after_us, until_us, now_us)
        rows: list[RunRow] = await tick(
            connection, life.node_id, terms,
            after_us=after_us, until_us=until_us, now_us=now_us, due=due,
        )  # fmt: skip
        await life.know_policies(connection, {row.policy_id for row in rows})
        for row in rows:
            life.owner.admit(row, life.clock.now_us())
        life.fired += sum(row.attempt == 0 for row in rows)
        life.ticked += len(rows)

    try:
        await life.committer.perform(action, prepare)
    except NotOwner:
        if life.committer.closed:
            raise
