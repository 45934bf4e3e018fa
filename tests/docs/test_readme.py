"""The code of the README is carried out, and its commands and those of the operator's page exist."""

import ast
import asyncio
import inspect
import re
import shlex
from typing import Any

import pytest

from noonmark import cron
from noonmark.cli.root import root
from noonmark.testing import Scheduler
from tests.conftest import Engine
from tests.docs.page import ROOT, Page

PAGE = Page(ROOT / "README.md")
SYNC = re.compile(r"^\w+\.sync\..*$", re.MULTILINE)


async def test_the_python(engine: Engine) -> None:
    first, sdk, _ = PAGE.blocks("python")
    names: dict[str, Any] = {"__name__": "readme", "cron": cron, "Scheduler": Scheduler}
    await engine.start_node()
    exec(first.replace("App()", f"App({engine.address!r})"), names)
    await engine.start_worker(names["app"])
    [blocking] = SYNC.findall(sdk)
    answer = eval(compile(SYNC.sub("", sdk), "README.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    assert inspect.iscoroutine(answer)
    await answer
    result = await asyncio.to_thread(eval, blocking.partition("#")[0].strip(), names)
    assert result == "Hello, Grace!"
    assert (await names["app"].jobs.get("mornings")).canonical == "TZ=Europe/Berlin 0 9 * * 1-5"
    await names["app"].close()
    names["app"].sync.close()


def test_the_unit_test_of_a_schedule() -> None:
    first, _, testing = PAGE.blocks("python")
    names: dict[str, Any] = {"__name__": "readme", "cron": cron, "Scheduler": Scheduler}
    exec(first, names)
    exec(testing, names)


@pytest.mark.parametrize(("page", "least"), [("README.md", 12), ("docs/operations.md", 6)])
def test_every_command_exists_with_its_options(page: str, least: int) -> None:
    """The page of the command line carries commands out; here they must at least be understood."""
    import typer.main

    blocks = Page(ROOT / page).blocks("sh")
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("noonmark ")]
    assert len(lines) >= least
    group = typer.main.get_command(root)
    for line in lines:
        words = shlex.split(line.partition("  #")[0])[1:]
        command: Any = group
        while hasattr(command, "commands"):
            named = command.commands.get(words[0])
            command = named or command.commands["start"]  # of `node` and `worker`, the verb may be left out
            words = words[1:] if named else words
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert {word.partition("=")[0] for word in words if word.startswith("--")} <= known, line
