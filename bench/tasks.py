"""The tasks that benchmark workers run."""

import os
import socket
import time

from noonmark import App

app = App()

STAMPS = "NOONMARK_BENCH_STAMPS"
"""Names the Unix datagram socket that `stamp` tells its start to."""

_socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)


@app.task
async def noop() -> None:
    return None


@app.task
async def stamp() -> None:
    """The monotonic clock is one for all processes of a machine, so the caller may subtract its own reading."""
    now_ns = time.monotonic_ns()
    _socket.sendto(str(now_ns).encode(), os.environ[STAMPS])
