"""Start, stop and restart keep the data, whatever way the server went down."""

import os
import signal
import socket
from pathlib import Path

import asyncpg
import psutil
import pytest

from noonmark.embedded import EmbeddedPostgres, EmbeddedPostgresError, temporary_postgres
from noonmark.embedded.postmaster import pid_file
from noonmark.embedded.settings import default_settings

WRITE = "CREATE TABLE kept AS SELECT 42 AS value"
READ = "SELECT value FROM kept"


def test_data_survives_stop_and_start(server, query):
    query(server.start(), WRITE)
    server.stop()
    assert query(server.start(), READ) == 42
    assert query(server.restart(), READ) == 42
    assert not server.attached


def test_data_survives_an_immediate_stop(server, query):
    query(server.start(), WRITE)
    server.stop("immediate")
    assert query(server.start(), READ) == 42
    assert "automatic recovery in progress" in server.log_file.read_text()


def test_data_survives_kill_of_the_server(server, query):
    query(server.start(), WRITE)
    killed = server.pid
    os.kill(killed, signal.SIGKILL)
    assert query(server.start(), READ) == 42
    assert server.pid != killed


def test_a_pid_file_that_names_another_program_is_stale(server, query):
    query(server.start(), WRITE)
    before = pid_file(server.cluster).read_text().splitlines()
    server.stop()
    pid_file(server.cluster).write_text("\n".join([str(os.getpid()), *before[1:]]))
    assert query(server.start(), READ) == 42
    assert server.pid != os.getpid()


def test_an_interrupted_initdb_is_started_over(server, query):
    (server.data_dir / "postgres.new").mkdir()
    (server.data_dir / "postgres.new" / "PG_VERSION").write_text("18\n")
    assert query(server.start(), "SELECT current_database()") == "noonmark"


def test_stop_leaves_no_process(server):
    server.start()
    pid = server.pid
    server.stop()
    assert not psutil.pid_exists(pid)
    server.stop()  # once more changes nothing


def test_the_terminal_s_ctrl_c_does_not_reach_it(server):
    server.start()
    assert os.getsid(server.pid) != os.getsid(0)


def test_a_failed_start_shows_the_end_of_the_log(server):
    broken = EmbeddedPostgres(server.data_dir, settings={"shared_buffers": "plenty"})
    with pytest.raises(EmbeddedPostgresError, match=r"(?s)while starting.*shared_buffers.*plenty") as caught:
        broken.start()
    assert "plenty" in caught.value.log_tail
    assert not broken.is_keeper
    server.start()  # the failure left nothing that is in the way


def test_url_before_start_is_an_error(server):
    with pytest.raises(EmbeddedPostgresError, match="has not been started"):
        _ = server.url


def test_a_long_data_directory_gets_a_short_socket(open_folder: Path, query):
    server = EmbeddedPostgres(open_folder / ("long" * 30))
    try:
        assert query(server.start(), "SELECT 1") == 1
        folder = Path(query(server.url, "SHOW unix_socket_directories"))
        assert len(str(folder)) < 85
        assert folder.stat().st_mode & 0o077 == 0
    finally:
        server.destroy()


def test_durable_and_checked(server, query):
    url = server.start()
    for name in ("fsync", "synchronous_commit", "full_page_writes", "data_checksums"):
        assert query(url, f"SHOW {name}") == "on"
    assert query(url, "SHOW server_encoding") == "UTF8"
    assert query(url, "SHOW listen_addresses") == ""
    assert server.tcp_url is None


def test_a_port_asks_for_the_password(query):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with temporary_postgres(port=port) as server:
        assert server.tcp_url is not None
        assert query(server.tcp_url, "SELECT 1") == 1
        assert query(server.url, "SELECT 1") == 1
        with pytest.raises(asyncpg.InvalidPasswordError):
            query(f"postgresql://noonmark:guess@127.0.0.1:{port}/noonmark", "SELECT 1")
        assert (server.data_dir / "postgres.password").stat().st_mode & 0o077 == 0
    assert not server.data_dir.exists()


@pytest.mark.parametrize(("memory_mb", "shared_buffers"), [(128, "64MB"), (2_048, "512MB"), (65_536, "1024MB")])
def test_shared_buffers_follow_the_memory(memory_mb, shared_buffers):
    assert default_settings(memory_mb)["shared_buffers"] == shared_buffers
