"""One `noonmark up` for a folder and a port; the second one is told what to do."""

import socket

import pytest

from noonmark.cli.up.place import DataDir, free_port, local_url
from noonmark.errors import Conflict


def test_a_taken_port_names_the_option():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(Conflict, match=f"--port: port {port} on 127.0.0.1 is taken.*--port {port + 1}"):
            free_port("127.0.0.1", port)
    assert free_port("127.0.0.1", port) == port


def test_port_0_is_any_free_one():
    assert free_port("127.0.0.1", 0) > 0


def test_a_host_that_is_not_ours():
    with pytest.raises(Conflict, match="--host: cannot listen on 192"):
        free_port("192.0.2.1", 0)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:1"),
        ("0.0.0.0", "http://127.0.0.1:1"),
        ("::", "http://[::1]:1"),
        ("box", "http://box:1"),
    ],
)
def test_local_url(host, url):
    assert local_url(host, 1) == url


def test_a_held_folder_is_refused_and_says_who_holds_it(tmp_path, noonmark):
    held = DataDir(tmp_path)
    held.take()
    held.sign("http://127.0.0.1:7171")
    shown = noonmark.refuses("up", "--data-dir", str(tmp_path), exit_code=4)
    assert "another `noonmark up` already runs" in shown
    assert "at http://127.0.0.1:7171" in shown
    held.release()


def test_only_a_killed_holder_leaves_its_name(tmp_path):
    first = DataDir(tmp_path)
    first.take()
    first.sign("here")
    first.release()
    second = DataDir(tmp_path)
    second.take()
    assert not second.left_behind
    second.sign("there")
    assert second._lock is not None
    second._lock.close()  # as the kernel does for a killed process
    third = DataDir(tmp_path)
    third.take()
    assert third.left_behind
    third.release()


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Conflict, match="--data-dir: cannot write"):
        DataDir(tmp_path / "file" / "data").take()
