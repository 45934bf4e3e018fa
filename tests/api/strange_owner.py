"""A node that others believe in, by its row in the database, and that is none: it answers what a test says."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from noonmark.store.connect import Connection, connect
from noonmark.store.ownership import end_node, register_node, take_shards
from tests.api.conftest import RunningNode
from tests.conftest import SHARDS, eventually

_LEASE_S = 60.0


class StrangeOwner:
    def __init__(self, connection: Connection, node: RunningNode, answer: bytes | None) -> None:
        self.address = ""
        self.asked: list[bytes] = []
        """The bodies of what was sent to it."""
        self._connection = connection
        self._node = node
        self._answer = answer
        self._node_id = 0

    async def listen(self) -> asyncio.Server:
        server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        self.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return server

    async def join(self, *, take: bool) -> None:
        """Returns when the other node has made room and, with `take`, knows that the room is taken."""
        self._node_id = await register_node(self._connection, self.address, "0", _LEASE_S)
        share = SHARDS // 2
        await eventually(lambda: self._owned_by(None) == share)
        if take:
            await take_shards(self._connection, self._node_id, share, 0, 0)
            await eventually(lambda: self._owned_by(self.address) == share)

    async def leave(self) -> None:
        await end_node(self._connection, self._node_id)

    def _owned_by(self, address: str | None) -> int:
        return sum(self._node.node.owner_address(shard) == address for shard in range(SHARDS))

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length: ")[2].split(b"\r\n")[0])
        self.asked.append(await reader.readexactly(length))
        if self._answer is not None:
            writer.write(self._answer)
            await writer.drain()
        writer.close()


@asynccontextmanager
async def strange_owner(
    database_url: str, node: RunningNode, answer: bytes | None = None, *, take: bool = True, listening: bool = True
) -> AsyncIterator[StrangeOwner]:
    """Owns half of the shards, or with `take=False` keeps them free; without an answer it hangs up."""
    connection = await connect(database_url)
    owner = StrangeOwner(connection, node, answer)
    server = await owner.listen()
    if not listening:
        server.close()
    await owner.join(take=take)
    try:
        yield owner
    finally:
        server.close()
        await owner.leave()
        await connection.close()


def http(status: str, body: bytes, kind: str = "application/json") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body
