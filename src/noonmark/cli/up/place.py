"""Where it all happens: the data folder that one `noonmark up` holds, and the port that it listens on."""

import errno
import fcntl
import os
import socket
import time
from pathlib import Path
from typing import IO

from noonmark.errors import Conflict

LEFTOVER_WAIT_S = 5.0


class DataDir:
    """Held from `take()` to `release()`; the lock goes with the process, however that ends."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.left_behind = False
        """The one before us was killed: its node may need a moment to go."""
        self._lock: IO[str] | None = None

    def take(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = (self.path / "up.lock").open("a+")
        except OSError as error:
            raise Conflict(
                f"cannot write to {self.path}: {error.strerror}", field="--data-dir", fix="name a folder of your own"
            ) from error
        lock.seek(0)
        holder = lock.read().strip()
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            raise Conflict(
                f"another `noonmark up` already runs on {self.path}" + (f", {holder}" if holder else ""),
                field="--data-dir",
                fix="stop that one, or use --data-dir and --port for a second one",
            ) from None
        self.left_behind = bool(holder)
        self._lock = lock
        self.share(self.path / "up.lock")

    def sign(self, url: str) -> None:
        """Writes our process id, for the message of a process that finds the folder taken."""
        assert self._lock is not None
        self._lock.truncate(0)
        self._lock.write(f"pid {os.getpid()} at {url}\n")
        self._lock.flush()

    def release(self) -> None:
        if self._lock is not None:
            self._lock.truncate(0)
            self._lock.close()
            self._lock = None

    def share(self, file: Path) -> None:
        """As root, leave files to the owner of the folder, who may run without root next time."""
        if os.geteuid() == 0:
            owner = self.path.stat()
            os.chown(file, owner.st_uid, owner.st_gid)


def free_port(host: str, port: int, wait_s: float = 0.0) -> int:
    """The port itself, or any free one for 0; an error that says what to do if it is taken."""
    deadline_s = time.monotonic() + wait_s
    while True:
        try:
            return _bind(host, port)
        except OSError as error:
            if error.errno == errno.EADDRINUSE and time.monotonic() < deadline_s:
                time.sleep(0.1)
                continue
            raise _unusable(host, port, error) from error


def _bind(host: str, port: int) -> int:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(address)
        return int(probe.getsockname()[1])


def _unusable(host: str, port: int, error: OSError) -> Conflict:
    if error.errno == errno.EADDRINUSE:
        return Conflict(
            f"port {port} on {host} is taken by another program",
            field="--port",
            fix=f"stop that program, or choose another port: --port {port + 1 if port < 65535 else 7172}",
        )
    if error.errno == errno.EACCES:
        return Conflict(f"port {port} is not for ordinary users", field="--port", fix="choose one above 1023")
    return Conflict(f"cannot listen on {host}: {error.strerror or error}", field="--host", fix="use 127.0.0.1")


def local_url(host: str, port: int) -> str:
    """The address under which this machine reaches a server that listens on `host`."""
    reached = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{reached}]:{port}" if ":" in reached else f"http://{reached}:{port}"
