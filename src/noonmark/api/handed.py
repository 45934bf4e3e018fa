"""Connections to a node's public address, as one of its several processes gets them: accepted and handed on.

The parent accepts, because only it can spread a few long-lived connections evenly. It sends each one's descriptor
through a channel (a pair of Unix sockets); from then on nothing of the connection passes through the parent. Back come
single bytes: that the process serves, that it is ready, and each end of a connection. See `noonmark.cli.processes`.
"""

import asyncio
import socket
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    import uvicorn

SERVING, READY, CLOSED = b"s", b"r", b"c"
_BATCH = 64


class HandedConnections:
    def __init__(self, channel: socket.socket, server: "uvicorn.Server") -> None:
        self._channel = channel
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._opening: set[asyncio.Task[Any]] = set()
        channel.setblocking(False)

    def open(self) -> None:
        """Call it when the server has started."""
        self._loop.add_reader(self._channel.fileno(), self._receive)
        self.say(SERVING)

    def close(self) -> None:
        """No more of them; those that are open stay."""
        if self._channel.fileno() >= 0:
            self._loop.remove_reader(self._channel.fileno())
            self._receive()  # what was handed over before the parent knew
            self._channel.close()

    def say(self, word: bytes) -> None:
        try:
            self._channel.send(word)
        except OSError:
            return  # the parent is gone, which is told by the lifeline; or we have closed the channel

    def _receive(self) -> None:
        while True:
            try:
                words, descriptors, _, _ = socket.recv_fds(self._channel, _BATCH, _BATCH)
            except OSError:  # nothing there; or the parent is gone
                return
            for descriptor in descriptors:
                connection = socket.socket(fileno=descriptor)
                task = self._loop.create_task(self._loop.connect_accepted_socket(self._protocol, connection))
                self._opening.add(task)
                task.add_done_callback(self._opened)
            if not words:
                self._loop.remove_reader(self._channel.fileno())
                return

    def _opened(self, task: "asyncio.Task[Any]") -> None:
        self._opening.discard(task)
        if task.cancelled() or task.exception() is not None:
            self.say(CLOSED)  # it was gone before it began

    def _protocol(self) -> "_Protocol":
        server = self._server
        protocol = _Protocol(config=server.config, server_state=server.server_state, app_state=server.lifespan.state)
        protocol.handed = self
        return protocol


class _Protocol(HttpToolsProtocol):
    handed: HandedConnections

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.handed.say(CLOSED)
