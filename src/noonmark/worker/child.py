"""The inside of a child process: one run at a time, read from a pipe and answered on it.

The child never outlives the worker: a thread waits on a lifeline and ends the process at once when that closes.
"""

import asyncio
import contextlib
import importlib
import inspect
import os
import signal
import threading
from multiprocessing.connection import Connection
from typing import Any

import msgspec

from noonmark.client.current import CURRENT, Context
from noonmark.worker.invoke import BadInput, Ending, call, failed, succeeded

READY = b"ready"


class Order(msgspec.Struct, frozen=True, array_like=True):
    module: str
    qualname: str
    task_name: str
    job: int
    nominal_us: int
    attempt: int
    due_us: int
    max_attempts: int
    input: str | None


def serve(pipe: Connection, lifeline: Connection, modules: list[str]) -> None:
    # Ctrl-C and SIGTERM reach the whole group; the worker decides about the run. Not SIG_IGN, which the
    # task's own subprocesses would inherit.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: None)
    threading.Thread(target=_follow, args=(lifeline,), name="noonmark-lifeline", daemon=True).start()
    for module in modules:
        with contextlib.suppress(BaseException):  # it is raised again, and reported, when a run needs the module
            importlib.import_module(module)
    pipe.send_bytes(READY)
    orders = msgspec.msgpack.Decoder(Order)
    while True:
        try:
            order = orders.decode(pipe.recv_bytes())
        except EOFError:
            return
        pipe.send_bytes(msgspec.msgpack.encode(_carry_out(order)))


def _follow(lifeline: Connection) -> None:
    with contextlib.suppress(EOFError, OSError):
        lifeline.recv_bytes()
    os._exit(1)


def _carry_out(order: Order) -> Ending:
    CURRENT.set(Context(order.task_name, order.job, order.nominal_us, order.attempt, order.due_us, order.max_attempts))
    try:
        found = _find(order)
        value = call(getattr(found, "function", found), order.input, getattr(found, "convert", None))
        if inspect.iscoroutine(value):
            value = asyncio.run(value)
    except BaseException as error:
        return failed(error, own_frames=2)
    return succeeded(value)


def _find(order: Order) -> Any:
    found: Any = importlib.import_module(order.module)
    try:
        for part in order.qualname.split("."):
            found = getattr(found, part)
    except AttributeError:
        raise BadInput(
            f"{order.module}.{order.qualname} cannot be found in a child process: define process tasks at module level"
        ) from None
    return found
