"""The way of a new user in a real terminal: up, a job, a run that is followed, pause, delete; colours; completion."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from noonmark.embedded import EmbeddedPostgres

NOONMARK = [sys.executable, "-m", "noonmark"]
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("NOONMARK_")},
    "TERM": "xterm-256color",
    "COLUMNS": "160",
    "LINES": "40",
}
ENVIRONMENT.pop("NO_COLOR", None)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
pytestmark = pytest.mark.timeout(240)


class Terminal:
    """A terminal in the folder in which `noonmark up` runs."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self._folder = folder
        self._environment = {**ENVIRONMENT, **environment}

    def start(self, *arguments: str, **environment: str) -> "pexpect.spawn[str]":
        return pexpect.spawn(
            NOONMARK[0], [*NOONMARK[1:], *arguments], cwd=str(self._folder), env={**self._environment, **environment},
            encoding="utf-8", dimensions=(40, 160), timeout=60,
        )  # fmt: skip

    def run(self, *arguments: str, exit_code: int = 0, **environment: str) -> str:
        child = self.start(*arguments, **environment)
        shown = str(child.read())
        child.close()
        assert child.exitstatus == exit_code, shown
        return shown

    def pipe(self, *arguments: str) -> str:
        done = subprocess.run(
            [*NOONMARK, *arguments], cwd=self._folder, env=self._environment, capture_output=True, text=True, check=True
        )
        return done.stdout


@pytest.fixture
def folder(open_folder: Path) -> Iterator[Path]:
    yield open_folder
    server = EmbeddedPostgres(open_folder / ".noonmark")
    server.start()
    server.destroy()


@pytest.fixture
def up(folder: Path) -> Iterator[Terminal]:
    """`noonmark up` in one terminal; another one that has only its address."""
    first = Terminal(folder)
    child = first.start("up", "--port", "0")
    child.expect(r"API\s+(http://\S+)", timeout=120)
    address = child.match.group(1)
    child.expect("hello  succeeded", timeout=60)
    yield Terminal(folder, NOONMARK_SERVER=address)
    child.sendintr()
    child.expect(r"Stopped\. The data is kept\.", timeout=60)
    child.wait()
    child.close()
    assert child.exitstatus == 0


def test_the_way_of_a_new_user(up):
    """The key is found by itself: nothing but the address is given."""
    created = up.run("job", "create", "mine", "--task", "hello", "--every", "1h", "--input", '{"name": "Ada"}')
    assert "every 1h" in created
    assert "\x1b[32mactive" in created

    followed = up.run("job", "trigger", "mine", "--follow")
    assert "succeeded" in followed
    assert "Hello, Ada!" in followed

    listed = up.run("job", "list")
    assert COLOUR.search(listed)
    assert not COLOUR.search(up.run("job", "list", NO_COLOR="1"))
    assert not COLOUR.search(up.pipe("job", "list"))

    watching = up.start("job", "list", "--watch", "0.2")
    watching.expect("mine")
    watching.expect(r"\x1b\[H")  # drawn anew
    watching.expect("mine")
    watching.sendintr()
    watching.expect(pexpect.EOF)
    watching.close()
    assert watching.exitstatus == 0

    assert "Paused mine." in up.run("job", "pause", "mine")
    assert "\x1b[33mpaused" in up.run("job", "show", "mine")

    deleting = up.start("job", "delete", "--prefix", "mine")
    deleting.expect(r"Delete 1 job \(mine\)\?")
    deleting.sendline("n")
    deleting.expect(pexpect.EOF)
    deleting.close()
    assert deleting.exitstatus == 1
    assert "Deleted mine." in up.run("job", "delete", "mine")
    up.run("job", "show", "mine", exit_code=3)

    assert "up-1" in up.run("worker", "list")
    assert "database" in up.run("doctor")
    assert "admin" in up.run("key", "list", "-o", "wide")

    completes(up)


def completes(up: Terminal) -> None:
    """In bash, with the script that `noonmark completion` prints."""
    folder = Path(sys.executable).parent
    shell = pexpect.spawn(
        "bash", ["--norc", "--noprofile"], cwd=str(up._folder), encoding="utf-8", timeout=30,
        env={**up._environment, "PATH": f"{folder}:{os.environ['PATH']}", "PS1": "ready> "},
    )  # fmt: skip
    shell.expect("ready> ")
    shell.sendline('eval "$(noonmark completion bash)" && echo loa""ded')
    shell.expect("loaded")
    shell.send("noonmark job show hel\t")
    shell.expect("show hello")
    shell.sendline("")
    shell.expect("every 5s")
    shell.sendline("exit")
    shell.close()
