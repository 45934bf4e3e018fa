"""Interned texts: one row for each, however long, also when an older node adds them."""

from random import Random

from noonmark.model.policy import Policy, Retry
from noonmark.store.connect import Pool
from noonmark.store.intern import intern_policies, intern_schedules

RANDOM = Random(1)
TIMES = "times:" + ",".join(str(RANDOM.randrange(2**33)) for _ in range(1_000)) + "|-|j0"
"""Beyond what a btree takes, also compressed."""


async def test_a_text_of_any_length_is_stored_once(pool: Pool) -> None:
    texts = [TIMES, TIMES + "|exclude=sat", "every:5|phase 0|j0"]
    first = await intern_schedules(pool, texts)
    assert len(set(first.values())) == 3
    assert await intern_schedules(pool, reversed(texts)) == first  # type: ignore[arg-type]
    assert await pool.fetchval("SELECT count(*) FROM noonmark.schedule") == 3


async def test_a_policy_of_any_length_is_stored_once(pool: Pool) -> None:
    names = tuple(f"{RANDOM.randbytes(40).hex()}.Error" for _ in range(100))
    policy = Policy(task="a", retry=Retry(no_retry=names))
    first = await intern_policies(pool, [policy, Policy(task="a"), Policy(task="a", fixed_delay=True)])
    assert len(set(first.values())) == 3
    assert await intern_policies(pool, [policy]) == {policy: first[policy]}


async def test_an_older_node_finds_the_same_rows(pool: Pool) -> None:
    """With the statements of the release before, which knew the text as the key."""
    insert = "INSERT INTO noonmark.schedule (text) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING"
    found = "SELECT s.schedule_id, s.text FROM noonmark.schedule s WHERE s.text = ANY ($1::text[])"
    ours = await intern_schedules(pool, ["every:5|phase 0|j0"])
    await pool.execute(insert, ["every:5|phase 0|j0", "every:6|phase 0|j0"])
    theirs = {row[1]: row[0] for row in await pool.fetch(found, ["every:5|phase 0|j0", "every:6|phase 0|j0"])}
    assert theirs == await intern_schedules(pool, list(theirs))
    assert theirs["every:5|phase 0|j0"] == ours["every:5|phase 0|j0"]
