"""A node of several processes: killed one by one and all at once, under load; it stays one node to its users."""

import signal

import aiohttp
import psutil
import pytest

from noonmark.cli.processes.supervise import GRACE_S
from noonmark.client import Client
from noonmark.clock import monotonic_s
from noonmark.errors import SchemaTooNew
from noonmark.store.connect import connect
from noonmark.store.migrate import Migration, migrate, migrations
from tests.chaos.fleet import Fleet, NodeProcess
from tests.chaos.load import Load
from tests.conftest import eventually

TAKEOVER_S = 12.0
"""The lease of the killed one passes, the replacement starts meanwhile, and shards move once more."""


@pytest.fixture
async def node(fleet: Fleet) -> NodeProcess:
    """Two processes, and a worker that knows the public address alone."""
    node = fleet.start_node("--processes", "2")
    fleet.start_worker()
    await fleet.ready(nodes=2, workers=1)
    return node


def processes_of(node: NodeProcess) -> list[psutil.Process]:
    """In the order of their numbers."""
    return sorted(psutil.Process(node.pid).children(), key=lambda child: child.pid)


async def get(node: NodeProcess, path: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(node.address + path) as answer:
        return answer.status, await answer.text()


async def metric(node: NodeProcess, name: str) -> float:
    text = (await get(node, "/metrics"))[1]
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))


async def is_ready(node: NodeProcess) -> bool:
    return (await get(node, "/readyz"))[0] == 200


async def test_they_are_one_node_to_their_users(fleet: Fleet, node: NodeProcess) -> None:
    await eventually(lambda: is_ready(node), 10)
    sums = {"noonmark_shards_owned": 8, "noonmark_process_up": 2, "noonmark_workers": 1}

    async def summed() -> bool:
        """What siblings say is up to a second old."""
        return {name: await metric(node, name) for name in sums} == sums

    await eventually(summed, 10)
    async with Client(node.address) as client:
        listed = await client.nodes()
    assert sorted((one.node, one.process) for one in listed) == [(node.address, 1), (node.address, 2)]
    assert len({one.address for one in listed} | {node.address}) == 3
    log = node.log.read_text()
    assert '"process":1' in log
    assert '"process":2' in log


async def test_connections_are_spread_evenly(node: NodeProcess) -> None:
    sessions = [aiohttp.ClientSession() for _ in range(8)]
    try:
        for session in sessions:
            async with session.get(node.address + "/healthz") as answer:
                assert answer.status == 200
                await answer.read()  # else the session hangs up
        one, other = (_connections(process, node) for process in processes_of(node))
        assert one + other >= 8
        assert abs(one - other) <= 1
    finally:
        for session in sessions:
            await session.close()


async def test_a_killed_process_is_replaced_and_the_other_goes_on(fleet: Fleet, node: NodeProcess) -> None:
    load = Load(fleet)
    await load.start()
    try:
        await load.flows()
        granted = await metric(node, "noonmark_granted_total")
        victim, other = processes_of(node)
        victim.kill()
        assert await metric(node, "noonmark_granted_total") >= granted, "what was counted was taken back"
        assert await is_ready(node), "the other one serves"
        await eventually(lambda: len(processes_of(node)) == 2 and victim not in processes_of(node), 10)
        await eventually(lambda: fleet.even(2), TAKEOVER_S)
        assert other in processes_of(node)
        assert await metric(node, "noonmark_granted_total") >= granted
        await load.flows()
        await load.verify()
    finally:
        await load.stop()


async def test_a_signal_has_all_processes_hand_over(fleet: Fleet, node: NodeProcess) -> None:
    other = fleet.start_node()
    await eventually(lambda: fleet.even_or_so(3), 20)
    family = processes_of(node)
    node.signal(signal.SIGTERM)
    asked_s = monotonic_s()
    await eventually(lambda: _owns_all(fleet, other.address), 5.0)
    print(f"handed over after {monotonic_s() - asked_s:.2f} s")
    assert await node.ended(10) == 0
    assert psutil.wait_procs(family, timeout=1)[1] == []


async def test_a_second_signal_ends_all_at_once(fleet: Fleet, node: NodeProcess) -> None:
    family = processes_of(node)
    for process in family:
        process.suspend()  # they would hand over, and cannot
    node.signal(signal.SIGTERM)
    await eventually(lambda: "stopping" in node.log.read_text(), 5)
    node.signal(signal.SIGTERM)
    node.signal(signal.SIGTERM)
    asked_s = monotonic_s()
    assert await node.ended(10) == 0
    assert monotonic_s() - asked_s < GRACE_S
    assert psutil.wait_procs(family, timeout=1)[1] == []


async def test_a_process_that_cannot_start_ends_the_node_with_its_status(fleet: Fleet) -> None:
    newer = Migration(migrations()[-1].number + 1, "later", "-- breaking: all is different\nSELECT 1")
    connection = await connect(fleet.database_url())
    await migrate(connection, 8, [*migrations(), newer])
    await connection.close()
    node = fleet.start_node("--processes", "2")
    assert await node.ended(30) == SchemaTooNew.exit_code
    assert "upgrade this node" in node.log.read_text()


async def test_no_process_outlives_its_killed_parent(fleet: Fleet, node: NodeProcess) -> None:
    family = processes_of(node)
    node.kill()
    assert psutil.wait_procs(family, timeout=15)[1] == []
    assert await fleet.fetchval("SELECT count(*) FROM noonmark.node WHERE alive") == 0, "they stopped in order"


async def _owns_all(fleet: Fleet, address: str) -> bool:
    return await fleet.owner_of(address) == 8


def _connections(process: psutil.Process, node: NodeProcess) -> int:
    port = int(node.address.rpartition(":")[2])
    return sum(one.laddr.port == port and one.status == psutil.CONN_ESTABLISHED for one in process.net_connections())
