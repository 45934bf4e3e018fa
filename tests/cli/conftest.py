"""The command line in this process, alone or with a server; a folder that the database's account can enter."""

import asyncio
import logging
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
import structlog
from typer.testing import CliRunner, Result

from noonmark.cli.root import root
from noonmark.client import Client
from noonmark.embedded import EmbeddedPostgres
from noonmark.errors import NoonmarkError
from tests.conftest import TEMPLATE, eventually, free_port, new_database

TOKEN = "the-token-of-these-tests"
ROOT = Path(__file__).parents[2]


class Noonmark:
    """The command line in this process, for what needs no server."""

    def __call__(self, *arguments: str, stdin: str | None = None, **environment: str) -> Result:
        return CliRunner().invoke(root, arguments, input=stdin, env={"COLUMNS": "200", **environment})

    def refuses(self, *arguments: str, exit_code: int = 2) -> str:
        """What it says on stderr."""
        result = self(*arguments)
        assert result.exit_code == exit_code, result.output
        assert not result.stdout
        assert "Traceback" not in result.stderr
        return result.stderr


@pytest.fixture
def noonmark(monkeypatch: pytest.MonkeyPatch) -> Iterator[Noonmark]:
    for name in ("SERVER", "TOKEN", "TENANT", "DATABASE_URL", "DATA_DIR"):
        monkeypatch.delenv(f"NOONMARK_{name}", raising=False)
    handlers, level = logging.root.handlers[:], logging.root.level
    # A node in this process must not write its log among the answers of a command.
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    yield Noonmark()
    logging.captureWarnings(False)
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)
    structlog.reset_defaults()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="noonmark-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


class Server:
    """A node and a worker as processes, for all tests that talk to one; each test has its own tenant."""

    def __init__(self, database_url: str) -> None:
        port = free_port()
        self.address = f"http://127.0.0.1:{port}"
        node = ("node", "--port", str(port), "--database-url", database_url, "--processes", "2")
        worker = ("worker", "--server", self.address, "tests.cli.tasks:app")
        self._processes = [self._start(*node), self._start(*worker)]

    def _start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, "-m", "noonmark", *arguments, "--token", TOKEN, "--log-level", "error"], cwd=ROOT
        )

    async def settled(self) -> None:
        async def works() -> bool:
            assert all(process.poll() is None for process in self._processes)
            with suppress(NoonmarkError):
                async with Client(self.address, TOKEN) as client:
                    return bool(await client.workers()) and all(shard["owner"] for shard in await client.shards())
            return False

        await eventually(works, 60, 0.1)

    def stop(self) -> None:
        for process in reversed(self._processes):
            process.terminate()
            process.wait(60)


class Served:
    """The command line against the server, in a tenant that is this test's alone."""

    def __init__(self, noonmark: Noonmark, server: Server) -> None:
        self.address = server.address
        self.tenant = f"test-{uuid.uuid4().hex[:12]}"
        self.environment = {
            "NOONMARK_SERVER": self.address, "NOONMARK_TENANT": self.tenant, "NOONMARK_TOKEN": TOKEN,
        }  # fmt: skip
        self._noonmark = noonmark

    async def __call__(
        self, *arguments: str, exit_code: int = 0, input: str | None = None, **environment: str
    ) -> Result:
        where = self.environment
        result = await asyncio.to_thread(self._noonmark, *arguments, stdin=input, **where, **environment)
        assert result.exit_code == exit_code, result.output
        assert "Traceback" not in result.stderr
        return result

    async def json(self, *arguments: str, exit_code: int = 0) -> Any:
        return msgspec.json.decode((await self(*arguments, "-o", "json", exit_code=exit_code)).stdout)


@pytest.fixture(scope="session")
def server(postgres: EmbeddedPostgres) -> Iterator[Server]:
    server = Server(asyncio.run(new_database(postgres.url, TEMPLATE)))
    try:
        asyncio.run(server.settled())
        yield server
    finally:
        server.stop()


@pytest.fixture
async def served(noonmark: Noonmark, server: Server) -> Served:
    served = Served(noonmark, server)
    async with Client(server.address, TOKEN) as client:
        await client.create_tenant(served.tenant)
    return served
