"""The names that users build on, and what importing them costs."""

import subprocess
import sys

import noonmark


def test_the_exact_list():
    assert noonmark.__all__ == [
        "App",
        "Client",
        "Misfire",
        "Retry",
        "RunHandle",
        "SyncClient",
        "__version__",
        "at",
        "context",
        "cron",
        "delay",
        "english",
        "every",
        "interval",
        "rrule",
        "solar",
        "submit_in",
        "submit_in_sync",
        "times",
    ]
    assert all(hasattr(noonmark, name) for name in noonmark.__all__)


def test_importing_stays_light():
    code = "import sys, noonmark; print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"aiohttp", "asyncpg", "structlog", "uvicorn", "uvloop"} & set(loaded)
