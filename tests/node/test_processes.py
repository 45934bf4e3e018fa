"""A process of a node with several, in this process: what it takes over from the one that it replaces."""

import asyncio
import os
import socket
import tempfile
from collections.abc import Iterator

import pytest

from noonmark.api.server import Inherited, serve
from noonmark.node.board import Board
from noonmark.node.config import NodeConfig
from noonmark.store.connect import Connection
from noonmark.store.ownership import register_node, take_shards
from tests.conftest import SHARDS, eventually, free_port


@pytest.fixture
def inherited() -> Iterator[Inherited]:
    ours, theirs = socket.socketpair()
    with ours, theirs, tempfile.TemporaryFile() as page:
        yield Inherited(theirs, (os.dup(page.fileno()),))


async def test_a_replacement_ends_the_life_before_it_at_once(
    database_url: str, connection: Connection, inherited: Inherited
) -> None:
    dead = await register_node(connection, "http://dead", "1", 3_600, "http://node", 1)
    assert len(await take_shards(connection, dead, SHARDS, 0, 0)) == SHARDS
    Board(inherited.pages, 1).write("", ready=True, node_id=dead)
    stop = asyncio.Event()
    config = NodeConfig(database_url=database_url, port=free_port(), process=1, public_address="http://node")
    serving = asyncio.create_task(serve(config, stop, inherited))
    owned = (
        "SELECT count(*) = $1 FROM noonmark.shard s JOIN noonmark.node n ON n.node_id = s.owner WHERE n.node_id > $2"
    )
    await eventually(lambda: connection.fetchval(owned, SHARDS, dead), 20)
    row = await connection.fetchrow("SELECT public_address, process FROM noonmark.node WHERE alive")
    assert row is not None
    assert tuple(row) == ("http://node", 1)
    stop.set()
    await asyncio.wait_for(serving, 20)
