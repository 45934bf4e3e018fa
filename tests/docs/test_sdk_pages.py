"""Every example of docs/sdk.md and docs/testing.md is carried out."""

import ast
import asyncio
import inspect
import re
from typing import Any

import asyncpg
import pytest

from noonmark.client import repeat
from noonmark.testing import Scheduler
from tests.conftest import Engine
from tests.docs.page import ROOT, Page, code

SDK = Page(ROOT / "docs" / "sdk.md")
TESTING = Page(ROOT / "docs" / "testing.md")
_BLOCK = re.compile(r"^```(python(?: sync)?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TYPE_ERROR = re.compile(r"`+(TypeError: .*?) ?`+$")


async def carry_out(text: str, names: dict[str, Any]) -> None:
    compiled = compile(text, str(SDK.path), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    answer = eval(compiled, names)
    if inspect.iscoroutine(answer):
        await answer


async def test_the_sdk_page(engine: Engine) -> None:
    await engine.start_node()
    first, *blocks = _BLOCK.findall(SDK.text)
    assert len(blocks) >= 9
    names: dict[str, Any] = {"__name__": "page", "asyncpg": asyncpg, "database_url": engine.database_url}
    exec(compile(first[1].replace("http://127.0.0.1:7171", engine.address), str(SDK.path), "exec"), names)
    await engine.start_worker(names["app"])
    for kind, text in blocks:
        if kind == "python sync":
            await asyncio.to_thread(exec, compile(text, str(SDK.path), "exec"), names)
        else:
            await carry_out(text, names)
    await names["connection"].close()
    await names["app"].close()
    names["app"].sync.close()


def test_what_is_refused() -> None:
    names: dict[str, Any] = {}
    exec(_BLOCK.findall(SDK.text)[0][1], names)
    rows = SDK.rows("you write", "what is raised")
    assert len(rows) >= 4
    for written, raised in rows:
        found = _TYPE_ERROR.fullmatch(raised)
        assert found is not None
        with pytest.raises(TypeError) as caught:
            eval(code(written), names)
        assert f"TypeError: {caught.value}".startswith(found[1].removesuffix("…"))


def test_the_testing_page() -> None:
    names: dict[str, Any] = {"__name__": "page"}
    blocks = TESTING.blocks("python")
    assert len(blocks) >= 5
    for block in blocks:
        exec(compile(block, str(TESTING.path), "exec"), names)


def test_the_scheduler_has_what_the_page_lists() -> None:
    listed = {name for row in TESTING.rows("call", "what it does") for name in re.findall(r"s\.(\w+)", row[0])}
    public = {name for name in vars(Scheduler) if not name.startswith("_")} - {"is_running", "interrupt"} | {"clock"}
    assert listed == public


def test_the_handle_has_what_the_page_lists() -> None:
    from noonmark import RunHandle

    listed = {name for row in SDK.rows("call", "what it does") for name in re.findall(r"run\.(\w+)", row[0])}
    assert listed == {name for name in vars(RunHandle) if not name.startswith("_")} - {"id"}


def test_how_often_it_is_sent_again() -> None:
    waits = [f"{repeat.BACKOFF_S * 2**n:.1f} s" for n in range(repeat.RETRIES)]
    said = f"Up to {repeat.RETRIES} times, after {', '.join(waits[:-1])} and {waits[-1]}"
    assert said in SDK.prose
    assert f"more than {repeat.MAX_WAIT_S:.0f} s gets its error raised" in SDK.prose
