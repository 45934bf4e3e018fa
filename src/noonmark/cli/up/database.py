"""The embedded PostgreSQL, kept running; or another one, left alone."""

import asyncio
import contextlib
from pathlib import Path

import psutil

from noonmark.cli.child import Say
from noonmark.cli.node import reach_database
from noonmark.embedded import EmbeddedPostgres, EmbeddedPostgresError

LOOK_S = 1.0


class Database:
    def __init__(self, data_dir: Path, url: str | None) -> None:
        self._server = EmbeddedPostgres(data_dir) if url is None else None
        self._url = url

    @property
    def embedded(self) -> bool:
        return self._server is not None

    def start(self) -> str:
        """Its address. Raises if it cannot be started, or reached."""
        if self._url is None:
            assert self._server is not None
            return self._server.start()
        asyncio.run(reach_database(self._url, patient=False))
        return self._url

    def stop(self) -> None:
        """A signal meanwhile (KeyboardInterrupt) stops it the fast way, which costs it a recovery at the next start."""
        if self._server is None:
            return
        try:
            self._server.stop()
        except KeyboardInterrupt:
            self._server.stop("immediate")

    async def keep(self, stop: asyncio.Event, say: Say) -> None:
        """Starts the server again if it ended; the node finds it by itself."""
        while self._server is not None and not stop.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), LOOK_S)
            if stop.is_set() or _lives(self._server.pid):
                continue
            say("PostgreSQL ended; starting it again.")
            try:
                await asyncio.to_thread(self._server.start)
                say("PostgreSQL is back.")
            except EmbeddedPostgresError as error:
                say(f"PostgreSQL could not be started: {error.message}")


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
