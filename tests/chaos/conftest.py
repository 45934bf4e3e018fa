"""Two nodes and two workers as real processes, under load."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.chaos.fleet import Fleet
from tests.chaos.load import Load


@pytest.fixture
async def fleet(database_url: str, tmp_path: Path) -> AsyncIterator[Fleet]:
    fleet = Fleet(lambda: database_url, tmp_path)
    yield fleet
    fleet.close()
    print(fleet.logs())


@pytest.fixture
async def load(fleet: Fleet) -> AsyncIterator[Load]:
    """Two nodes, two workers, everything flowing."""
    fleet.start_node()
    fleet.start_node()
    fleet.start_worker()
    fleet.start_worker()
    await fleet.ready(nodes=2, workers=2)
    load = Load(fleet)
    await load.start()
    yield load
    await load.stop()
