"""PostgreSQL refuses root: as root it runs as somebody else, wherever the clone and the data are."""

import os
import pwd
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from noonmark.embedded import EmbeddedPostgres, EmbeddedPostgresError, binaries
from noonmark.embedded.account import Account, account_for
from noonmark.embedded.binaries import find_binaries

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become somebody else")

# Imports first, then drops root: the interpreter itself may lie where an ordinary user cannot read.
AS_DAEMON = """
import asyncio, asyncpg, os, pathlib, pwd, sys
from noonmark.embedded import EmbeddedPostgres
daemon = pwd.getpwnam("daemon")
os.setgroups([]); os.setgid(daemon.pw_gid); os.setuid(daemon.pw_uid)

async def ask(url):
    connection = await asyncpg.connect(url, timeout=10)
    print(await connection.fetchval("SELECT current_user"))
    await connection.close()
"""


def as_daemon(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", AS_DAEMON + script, *arguments], capture_output=True, text=True, check=False, timeout=60
    )


@as_root
def test_root_runs_it_as_nobody(server, query):
    query(server.start(), "SELECT 1")
    assert psutil.Process(server.pid).username() == "nobody"
    assert not server.cluster.is_symlink()


@as_root
def test_an_ordinary_user_runs_it(open_folder: Path):
    daemon = pwd.getpwnam("daemon")
    if not Account(daemon.pw_uid, daemon.pw_gid, switch=True).can_run(
        binaries._wheel_package() / "pginstall/bin/postgres"
    ):
        pytest.skip("this clone is closed to ordinary users")
    data_dir = open_folder / "data"
    data_dir.mkdir()
    os.chown(data_dir, daemon.pw_uid, daemon.pw_gid)
    done = as_daemon(
        """
with EmbeddedPostgres(pathlib.Path(sys.argv[1])) as server:
    asyncio.run(ask(server.url))
""",
        str(data_dir),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "noonmark"
    assert (data_dir / "postgres").stat().st_uid == daemon.pw_uid
    # Root then runs it as the owner, and leaves nothing that the owner could not use.
    with EmbeddedPostgres(data_dir) as server:
        assert psutil.Process(server.pid).username() == "daemon"
    assert {file.stat().st_uid for file in data_dir.iterdir()} == {daemon.pw_uid}


@as_root
def test_other_users_cannot_connect(server):
    url = server.start()
    done = as_daemon("asyncio.run(ask(sys.argv[1]))", url)
    assert done.returncode != 0
    assert "PermissionError" in done.stderr


@as_root
def test_another_user_s_database_is_refused_in_words(server):
    server.start()
    server.stop()
    done = as_daemon("EmbeddedPostgres(pathlib.Path(sys.argv[1])).start()", str(server.data_dir))
    assert "EmbeddedPostgresError" in done.stderr


@as_root
def test_a_closed_data_directory_leads_elsewhere(tmp_path: Path, open_folder: Path, query):
    tmp_path.chmod(0o700)
    data_dir = tmp_path / "data"
    server = EmbeddedPostgres(data_dir, system_home=open_folder / "home")
    query(server.start(), "CREATE TABLE kept AS SELECT 42 AS value")
    assert server.cluster.is_symlink()
    assert (open_folder / "home") in server.cluster.resolve().parents
    assert query(server.restart(), "SELECT value FROM kept") == 42
    assert tmp_path.stat().st_mode & 0o777 == 0o700
    server.destroy()
    assert [folder for folder in (open_folder / "home").iterdir() if not folder.name.startswith("postgresql-")] == []
    assert list(data_dir.iterdir()) == []


@as_root
def test_destroy_keeps_what_stands_beside_a_linked_database(open_folder: Path):
    elsewhere = open_folder / "disk"
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("mine")
    elsewhere.chmod(0o755)
    data_dir = open_folder / "data"
    data_dir.mkdir()
    (data_dir / "postgres").symlink_to(elsewhere / "cluster")
    server = EmbeddedPostgres(data_dir)
    server.start()
    server.destroy()
    assert [file.name for file in elsewhere.iterdir()] == ["precious"]


@as_root
def test_a_closed_clone_gets_a_copy_of_the_binaries(tmp_path: Path, open_folder: Path, monkeypatch):
    tmp_path.chmod(0o700)
    real = binaries._wheel_package()
    for name in (real.name, f"{real.name}.libs"):
        (tmp_path / name).symlink_to(real.with_name(name))
    monkeypatch.setattr(binaries, "_wheel_package", lambda: tmp_path / real.name)
    account = account_for(tmp_path / "no cluster yet")
    programs = find_binaries(account, open_folder / "home")
    assert (open_folder / "home") in programs.parents
    assert account.can_run(programs / "initdb")
    assert find_binaries(account, open_folder / "home") == programs
    server = EmbeddedPostgres(open_folder / "data", system_home=open_folder / "home")
    server.start()
    assert psutil.Process(server.pid).exe().startswith(str(open_folder / "home"))
    server.destroy()


@as_root
def test_a_database_of_root_is_refused_in_words(open_folder: Path):
    cluster = open_folder / "data" / "postgres"
    cluster.mkdir(parents=True)
    with pytest.raises(EmbeddedPostgresError, match="belongs to root"):
        EmbeddedPostgres(open_folder / "data").start()
