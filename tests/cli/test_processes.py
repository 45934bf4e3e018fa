"""What `noonmark node --processes` is put together from: how many, on which ports, and who gets a connection."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from noonmark.api.handed import CLOSED, READY, SERVING
from noonmark.cli.processes.cores import usable_cores
from noonmark.cli.processes.door import Door
from noonmark.cli.processes.ports import listen, own_address, parse_ports, port_of, reserve
from noonmark.errors import Conflict, InvalidInput

CORES = len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("quota", "cores"),
    [
        ("max 100000", CORES),
        ("50000 100000", 1),
        ("150000 100000", min(2, CORES)),
        ("6400000 100000", CORES),
        ("", CORES),
    ],
)
def test_one_for_each_core_that_may_be_used(tmp_path: Path, quota: str, cores: int) -> None:
    (tmp_path / "cpu.max").write_text(quota)
    assert usable_cores(tmp_path / "cpu.max") == cores


def test_ports_are_named_or_any() -> None:
    assert parse_ports(None, 2) == [0, 0]
    assert parse_ports("7172-7179", 3) == [7172, 7173, 7174]
    assert parse_ports("7172,7180-7181", 3) == [7172, 7180, 7181]
    for wrong in ("", "a-b", "7172-", "0-4", "70000"):
        with pytest.raises(InvalidInput, match="are no ports"):
            parse_ports(wrong, 1)
    with pytest.raises(InvalidInput, match="2 ports for 3 processes"):
        parse_ports("7172-7173", 3)


def test_the_address_of_a_process_has_the_name_of_the_node() -> None:
    assert own_address("0.0.0.0", 7172, "http://node-1:7171") == "http://node-1:7172"
    assert own_address("127.0.0.1", 7172, None) == "http://127.0.0.1:7172"
    assert own_address("::1", 7172, None) == "http://[::1]:7172"


def test_a_reserved_port_is_nobody_elses_and_refuses_until_its_process_listens() -> None:
    [reserved] = reserve("127.0.0.1", [0])
    port = port_of(reserved)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))
    with pytest.raises(Conflict, match="taken"):
        reserve("127.0.0.1", [port])
    with pytest.raises(Conflict, match="taken"):
        listen("127.0.0.1", port)
    reserved.close()


class Stand:
    """A process at the door: its end of the channel, and the connections that came through it."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel
        self.connections: list[socket.socket] = []

    def take(self) -> int:
        """How many are here now."""
        self.channel.setblocking(False)
        while True:
            try:
                _, descriptors, _, _ = socket.recv_fds(self.channel, 1, 1)
            except BlockingIOError:
                return len(self.connections)
            self.connections += [socket.socket(fileno=descriptor) for descriptor in descriptors]

    def close(self) -> None:
        for connection in self.connections:
            connection.close()
        self.channel.close()


@pytest.fixture
def public() -> Iterator[socket.socket]:
    with listen("127.0.0.1", 0) as listener:
        yield listener


@pytest.fixture
async def door(public: socket.socket) -> AsyncIterator[Door]:
    door = Door(public, lambda number: None)
    yield door
    door.close()


async def arrive(public: socket.socket, count: int) -> list[socket.socket]:
    """Connections one after the other; each is handed on before the next comes."""
    made = []
    for _ in range(count):
        made.append(socket.create_connection(("127.0.0.1", port_of(public))))
        for _ in range(3):
            await asyncio.sleep(0)
    await asyncio.sleep(0.01)
    return made


async def test_the_one_with_the_fewest_gets_the_next(door: Door, public: socket.socket) -> None:
    first, second = Stand(door.seat(1)), Stand(door.seat(2))
    for stand in (first, second):
        stand.channel.send(SERVING + READY)
    made = await arrive(public, 8)
    assert (first.take(), second.take()) == (4, 4)
    second.channel.send(CLOSED * 3)
    made += await arrive(public, 3)
    assert (first.take(), second.take()) == (4, 7)
    for one in (*made, first, second):
        one.close()


async def test_those_that_were_ready_come_first_and_the_dead_get_none(door: Door, public: socket.socket) -> None:
    first, second = Stand(door.seat(1)), Stand(door.seat(2))
    early = socket.create_connection(("127.0.0.1", port_of(public)))
    await asyncio.sleep(0.01)
    assert first.take() + second.take() == 0, "nobody serves: it waits"
    first.channel.send(SERVING)
    await asyncio.sleep(0.01)
    assert first.take() == 1
    second.channel.send(SERVING + READY)
    made = await arrive(public, 3)
    assert (first.take(), second.take()) == (1, 3)
    second.close()
    made += await arrive(public, 2)
    assert first.take() == 3
    for one in (early, *made, first):
        one.close()
