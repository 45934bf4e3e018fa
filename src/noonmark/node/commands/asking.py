"""Who is asking, from the edge of the API down to the commands.

A command takes `asked_by()` at its entry: the committer that later carries it out is another task, which nobody asks.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from noonmark.model.caller import SYSTEM, Caller

_caller: ContextVar[Caller] = ContextVar("noonmark_caller", default=SYSTEM)


def asked_by() -> Caller:
    """Outside of a request: the system."""
    return _caller.get()


@contextmanager
def asking(caller: Caller) -> Iterator[None]:
    before = _caller.set(caller)
    try:
        yield
    finally:
        _caller.reset(before)
