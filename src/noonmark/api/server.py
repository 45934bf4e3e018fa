"""A node with its HTTP server, from start to a clean stop."""

import asyncio
import gc
import ipaddress
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
import uvicorn

from noonmark.api.app import create_app
from noonmark.api.doorway import Doorway
from noonmark.node.config import NodeConfig
from noonmark.node.node import Node

log = structlog.get_logger("noonmark.server")


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the command's business, not uvicorn's: the node hands over before HTTP closes."""
        yield


def _listen(host: str, port: int) -> socket.socket:
    family, kind, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    # Naming the protocol is what makes asyncio turn Nagle's algorithm off.
    listener = socket.socket(family, kind, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(where)
    listener.listen(1024)
    return listener


def _is_loopback(listener: socket.socket) -> bool:
    return ipaddress.ip_address(listener.getsockname()[0]).is_loopback


async def serve(config: NodeConfig, stop: asyncio.Event) -> None:
    """Runs until `stop` is set, or raises if the node cannot start.

    A stop accepts no more connections, lets requests that have begun end, hands the shards over, and closes.
    """
    # The owner holds up to some hundred thousand small objects and makes no cycles of them: with the default thresholds
    # the collector walks them all again and again, and finds nothing.
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    listener = _listen(config.host, config.port)
    address = config.advertise or f"http://{config.host}:{listener.getsockname()[1]}"
    node = Node(config, address)
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
    running = asyncio.create_task(node.run())
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    stopping = asyncio.create_task(stop.wait())
    log.info("listening", address=address)
    await asyncio.wait((running, serving, stopping), return_when=asyncio.FIRST_COMPLETED)
    for accepting in getattr(server, "servers", ()):
        accepting.close()
    if not running.done():
        await door.close()
    node.stop()
    await asyncio.wait((running,))
    await door.shut()
    server.should_exit = True
    await asyncio.wait((serving,))
    stopping.cancel()
    running.result()
    serving.result()
