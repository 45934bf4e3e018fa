"""A server on a real socket that reads a request whole and then does as it is told, or drops the connection."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

DROP = "drop"
Answer = tuple[int, object, dict[str, str]] | str


class Request(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class DroppingServer:
    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.connections = 0
        self._answers: list[Answer] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def will(self, *answers: Answer) -> None:
        """What it does, in turn; the last one stays."""
        self._answers = list(answers)

    def hang_up(self) -> None:
        """Closes the connections that are idle now."""
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._open = []

    def close(self) -> None:
        self._listener.close()
        self.hang_up()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rwb") as stream:
            for request in _requests(stream):
                self.requests.append(request)
                answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
                if isinstance(answer, str):
                    self._open.remove(connection)
                    return
                status, body, headers = answer
                content = json.dumps(body).encode()
                head = {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}
                lines = [f"HTTP/1.1 {status} .", *(f"{name}: {value}" for name, value in head.items()), "", ""]
                stream.write("\r\n".join(lines).encode() + content)
                stream.flush()


def _requests(stream: "socket.SocketIO") -> Iterator[Request]:  # type: ignore[name-defined]
    while first := stream.readline():
        method, path, _ = first.decode().split(" ", 2)
        headers: dict[str, str] = {}
        while (line := stream.readline().strip()) != b"":
            name, _, value = line.decode().partition(": ")
            headers[name] = value
        yield Request(method, path, headers, stream.read(int(headers.get("Content-Length", "0"))))
