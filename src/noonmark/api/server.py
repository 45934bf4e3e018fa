"""A node with its HTTP server, from start to a clean stop; or one of the processes that are a node together."""

import asyncio
import gc
import ipaddress
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import structlog
import uvicorn

from noonmark.api.app import create_app
from noonmark.api.doorway import Doorway
from noonmark.api.handed import READY, HandedConnections
from noonmark.node.board import WRITE_S, Board
from noonmark.node.config import NodeConfig
from noonmark.node.node import Node

log = structlog.get_logger("noonmark.server")


_LOOK_S = 0.05


class Inherited(NamedTuple):
    """The things that one of several processes of a node inherits from its parent."""

    channel: socket.socket
    """Connections to the node's public address come through it."""
    pages: tuple[int, ...]
    """Of the board that the processes share."""


class _Server(uvicorn.Server):
    handed: HandedConnections | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.handed is not None:
            self.handed.open()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the command's business, not uvicorn's: the node hands over before HTTP closes."""
        yield


def _listen(host: str, port: int, *, reserved: bool) -> socket.socket:
    family, kind, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    # asyncio turns Nagle's algorithm off only if the protocol is named.
    listener = socket.socket(family, kind, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if reserved:  # the parent has bound it too, without listening
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind(where)
    listener.listen(1024)
    return listener


def _is_loopback(listener: socket.socket) -> bool:
    return ipaddress.ip_address(listener.getsockname()[0]).is_loopback


async def serve(
    config: NodeConfig,
    stop: asyncio.Event,
    inherited: Inherited | None = None,
    on_node: Callable[[Node], None] = lambda node: None,
) -> None:
    """Runs until `stop` is set, or raises if the node cannot start. `on_node` is given the node before it begins.

    A stop accepts no more connections, lets requests that have begun end, hands the shards over, and closes.
    """
    # The owner holds up to some hundred thousand small objects and makes no cycles of them: with the default thresholds
    # the collector walks them all again and again, and finds nothing.
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    listener = _listen(config.host, config.port, reserved=inherited is not None)
    address = config.advertise or f"http://{config.host}:{listener.getsockname()[1]}"
    node = Node(config, address)
    on_node(node)
    door = Doorway(create_app(node, config.token, config.requests_per_s, loopback=_is_loopback(listener)), node.living)
    server = _Server(
        uvicorn.Config(
            door,
            loop="none",
            http="httptools",
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=3,
        )
    )
    stopping = asyncio.create_task(stop.wait())
    chores: list[asyncio.Task[Any]] = [stopping]
    if inherited is not None:
        node.board = Board(inherited.pages, config.process)
        server.handed = HandedConnections(inherited.channel, server)
        chores.append(asyncio.create_task(_keep_page(node, server.handed)))
    running = asyncio.create_task(node.run())
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    log.info("listening", address=address)
    await asyncio.wait((running, serving, stopping), return_when=asyncio.FIRST_COMPLETED)
    if server.handed is not None:
        server.handed.close()
    for accepting in getattr(server, "servers", ()):
        accepting.close()
    if not running.done():
        await door.close()
    node.stop()
    await asyncio.wait((running,))
    await door.shut()
    server.should_exit = True
    await asyncio.wait((serving,))
    for chore in chores:
        chore.cancel()
    node.write_page()
    running.result()
    serving.result()


async def _keep_page(node: Node, handed: HandedConnections) -> None:
    """The siblings always; the parent once, when the process is ready: it prefers those that have been."""
    announced = False
    while True:
        node.write_page()
        if node.balanced and not announced:
            handed.say(READY)
            announced = True
        await asyncio.sleep(WRITE_S if announced else _LOOK_S)
