"""The first screen of the README is carried out, and its commands and those of the operator's page exist."""

import asyncio
import shlex
from typing import Any

import pytest

from noonmark.cli.root import root
from tests.cli.conftest import Noonmark
from tests.conftest import Engine
from tests.docs.page import ROOT, Page, codes

PAGE = Page(ROOT / "README.md")


async def test_the_first_screen(engine: Engine, noonmark: Noonmark) -> None:
    [tasks] = PAGE.blocks("python")
    [_make, commands] = PAGE.blocks("sh")
    names: dict[str, Any] = {"__name__": "readme"}
    await engine.start_node()
    exec(tasks.replace("App()", f"App({engine.address!r})"), names)
    worker, *others = [shlex.split(line, comments=True) for line in commands.splitlines()]
    assert worker == ["noonmark", "worker", "tasks:app"]
    await engine.start_worker(names["app"])
    said = ""
    for words in others:
        result = await asyncio.to_thread(noonmark, *words[1:], NOONMARK_SERVER=engine.address)
        assert result.exit_code == 0, result.output
        said += result.stdout
    for expected in ("At 09:30 on weekdays (Europe/Berlin)", "Hello, Ada!", "the task returned"):
        assert expected in said
    await names["app"].close()


def test_the_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    made = [line.split()[1] for line in PAGE.blocks("sh")[0].splitlines()]
    assert made == ["up", "test"]
    assert all(f"\n{target}: " in makefile for target in made)


@pytest.mark.parametrize(("page", "least"), [("README.md", 9), ("docs/operations.md", 6)])
def test_every_command_exists_with_its_options(page: str, least: int) -> None:
    """The page of the command line carries commands out; here they must at least be understood."""
    import typer.main

    written = Page(ROOT / page)
    lines = [line for block in written.blocks("sh") for line in block.splitlines()]
    lines += [text for table in written.tables for row in table.rows for cell in row for text in codes(cell)]
    commands = [line for line in lines if line.startswith("noonmark ") and line != "noonmark up"]
    assert len(commands) >= least
    group = typer.main.get_command(root)
    for line in commands:
        words = shlex.split(line.partition("  #")[0])[1:]
        command: Any = group
        while hasattr(command, "commands"):
            named = command.commands.get(words[0])
            command = named or command.commands["start"]  # of `node` and `worker`, the verb may be left out
            words = words[1:] if named else words
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert {word.partition("=")[0] for word in words if word.startswith("--")} <= known, line
