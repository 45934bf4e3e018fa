"""Tasks in every mode; at module level, so that child processes find them."""

import asyncio
import os
import signal
import sys
import threading
import time
from contextvars import ContextVar
from pathlib import Path

import noonmark

HOLD_BOOT = "NOONMARK_TEST_HOLD_BOOT"
"""While this names a folder that exists, a child process that imports the tasks does not get any further."""

while HOLD_BOOT in os.environ and Path(os.environ[HOLD_BOOT]).is_dir():
    time.sleep(0.01)

app = noonmark.App("http://127.0.0.1:1")

started = threading.Event()
"""Set by tasks that then wait to be stopped."""
release = threading.Event()
seen: list[str] = []


def _facts() -> dict[str, object]:
    here = noonmark.context()
    return {
        "run": here.run_id,
        "job": here.job_id,
        "key": here.idempotency_key,
        "attempt": here.attempt,
        "nominal": here.nominal_at.isoformat(),
        "due_us": here.due_us,
    }


@app.task
async def facts_async() -> dict[str, object]:
    async with asyncio.timeout(5):  # needs a current task from the first step
        facts = _facts()
        await asyncio.sleep(0)
        return facts


@app.task
def facts_thread() -> dict[str, object]:
    return _facts()


@app.task(mode="process")
def facts_process() -> dict[str, object]:
    return _facts() | {"pid": os.getpid()}


@app.task(mode="process")
async def facts_async_process() -> dict[str, object]:
    await asyncio.sleep(0)
    return _facts()


@app.task
async def add(left: int, right: int = 10) -> int:
    return left + right


@app.task
def subtract(left: int, right: int) -> int:
    return left - right


class TooMuchError(ValueError):
    pass


@app.task
async def raises_async() -> None:
    raise TooMuchError("far too much")


@app.task
def raises_thread() -> None:
    raise TooMuchError("far too much")


@app.task(mode="process")
def raises_process() -> None:
    raise TooMuchError("far too much")


@app.task
async def exits_async() -> None:
    sys.exit(3)


@app.task
def exits_thread() -> None:
    raise KeyboardInterrupt


@app.task(mode="process")
def exits_process() -> None:
    sys.exit(3)


@app.task(mode="process")
def dies_process() -> None:
    os._exit(7)


@app.task(mode="process")
def is_killed_process() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@app.task
async def out_of_memory() -> None:
    raise MemoryError


@app.task
async def waits_async() -> None:
    started.set()
    await asyncio.sleep(3600)


@app.task
async def swallows_cancel() -> None:
    while not release.is_set():
        try:
            await asyncio.sleep(0.05)
        except asyncio.CancelledError:
            seen.append("swallowed")


@app.task
def waits_thread() -> None:
    started.set()
    release.wait(60)


@app.task
def heeds_cancel() -> str | None:
    started.set()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if noonmark.context().cancelled:
            return None
        release.wait(0.01)
    return "never cancelled"


@app.task(mode="process")
def waits_process() -> None:
    time.sleep(3600)


@app.task
async def until_released() -> str:
    started.set()
    await asyncio.to_thread(release.wait, 60)
    return "done"


@app.task
async def large() -> str:
    return "x" * 70_000


@app.task
async def not_json() -> object:
    return object()


@app.task
async def spins() -> None:
    while True:
        pass


leaked: ContextVar[str] = ContextVar("leaked", default="clean")


@app.task
async def leaks() -> str:
    before = leaked.get()
    leaked.set("dirty")
    return before


@app.task
async def nothing() -> None:
    pass
