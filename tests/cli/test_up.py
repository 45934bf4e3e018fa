"""`noonmark up` as its user has it: a process in a terminal, its output, Ctrl-C, and what is left afterwards."""

import json
import os
import queue
import re
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from noonmark.embedded import EmbeddedPostgres

NOONMARK = [sys.executable, "-m", "noonmark"]
RAN = r"\d\d:\d\d:\d\d  hello  succeeded in \d+ [mµ]s, started .+ after due"
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("NOONMARK_")}

pytestmark = pytest.mark.timeout(240)


class Up:
    """A running `noonmark up`; `until` waits for a line of its output."""

    def __init__(self, data_dir: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            [*NOONMARK, "up", "--data-dir", str(data_dir), "--port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**ENVIRONMENT, "PYTHONUNBUFFERED": "1"},
            start_new_session=True,
        )
        self.said: list[str] = []
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.url = ""

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def until(self, pattern: str, within_s: float = 60) -> re.Match[str]:
        while (line := self._lines.get(timeout=within_s)) is not None:
            self.said.append(line)
            if found := re.search(pattern, line):
                return found
        raise AssertionError(f"it ended without saying {pattern!r}:\n{''.join(self.said)}")

    def ready(self) -> "Up":
        self.url = self.until(r"API +(http://\S+)").group(1)
        return self

    def family(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def child(self, noun: str) -> psutil.Process:
        return next(child for child in self.family() if child.cmdline()[3:5] == ["noonmark", noun])

    def processes(self) -> list[psutil.Process]:
        """Those of the node."""
        return [child for child in self.family() if child.cmdline()[3:6] == ["noonmark", "node", "start"]]

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        """Ctrl-C, and everything that it started is gone."""
        family = self.family()
        assert len(family) >= 2  # an adopted PostgreSQL is nobody's child
        self.process.send_signal(number)
        assert self.process.wait(60) == 0, "".join(self.said)
        assert psutil.wait_procs(family, timeout=1)[1] == []


def ask(server: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [*NOONMARK, *arguments, "--server", server]
    return subprocess.run(command, capture_output=True, text=True, env={**ENVIRONMENT, **environment}, check=False)


@pytest.fixture(autouse=True)
def finds_the_key(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As whoever starts it finds it in the folder."""
    monkeypatch.setitem(ENVIRONMENT, "NOONMARK_DATA_DIR", str(data_dir))


@pytest.fixture
def data_dir(open_folder: Path) -> Iterator[Path]:
    folder = open_folder / "data"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    yield folder
    server = EmbeddedPostgres(folder)
    server.start()
    server.destroy()


@pytest.fixture
def up(data_dir: Path) -> Iterator[type[Up]]:
    """Starts one on the data folder; whatever the test left running is killed."""
    started: list[Up] = []

    class Started(Up):
        def __init__(self, *options: str) -> None:
            started.append(self)
            super().__init__(data_dir, *options)

    yield Started
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()  # its lock goes with it


def test_the_first_minute_of_a_user(up, data_dir):
    first = up("--processes", "2").ready()
    first.until(RAN)

    listed = ask(first.url, "job", "list")
    assert re.search(r"^hello +active +every 5s +hello", listed.stdout, re.MULTILINE), listed
    job = json.loads(ask(first.url, "job", "show", "hello", "-o", "json").stdout)
    assert job["name"] == "hello"
    assert "succeeded" in ask(first.url, "job", "runs", "hello").stdout
    run_id = ask(first.url, "job", "trigger", "hello", "--input", '{"name": "Ada"}').stdout.strip()
    first.until(RAN)
    assert "Hello, Ada!" in ask(first.url, "run", "show", run_id).stdout
    assert "up-1" in ask(first.url, "worker", "list").stdout
    assert re.search(rf"^{first.url} +2 +alive +512 ", ask(first.url, "node", "list").stdout, re.MULTILINE)
    assert len(json.loads(ask(first.url, "node", "shards", "-o", "json").stdout)) == 512
    assert ask(first.url, "job", "show", "nobody").returncode == 3
    assert ask(first.url, "job", "create", "hello", "--task", "hello").returncode == 4
    unknown = ask(first.url, "job", "create", "x", "--task", "nowhere")
    assert unknown.returncode == 2
    assert unknown.stderr.startswith("error: task: ")

    port = first.url.rpartition(":")[2]
    same_folder = subprocess.run([*NOONMARK, "up", "--data-dir", str(data_dir)], capture_output=True, text=True)
    assert same_folder.returncode == 4
    assert first.url in same_folder.stderr
    same_port = subprocess.run(
        [*NOONMARK, "up", "--data-dir", str(data_dir.parent / "other"), "--port", port], capture_output=True, text=True
    )
    assert same_port.returncode == 4
    assert "--port" in same_port.stderr
    first.stop()

    second = up().ready()
    again = json.loads(ask(second.url, "job", "show", "hello", "-o", "json").stdout)
    assert (again["id"], again["version"]) == (job["id"], job["version"])
    second.until(RAN)
    second.stop(signal.SIGTERM)


def test_a_local_admin_key_is_made_once_and_asked_for(up, data_dir):
    first = up("--no-sample", "--workers", "0").ready()
    assert str(data_dir / "key") in first.until(r"Key +(\S+)").group(0)
    file = data_dir / "key"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    key, address = file.read_text().split()
    assert address == first.url
    assert ask(first.url, "job", "list").returncode == 0
    refused = ask(first.url, "job", "list", NOONMARK_DATA_DIR="/nowhere")
    assert (refused.returncode, "no key" in refused.stderr) == (5, True)
    [listed] = json.loads(ask(first.url, "key", "list", "-o", "json").stdout)["items"]
    assert (listed["name"], listed["role"], listed["tenant"]) == ("noonmark up", "admin", None)
    first.stop()

    second = up("--no-sample", "--workers", "0").ready()
    assert file.read_text().split() == [key, second.url]
    assert ask(second.url, "key", "list").returncode == 0
    second.stop()


def test_children_that_die_come_back_and_none_outlives_a_killed_parent(up):
    first = up("--processes", "2").ready()
    first.until(RAN)
    first.processes()[0].kill()
    first.until(RAN)
    first.child("worker").kill()
    first.until("The worker-1 ended with SIGKILL; starting it again")
    first.until(RAN)
    first.child("node").kill()
    first.until("The node ended with SIGKILL; starting it again")
    first.until(RAN)

    node, worker = first.child("node"), first.child("worker")
    processes = first.processes()
    assert len(processes) == 2
    postgres = next(child for child in first.family() if child.name() == "postgres")
    first.process.kill()
    assert psutil.wait_procs([node, worker, *processes], timeout=30)[1] == []
    assert postgres.is_running()

    second = up().ready()
    second.until(RAN)
    second.stop()
    assert not postgres.is_running()
