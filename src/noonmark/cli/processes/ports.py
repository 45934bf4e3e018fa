"""The addresses of a node: the public one that the parent listens on, and one for each process."""

import errno
import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

from noonmark.errors import Conflict, InvalidInput

_MAX_PORT = 65535


def parse_ports(text: str | None, processes: int) -> list[int]:
    """`7172-7179`, or 7172,7174: at least one for each process; without any, zeros: whatever is free."""
    if text is None:
        return [0] * processes
    found: list[int] = []
    try:
        for part in text.split(","):
            first, dash, last = part.partition("-")
            found += range(int(first), int(last if dash else first) + 1)
    except ValueError:
        found = []
    if not found or min(found) < 1 or max(found) > _MAX_PORT:
        raise InvalidInput("--process-ports", f"{text!r} are no ports", "write them as 7172-7179")
    if len(found) < processes:
        raise InvalidInput(
            "--process-ports", f"{len(found)} ports for {processes} processes", "name more ports, or set --processes"
        )
    return found[:processes]


def listen(host: str, port: int) -> socket.socket:
    """The public listener."""
    listener, where = _socket(host, port)
    try:
        listener.bind(where)
    except OSError as error:
        raise _unusable("--port", host, port, error) from error
    listener.listen(1024)
    listener.setblocking(False)
    return listener


def reserve(host: str, ports: Sequence[int]) -> list[socket.socket]:
    """Bound without listening: nobody else gets them, and a process that is not there refuses connections at once."""
    return [_reserve(host, port) for port in ports]


def _reserve(host: str, port: int) -> socket.socket:
    if port:
        # Whoever has it may share ports as well, and then binding it once more would work: ask for it alone first.
        alone, where = _socket(host, port)
        with alone:
            try:
                alone.bind(where)
            except OSError as error:
                raise _unusable("--process-ports", host, port, error) from error
    reserved, where = _socket(host, port, shared=True)
    reserved.bind(where)
    return reserved


def port_of(bound: socket.socket) -> int:
    return int(bound.getsockname()[1])


def own_address(host: str, port: int, advertise: str | None) -> str:
    """Of a process: the host of the node's address, on a port of its own."""
    scheme, name = "http", host
    if advertise is not None:
        parts = urlsplit(advertise)
        scheme, name = parts.scheme or "http", parts.hostname or host
    return f"{scheme}://[{name}]:{port}" if ":" in name else f"{scheme}://{name}:{port}"


def _socket(host: str, port: int, *, shared: bool = False) -> tuple[socket.socket, tuple[object, ...]]:
    family, kind, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    made = socket.socket(family, kind, socket.IPPROTO_TCP)
    # Not both: two sockets of which none listens could have one address by SO_REUSEADDR alone.
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT if shared else socket.SO_REUSEADDR, 1)
    return made, where


def _unusable(option: str, host: str, port: int, error: OSError) -> Conflict:
    if error.errno == errno.EADDRINUSE:
        return Conflict(f"port {port} on {host} is taken by another program", field=option, fix="choose another")
    return Conflict(f"cannot listen on {host}, port {port}: {error.strerror or error}", field=option)
