"""In how many transactions a round of ticks goes over the shards."""

from typing import Any

import pytest

from noonmark.node.loops import ticker
from noonmark.schedule import Every
from noonmark.wire.resources import JobSpec
from tests.conftest import SHARDS, Engine, eventually


@pytest.fixture
def widths(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many shards each tick was for."""
    found: list[int] = []
    tick = ticker.tick

    async def counted(connection: Any, node_id: int, terms: Any, **window: Any) -> Any:
        found.append(len(terms))
        return await tick(connection, node_id, terms, **window)

    monkeypatch.setattr(ticker, "tick", counted)
    return found


async def test_one_if_nothing_is_due_and_some_if_something_is(engine: Engine, widths: list[int]) -> None:
    await engine.start_node(tick_parts=4, tick_shards=1)
    await eventually(lambda: widths[-2:] == [SHARDS] * 2)
    client = engine.client()
    await client.declare_tasks(["task"])
    await client.create_job(JobSpec(name="often", task="task", schedule=Every("1s")))
    await eventually(lambda: widths[-8:] == [SHARDS // 4] * 8)


async def test_few_shards_are_not_divided(engine: Engine, widths: list[int]) -> None:
    await engine.start_node(tick_parts=4)
    client = engine.client()
    await client.declare_tasks(["task"])
    await client.create_job(JobSpec(name="often", task="task", schedule=Every("1s")))
    made = len(widths)
    await eventually(lambda: len(widths) > made + 3)
    assert set(widths[made:]) == {SHARDS}
