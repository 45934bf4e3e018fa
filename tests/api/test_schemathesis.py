"""Requests made out of the OpenAPI document, good and bad ones, against a real node: it answers what it says."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import aiohttp
import msgspec
import pytest

from noonmark.api.server import serve
from noonmark.embedded import EmbeddedPostgres
from noonmark.node.config import NodeConfig
from tests.conftest import TEMPLATE, drop_database, eventually, free_port, new_database

TOKEN = "sesame"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "missing_required_header",
    "unsupported_method",
    "allow_header_conformance",
)
LEFT_OUT = r"/claim$|/follow$"
"""These wait: for work, and for what happens next."""


class _Serving:
    """A node on a thread and loop of its own, as schemathesis is a process that we wait for."""

    def __init__(self, database_url: str) -> None:
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self._config = NodeConfig(database_url=database_url, port=self.port, token=TOKEN, requests_per_s=1e6)
        self._loop = asyncio.new_event_loop()
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        await serve(self._config, self._stop)

    def __enter__(self) -> "_Serving":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)


@pytest.fixture(scope="module")
def address(postgres: EmbeddedPostgres) -> Iterator[str]:
    database_url = asyncio.run(new_database(postgres.url, TEMPLATE))
    with _Serving(database_url) as serving:
        yield serving.address
    asyncio.run(drop_database(postgres.url, database_url))


async def _furnish(address: str) -> str:
    """What the examples of the document speak of, so that they are carried out; returns the id of a run."""
    async with aiohttp.ClientSession(address, headers=HEADERS) as session:

        async def ready() -> bool:
            with suppress(aiohttp.ClientConnectionError):
                async with session.get("/readyz") as answer:
                    return answer.status == 200
            return False

        await eventually(ready)
        await session.put("/v1/tasks", data=b'{"tasks":["report","poll"]}')
        for name in ("nightly-report", "poll"):
            answer = await session.post("/v1/jobs", data=msgspec.json.encode({"name": name, "task": "report"}))
            assert answer.status == 201, await answer.text()
        answer = await session.post("/v1/jobs/poll/trigger")
        return str(msgspec.json.decode(await answer.read())["id"])


@pytest.mark.timeout(180)
def test_the_document_is_kept(address: str, tmp_path: Path) -> None:
    run_id = asyncio.run(_furnish(address))
    config = tmp_path / "schemathesis.toml"
    config.write_text(
        f"""
        [parameters]
        "header.Noonmark-Tenant" = "default"
        "path.ref" = ["poll", "nightly-report"]
        "path.run_id" = "{run_id}"
        "path.version" = "1"
        "path.before" = "1"
        "path.after" = "1"
        "path.name" = "default"
        """
    )
    command = [
        sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "run", f"{address}/v1/openapi.json",
        "--header", f"Authorization: Bearer {TOKEN}", "--exclude-path-regex", LEFT_OUT, "--checks", ",".join(CHECKS),
        "--phases", "examples,coverage,fuzzing", "--max-examples", "10", "--seed", "4", "--continue-on-failure",
        "--request-timeout", "20", "--no-color",
    ]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=170, check=False)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2_000:]
