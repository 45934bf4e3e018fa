"""The examples for web frameworks against a real node: a request submits, a worker runs, a request reads the result."""

import asyncio
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import httpx
import pytest

from tests.conftest import Engine

EXAMPLES = Path(__file__).parents[2] / "examples"
Load = Callable[[str], ModuleType]


@pytest.fixture
def load(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """Imports an example as `noonmark worker` would, with the node's address in the environment."""
    loaded: list[str] = []

    def one(name: str) -> ModuleType:
        monkeypatch.setenv("NOONMARK_SERVER", engine.address)
        spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        loaded.append(name)
        spec.loader.exec_module(module)
        return module

    yield one
    for name in loaded:
        del sys.modules[name]


async def test_fastapi(engine, load):
    await engine.start_node()
    example = load("fastapi_app")
    await engine.start_worker(example.app)
    async with (
        example.web.router.lifespan_context(example.web),
        httpx.AsyncClient(transport=httpx.ASGITransport(example.web), base_url="http://web") as browser,
    ):
        submitted = await browser.post("/greetings", params={"name": "Ada"})
        assert submitted.status_code == 202
        read = await browser.get(f"/greetings/{submitted.json()['run']}", timeout=20)
        assert read.json() == {"greeting": "Hello, Ada!"}


@pytest.mark.parametrize(("name", "method"), [("flask_app", "POST"), ("django_app", "GET")])
async def test_wsgi(engine, load, name, method):
    """As a WSGI server calls it: on a thread without an event loop."""
    await engine.start_node()
    example = load(name)
    await engine.start_worker(example.app)

    def visit() -> object:
        transport = httpx.WSGITransport(example.web)
        with httpx.Client(transport=transport, base_url="http://web", timeout=20) as browser:
            submitted = browser.request(method, "/greetings", params={"name": "Ada"})
            assert submitted.status_code == 202
            return browser.get(f"/greetings/{submitted.json()['run']}").json()

    assert await asyncio.to_thread(visit) == {"greeting": "Hello, Ada!"}
    example.app.sync.close()
