"""What the workers of the process tests run: every execution is counted in a file, outside of Noonmark."""

import asyncio
import os

from noonmark import App, context

app = App()
_COUNTED = os.open(os.environ.get("NOONMARK_CHAOS_FILE", os.devnull), os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def count() -> None:
    attempt = context()
    os.write(_COUNTED, f"{attempt.run_id} {attempt.attempt} {os.getpid()} {attempt.task_name}\n".encode())


@app.task
async def work() -> None:
    count()


@app.task
async def flaky() -> None:
    count()
    if context().attempt == 1:
        raise OSError("the first attempt fails")


@app.task
async def stay() -> None:
    """Every attempt takes longer than any test."""
    count()
    await asyncio.sleep(3600)


@app.task
async def linger(seconds: float) -> None:
    """Only the first attempt takes long."""
    count()
    if context().attempt == 1:
        await asyncio.sleep(seconds)
