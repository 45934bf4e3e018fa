"""Accepts connections to the public address and hands each to the process that has the fewest.

A listening socket that the processes share leaves the choice to whichever wakes first, and one for each (SO_REUSEPORT)
leaves it to a hash: of eight connections to two processes, five to eight landed on one (ADR 14). Here the choice is
made: processes that have been ready before those that only serve, then by the number of open connections, then the one
that waited longest. A frozen process takes no more than its share, because it ends none.

While no process serves, connections wait in the listener's queue.
"""

import asyncio
import errno
import socket
from collections.abc import Callable

import structlog

from noonmark.api.handed import CLOSED, READY, SERVING

_BATCH = 64
_PAUSE_S = 0.1
"""Out of descriptors: some will be closed."""

log = structlog.get_logger("noonmark.node")


class Seat:
    """One process, as the door sees it."""

    def __init__(self, number: int, channel: socket.socket) -> None:
        self.number = number
        self.channel = channel
        self.serving = False
        self.ready = False
        self.connections = 0
        self.last_turn = 0


class Door:
    def __init__(self, listener: socket.socket, on_ready: Callable[[int], None]) -> None:
        self._listener = listener
        self._on_ready = on_ready
        self._loop = asyncio.get_running_loop()
        self._seats: dict[int, Seat] = {}
        self._turns = 0
        self._open = False

    def seat(self, number: int) -> socket.socket:
        """For a process that is about to start: its end of the channel."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        self.leave(number)
        self._seats[number] = seat = Seat(number, ours)
        self._loop.add_reader(ours.fileno(), self._hear, seat)
        return theirs

    def leave(self, number: int) -> None:
        seat = self._seats.pop(number, None)
        if seat is not None:
            self._loop.remove_reader(seat.channel.fileno())
            seat.channel.close()
        self._adjust()

    def close(self) -> None:
        """Takes no more connections; those that were handed over stay."""
        for number in list(self._seats):
            self.leave(number)
        if self._listener.fileno() >= 0:
            self._loop.remove_reader(self._listener.fileno())
            self._listener.close()

    def _hear(self, seat: Seat) -> None:
        try:
            words = seat.channel.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            words = b""
        if not words:
            if self._seats.get(seat.number) is seat:
                self.leave(seat.number)
            return
        seat.connections -= words.count(CLOSED)
        seat.serving = seat.serving or SERVING in words
        if READY in words:
            seat.ready = True
            self._on_ready(seat.number)
        self._adjust()

    def _adjust(self) -> None:
        """Open while a process serves."""
        wanted = any(seat.serving for seat in self._seats.values())
        if wanted and not self._open and self._listener.fileno() >= 0:
            self._loop.add_reader(self._listener.fileno(), self._accept)
        elif not wanted and self._open:
            self._loop.remove_reader(self._listener.fileno())
        self._open = wanted

    def _accept(self) -> None:
        for _ in range(_BATCH):
            try:
                connection, _ = self._listener.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                    log.warning("cannot accept", error=error.strerror)
                    self._loop.remove_reader(self._listener.fileno())
                    self._open = False
                    self._loop.call_later(_PAUSE_S, self._adjust)
                    return
                continue  # it was gone before it was accepted
            with connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._hand(connection)

    def _hand(self, connection: socket.socket) -> None:
        serving = [seat for seat in self._seats.values() if seat.serving]
        for seat in sorted(serving, key=lambda one: (not one.ready, one.connections, one.last_turn)):
            try:
                socket.send_fds(seat.channel, [b"n"], [connection.fileno()])
            except OSError:  # it is full, or gone: the next one
                continue
            self._turns += 1
            seat.last_turn = self._turns
            seat.connections += 1
            return
