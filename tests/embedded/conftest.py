"""A data directory that the server's account can reach, also when the tests run as root."""

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from noonmark.embedded import EmbeddedPostgres

Query = Callable[[str, str], Any]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Unlike tmp_path, a folder that every account may enter."""
    folder = Path(tempfile.mkdtemp(prefix="noonmark-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def server(open_folder: Path) -> Iterator[EmbeddedPostgres]:
    """Not started yet; destroyed afterwards, whatever the test did with it."""
    data_dir = open_folder / "data"
    data_dir.mkdir()
    data_dir.chmod(0o755)  # whatever the umask is
    server = EmbeddedPostgres(data_dir)
    yield server
    server.start()
    server.destroy()


@pytest.fixture
def query() -> Query:
    """Run one statement on a connection of its own and return its first value."""

    async def run(url: str, statement: str) -> Any:
        connection = await asyncpg.connect(url, timeout=10)
        try:
            return await connection.fetchval(statement)
        finally:
            await connection.close()

    return lambda url, statement: asyncio.run(run(url, statement))
