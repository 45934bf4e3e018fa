"""One row of the table of endpoints."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from noonmark.api.access.roles import Need

WORKERS = "/v1/worker/"
"""The paths of the worker protocol: not counted, not repeated, and spoken in MessagePack too."""

NODES = "/v1/node/"
"""The paths that nodes send each other commands by: signed, and not counted."""

Handler = Callable[..., Awaitable[Any]]


class Endpoint(NamedTuple):
    method: str
    path: str
    """`{name}` is a parameter of the handler. A literal part goes before a parameter."""
    need: Need
    handler: Handler
    """Its signature says the rest: parameters of the path, the query and headers; `data` is the body."""
    status: int = 200
    also: int | None = None
    """Another status that the same answer may have."""
    name: str = ""
    """In the document; without it, that of the handler."""
    waits: bool = False
    """Is given up when the caller hangs up."""

    @property
    def is_packed(self) -> bool:
        """Takes and answers MessagePack as well as JSON."""
        return self.path.startswith(WORKERS)

    @property
    def operation(self) -> str:
        return self.name or str(getattr(self.handler, "__name__", ""))
