"""Nodes killed, frozen and stopped under load: others take over, nothing is lost, nothing happens twice."""

import signal

from noonmark.clock import monotonic_s
from tests.chaos.fleet import Fleet
from tests.chaos.load import Load
from tests.conftest import eventually

TAKEOVER_S = 8.0
"""About 5 s are promised; a busy machine gets some more."""


async def test_a_killed_node_is_replaced_within_seconds(fleet: Fleet, load: Load) -> None:
    victim, other = fleet.nodes
    victim.kill()
    killed_s = monotonic_s()
    await eventually(lambda: _owns_all(fleet, other.address), TAKEOVER_S)
    print(f"taken over after {monotonic_s() - killed_s:.2f} s")
    await load.flows()
    fleet.start_node()
    await eventually(lambda: fleet.even(2), 20)
    await load.flows()
    await load.verify()


async def test_a_frozen_node_is_replaced_and_wakes_up_harmless(fleet: Fleet, load: Load) -> None:
    frozen, other = fleet.nodes
    [(old_id,)] = await fleet.fetch("SELECT node_id FROM noonmark.node WHERE address = $1 AND alive", frozen.address)
    frozen.signal(signal.SIGSTOP)
    stopped_s = monotonic_s()
    await eventually(lambda: _owns_all(fleet, other.address), TAKEOVER_S)
    print(f"taken over after {monotonic_s() - stopped_s:.2f} s")
    await load.flows()
    frozen.signal(signal.SIGCONT)
    await eventually(lambda: fleet.even(2), 20)
    [(new_id,)] = await fleet.fetch("SELECT node_id FROM noonmark.node WHERE address = $1 AND alive", frozen.address)
    assert new_id > old_id
    assert await fleet.owner_of(frozen.address) == 4
    await load.flows()
    await load.verify()


async def test_a_node_that_is_stopped_hands_over_at_once(fleet: Fleet, load: Load) -> None:
    leaving, other = fleet.nodes
    leaving.signal(signal.SIGTERM)
    asked_s = monotonic_s()
    await eventually(lambda: _owns_all(fleet, other.address), 2.0)
    print(f"handed over after {monotonic_s() - asked_s:.2f} s")
    assert await leaving.ended(10) == 0
    await load.flows()
    await load.verify()


async def test_nodes_that_start_together_on_an_empty_database_share_it(empty_database_url: str, tmp_path) -> None:
    fleet = Fleet(lambda: empty_database_url, tmp_path)
    try:
        for _ in range(4):
            fleet.start_node()
        await eventually(fleet.installed, 30)
        await eventually(lambda: fleet.even(4), 30)
        fleet.start_worker()
        load = Load(fleet)
        await eventually(lambda: fleet.fetchval("SELECT count(*) FROM noonmark.task WHERE name = 'work'"), 20)
        await load.start()
        await load.verify()
        assert all(node.running for node in fleet.nodes)
    finally:
        fleet.close()
        print(fleet.logs())


async def _owns_all(fleet: Fleet, address: str) -> bool:
    return await fleet.owner_of(address) == 8
