"""One process answers for a server; others attach; a server whose keeper was killed is adopted."""

import subprocess
import sys
import time

import psutil
import pytest

from noonmark.embedded import EmbeddedPostgres, EmbeddedPostgresError

START = """
import os, sys, pathlib
from noonmark.embedded import EmbeddedPostgres
server = EmbeddedPostgres(pathlib.Path(sys.argv[1]))
server.start()
print(server.pid, server.is_keeper, flush=True)
sys.stdin.read()
server.stop()
"""


def start_elsewhere(server: EmbeddedPostgres) -> subprocess.Popen[str]:
    """Another process that starts a server on the same data directory, and stops it when its stdin closes."""
    return subprocess.Popen(
        [sys.executable, "-c", START, str(server.data_dir)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def line_of(process: subprocess.Popen[str]) -> list[str]:
    assert process.stdout is not None
    return process.stdout.readline().split()


def test_a_guest_attaches_and_leaves_the_server_alone(server, query):
    server.start()
    guest = EmbeddedPostgres(server.data_dir)
    assert query(guest.start(), "SELECT 1") == 1
    assert guest.attached
    assert not guest.is_keeper
    assert guest.pid == server.pid
    with pytest.raises(EmbeddedPostgresError, match="Only the keeper"):
        guest.restart()
    with pytest.raises(EmbeddedPostgresError, match="Only the keeper"):
        guest.destroy()
    guest.stop()
    assert query(server.url, "SELECT 1") == 1


def test_start_twice_is_once(server):
    server.start()
    pid = server.pid
    server.start()
    assert server.pid == pid
    assert server.attached


def test_the_server_of_a_killed_keeper_is_adopted(server, query):
    with start_elsewhere(server) as keeper:
        pid, was_keeper = line_of(keeper)
        assert was_keeper == "True"
        keeper.kill()
    assert query(server.start(), "SELECT 1") == 1
    assert (server.pid, server.attached, server.is_keeper) == (int(pid), True, True)
    server.stop()
    gone_by = time.monotonic() + 10
    while psutil.pid_exists(int(pid)) and psutil.Process(int(pid)).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < gone_by
    assert not (server.cluster / "postmaster.pid").exists()


def test_two_first_starts_at_once_make_one_server(server):
    with start_elsewhere(server) as first, start_elsewhere(server) as second:
        lines = [line_of(first), line_of(second)]
        assert {line[1] for line in lines} == {"True", "False"}
        assert len({line[0] for line in lines}) == 1
        for process in (first, second):
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait() == 0
