"""The key that `noonmark up` leaves: found for its own server, by its own user, and for nobody else's."""

import asyncio
import stat
from pathlib import Path

import pytest

from noonmark.cli.up.key import local_key
from noonmark.cli.up.place import DataDir
from noonmark.client.local_key import find_key
from noonmark.client.transport import request_headers
from noonmark.model.caller import Role
from noonmark.node.commands import bootstrap
from noonmark.store.connect import connect

KEY = "nmk_abcdefgh_" + "x" * 43
URL = "http://127.0.0.1:7171"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataDir:
    monkeypatch.delenv("NOONMARK_DATA_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    folder = DataDir(tmp_path / ".noonmark")
    folder.path.mkdir()
    return folder


def test_it_is_found_here_and_below_for_its_own_port_of_this_machine(place, monkeypatch):
    (place.path / "key").write_text(f"{KEY}\n{URL}\n")
    below = place.path.parent / "src" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    for server in (URL, f"{URL}/", "http://localhost:7171", "http://[::1]:7171"):
        assert find_key(server) == KEY, server
    for server in ("http://127.0.0.1:7172", "http://127.0.0.1", "https://127.0.0.1:7171", "http://example.com:7171",
                   "http://127.0.0.1.example.com:7171", "nonsense", "", "http://127.0.0.1:port"):  # fmt: skip
        assert find_key(server) is None, server


def test_the_folder_may_be_named(place, tmp_path, monkeypatch):
    (place.path / "key").write_text(f"{KEY}\n{URL}\n")
    monkeypatch.setenv("NOONMARK_DATA_DIR", str(tmp_path / "elsewhere"))
    assert find_key(URL) is None
    monkeypatch.chdir("/")
    monkeypatch.setenv("NOONMARK_DATA_DIR", str(place.path))
    assert find_key(URL) == KEY


def test_what_is_given_goes_first(place):
    (place.path / "key").write_text(f"{KEY}\n{URL}\n")
    assert request_headers(URL, "mine", None, "x")["Authorization"] == "Bearer mine"
    assert request_headers(URL, None, None, "x")["Authorization"] == f"Bearer {KEY}"
    assert "Authorization" not in request_headers("http://127.0.0.1:1", None, None, "x")
    assert "Noonmark-Tenant" not in request_headers(URL, None, None, "x")


@pytest.mark.parametrize("content", ["", "one", "three words here", "\x00\xff"])
def test_a_file_that_is_no_key_is_none(place, content):
    (place.path / "key").write_text(content)
    assert find_key(URL) is None


async def test_up_makes_it_once_for_its_owner_alone(place, database_url):
    first = await asyncio.to_thread(local_key, place, database_url, URL, 8)
    file = place.path / "key"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert find_key(URL) == first
    again = await asyncio.to_thread(local_key, place, database_url, "http://127.0.0.1:7272", 8)
    assert again == first, "a second start keeps it"
    assert find_key("http://127.0.0.1:7272") == first
    assert find_key(URL) is None, "and it is for the address of that start"
    assert [path.name for path in place.path.iterdir()] == ["key"]


async def test_a_key_that_holds_no_longer_is_made_anew(place, database_url):
    first = await bootstrap.keep_or_make_admin(database_url, None, name="noonmark up", shards=8)
    connection = await connect(database_url)
    try:
        for statement in ("UPDATE noonmark.api_key SET revoked_at = now()", "DELETE FROM noonmark.api_key"):
            await connection.execute(statement)
            another = await bootstrap.keep_or_make_admin(database_url, first, name="noonmark up", shards=8)
            assert another != first
            assert await bootstrap.keep_or_make_admin(database_url, another, name="noonmark up", shards=8) == another
    finally:
        await connection.close()


async def test_a_lesser_key_does_not_do(database_url):
    made = await bootstrap.make_key(database_url, name="x", role=Role.VIEWER, tenant=None, lives_us=None, shards=8)
    kept = await bootstrap.keep_or_make_admin(database_url, made.text, name="noonmark up", shards=8)
    assert kept != made.text
