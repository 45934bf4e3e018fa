"""The same as `transport`, over blocking sockets: it needs no event loop, and any number of threads may share it.

Idle connections are kept for the next call. One that the server closed meanwhile is noticed before it is used, and none
crosses a fork: a web server that forks its workers after the import gives each of them connections of its own.
"""

import os
import select
import threading
from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import msgspec

from noonmark import errors
from noonmark.client.agent import SDK
from noonmark.client.repeat import Repetition, no_answer
from noonmark.client.transport import CONNECT_S, Query, query_pairs, request_headers
from noonmark.clock import monotonic_s, stand_still
from noonmark.wire.problems import error_of

if TYPE_CHECKING:
    import http.client
    import ssl

IDLE_CONNECTIONS = 32


class SyncTransport:
    def __init__(
        self, server: str, token: str | None, tenant: str | None, timeout_s: float = 30.0, agent: str = SDK
    ) -> None:
        self.server = server.rstrip("/")
        self._headers = request_headers(server, token, tenant, agent)
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []
        self._process = os.getpid()
        self._certificates: ssl.SSLContext | None = None

    def call(
        self,
        method: str,
        path: str,
        *,
        body: Any = msgspec.UNSET,
        query: Query | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        payload = None if body is msgspec.UNSET else msgspec.json.encode(body)
        target = _target(path, query)
        repetition = Repetition(method, headers)
        while True:
            try:
                return self._once(method, target, payload, repetition.headers)
            except errors.NoonmarkError as error:
                if repetition.done_before(error):
                    return b""
                self.sleep(repetition.wait_s(error))

    def lines(self, path: str, query: Query | None, until_s: float | None) -> Generator[bytes]:
        """The lines of an answer that goes on, as they come; TimeoutError at a time of the monotonic clock."""
        import http.client

        connection = self._connect()
        try:
            answer = self._ask(connection, "GET", _target(path, query), None, {"Accept": "text/event-stream"})
            if answer.status >= 400:
                raise error_of(answer.status, answer.read(), answer.headers.get("Retry-After"))
            stream = answer.fp.raw._sock  # type: ignore[attr-defined]
            while True:
                stream.settimeout(None if until_s is None else max(0.001, until_s - monotonic_s()))
                line = answer.readline()
                if not line:
                    return
                yield line
        except TimeoutError:
            if until_s is not None and monotonic_s() >= until_s:
                raise
            raise no_answer(self.server, TimeoutError("timed out"), "GET", connected=True) from None
        except (http.client.HTTPException, OSError) as error:
            raise no_answer(self.server, error, "GET", connected=True) from error
        finally:
            connection.close()

    def sleep(self, seconds: float) -> None:
        stand_still(seconds)

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _once(self, method: str, target: str, payload: bytes | None, headers: Mapping[str, str]) -> bytes:
        import http.client

        connection = self._take()
        connected = False
        try:
            self._reach(connection)
            connected = True
            answer = self._ask(connection, method, target, payload, headers)
            content = answer.read()
        except (http.client.HTTPException, OSError) as error:
            connection.close()
            raise no_answer(self.server, error, method, connected=connected) from error
        except BaseException:
            connection.close()
            raise
        self._give_back(connection, keep=not answer.will_close)
        if answer.status < 400:
            return content
        raise error_of(answer.status, content, answer.headers.get("Retry-After"))

    def _reach(self, connection: "http.client.HTTPConnection") -> None:
        if connection.sock is None:
            connection.timeout = CONNECT_S
            connection.connect()

    def _ask(
        self,
        connection: "http.client.HTTPConnection",
        method: str,
        target: str,
        payload: bytes | None,
        headers: Mapping[str, str],
    ) -> "http.client.HTTPResponse":
        self._reach(connection)
        connection.sock.settimeout(self._timeout_s)
        connection.request(method, target, payload, {**self._headers, **headers})
        return connection.getresponse()

    def _take(self) -> "http.client.HTTPConnection":
        with self._lock:
            if self._process != os.getpid():
                # The sockets belong to the process that made this one: to close them here would end them there.
                self._process, self._idle = os.getpid(), []
            while self._idle:
                connection = self._idle.pop()
                if connection.sock is not None and not _has_news(connection.sock.fileno()):
                    return connection
                connection.close()
        return self._connect()

    def _give_back(self, connection: "http.client.HTTPConnection", *, keep: bool) -> None:
        with self._lock:
            if keep and len(self._idle) < IDLE_CONNECTIONS and self._process == os.getpid():
                self._idle.append(connection)
                return
        connection.close()

    def _connect(self) -> "http.client.HTTPConnection":
        import http.client
        import ssl

        place = urlsplit(self.server)
        if place.hostname is None:
            raise errors.InvalidInput("server", f"{self.server!r} is not an address", "write http://host:port")
        if place.scheme == "https":
            if self._certificates is None:
                self._certificates = ssl.create_default_context()
            return http.client.HTTPSConnection(place.hostname, place.port, context=self._certificates)
        return http.client.HTTPConnection(place.hostname, place.port)


def _has_news(file_number: int) -> bool:
    """An idle connection has nothing to say, unless the server closed it."""
    poll = select.poll()
    poll.register(file_number, select.POLLIN)
    return bool(poll.poll(0))


def _target(path: str, query: Query | None) -> str:
    pairs = query_pairs(query)
    return f"{path}?{urlencode(pairs)}" if pairs else path
