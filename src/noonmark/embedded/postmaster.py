"""The running server as its `postmaster.pid` tells it, checked against the process that really has that pid."""

import socket
import struct
from dataclasses import dataclass
from pathlib import Path

import psutil

_SSL_REQUEST = struct.pack(">ii", 8, 80877103)  # the smallest question that the protocol knows


@dataclass(frozen=True)
class Postmaster:
    pid: int
    port: int
    socket_dir: str
    listen_address: str
    ready: bool

    def answers(self) -> bool:
        """Whether a new connection gets an answer: a server that is dying or frozen still looks ready in its file."""
        try:
            with socket.socket(socket.AF_UNIX) as probe:
                probe.settimeout(1)
                probe.connect(f"{self.socket_dir}/.s.PGSQL.{self.port}")
                probe.sendall(_SSL_REQUEST)
                return len(probe.recv(1)) == 1
        except OSError:
            return False


def pid_file(cluster: Path) -> Path:
    return cluster / "postmaster.pid"


def find_postmaster(cluster: Path) -> Postmaster | None:
    """The live server of this cluster; None when the pid file's process is gone or is another program."""
    try:
        lines = [line.strip() for line in pid_file(cluster).read_text().splitlines()]
        pid = abs(int(lines[0]))
    except (FileNotFoundError, IndexError, ValueError):
        return None
    if not _is_postmaster_of(pid, cluster):
        return None
    lines += [""] * (8 - len(lines))  # the server appends its lines as it learns them
    return Postmaster(
        pid=pid,
        port=int(lines[3] or 0),
        socket_dir=lines[4],
        listen_address=lines[5],
        ready=lines[7] == "ready",
    )


def _is_postmaster_of(pid: int, cluster: Path) -> bool:
    # A postmaster's working directory is its cluster: this tells it from any program that was given its old pid.
    try:
        process = psutil.Process(pid)
        try:
            return Path(process.cwd()) == cluster.resolve()
        except psutil.AccessDenied:
            return process.name().startswith("postgres")
    except psutil.NoSuchProcess:  # a zombie counts as gone
        return False
