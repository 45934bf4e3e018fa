"""PostgreSQL itself crashes and comes back, under load."""

import asyncio
from pathlib import Path

from noonmark.embedded import temporary_postgres
from tests.chaos.fleet import Fleet
from tests.chaos.load import Load
from tests.conftest import eventually


async def test_nothing_acknowledged_is_lost_when_postgres_crashes(tmp_path: Path) -> None:
    with temporary_postgres() as server:  # its own, with durable commits
        fleet = Fleet(lambda: server.url, tmp_path)
        load = Load(fleet)
        try:
            fleet.start_node()
            fleet.start_node()
            await eventually(fleet.installed, 20, 0.1)
            fleet.start_worker()
            fleet.start_worker()
            await fleet.ready(nodes=2, workers=2)
            await load.start()
            for _ in range(2):
                await asyncio.to_thread(server.restart, "immediate")
                await load.flows()
            await load.verify()
            assert all(process.running for process in [*fleet.nodes, *fleet.workers])
        finally:
            await load.stop()
            fleet.close()
            print(fleet.logs())
