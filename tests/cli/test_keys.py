"""`noonmark key`, `tenant` and `audit`: as their user has them."""

import asyncio
import re
from typing import Any

import msgspec
import pytest
from typer.testing import Result

from noonmark.client import Client
from noonmark.model.key import prefix_of


class Alone:
    """The command line against a node of this test's own: its first key closes it to whoever has none."""

    def __init__(self, noonmark: Any, address: str) -> None:
        self._noonmark = noonmark
        self._address = address

    async def __call__(self, *arguments: str, exit_code: int = 0) -> Result:
        result = await asyncio.to_thread(self._noonmark, *arguments, NOONMARK_SERVER=self._address)
        assert result.exit_code == exit_code, result.output
        return result

    async def json(self, *arguments: str) -> Any:
        return msgspec.json.decode((await self(*arguments, "-o", "json")).stdout)


@pytest.fixture
async def alone(noonmark, engine) -> Alone:
    address = await engine.start_node()
    async with Client(address) as client:
        await client.whoami()  # what the node has to say of that is in its log by now, and not among the answers
    return Alone(noonmark, address)


async def test_a_first_key_a_tenant_and_what_was_done(alone) -> None:
    made = await alone("key", "create", "ada", "--role", "admin")
    token = made.stdout.strip()
    assert prefix_of(token), made.output
    assert "shown this once" in made.stderr
    await alone("key", "list", exit_code=5)
    as_ada = ("--token", token)

    assert "weight 3" in (await alone("tenant", "create", "acme", "--weight", "3", *as_ada)).stdout
    assert "weight 5" in (await alone("tenant", "update", "acme", "--weight", "5", *as_ada)).stdout
    listed = (await alone("tenant", "list", *as_ada)).stdout
    assert re.search(r"^acme +5 ", listed, re.MULTILINE), listed

    held_back = await alone("key", "create", "nobody", "--dry-run", *as_ada)
    assert "Would make a key" in held_back.stdout
    bob = await alone.json("key", "create", "bob", "--for", "acme", "--expires-in", "90d", *as_ada)
    assert (bob["key"]["tenant"], bob["key"]["role"]) == ("acme", "viewer")
    as_bob = ("--token", bob["token"])
    await alone("job", "list", *as_bob)
    assert "role operator" in (await alone("job", "pause", "x", *as_bob, exit_code=5)).stderr
    await alone("job", "list", "--tenant", "default", *as_bob, exit_code=3)

    rotated = await alone.json("key", "rotate", bob["key"]["id"], "--grace", "0s", *as_ada)
    await alone("job", "list", *as_bob, exit_code=5)
    await alone("job", "list", "--token", rotated["token"])
    assert "is revoked" in (await alone("key", "revoke", bob["key"]["id"], *as_ada)).stdout
    await alone("job", "list", "--token", rotated["token"], exit_code=5)
    shown = (await alone("key", "list", *as_ada)).stdout
    assert re.search(r"ada +admin +all +active", shown), shown
    assert re.search(r"bob +viewer +acme +revoked", shown), shown
    assert token not in shown

    told = (await alone("audit", "--tenant", "acme", *as_ada)).stdout
    assert [line.split()[5] for line in told.splitlines()[1:]] == ["key.revoke", "key.rotate", "key.create"], told
    whole = await alone.json("audit", "--installation", "--action", "tenant.", *as_ada)
    assert [(entry["action"], entry["door"], entry["actor"]) for entry in whole["items"]] == [
        ("tenant.change", "cli", "ada"),
        ("tenant.create", "cli", "ada"),
    ]


async def test_what_is_no_time(alone) -> None:
    for option in (("create", "x", "--expires-in"), ("rotate", "key_1", "--grace")):
        refused = await alone("key", *option, "soon", exit_code=2)
        assert "is not a time" in refused.stderr


async def test_the_first_key_is_made_at_an_empty_database(noonmark, empty_database_url) -> None:
    asked = ("key", "create", "root", "--role", "admin", "--database-url", empty_database_url)
    made = await asyncio.to_thread(noonmark, *asked)
    assert made.exit_code == 0, made.output
    assert prefix_of(made.stdout.strip())
    nowhere = await asyncio.to_thread(noonmark, *asked, "--for", "nowhere")
    assert nowhere.exit_code == 3
    assert "there is no tenant 'nowhere'" in nowhere.stderr


def test_a_database_that_is_not_there(noonmark) -> None:
    said = noonmark.refuses("key", "create", "root", "--database-url", "postgresql://127.0.0.1:1/nowhere", exit_code=7)
    assert "--database-url: cannot connect" in said
