"""Keys: shown once, looked up by prefix, refused when wrong, expired, revoked or rotated away."""

import asyncio
from datetime import timedelta

import aiohttp
import pytest

from noonmark.api.access import keyring
from noonmark.api.access.keyring import REFRESH_S, TRUSTED_S, KeyRing
from noonmark.clock import to_datetime
from noonmark.errors import Unauthorized
from noonmark.model.caller import SYSTEM, Role
from noonmark.model.ids import key_text
from noonmark.model.key import digest_of, new_key, new_prefix, prefix_of
from noonmark.node.commands import key_commands
from noonmark.store.connect import Pool
from tests.api.conftest import Caller, RunningNode, StartNode
from tests.api.holders import ROOT, Holder, make_tenants


@pytest.fixture
async def node(start_node: StartNode) -> RunningNode:
    return await start_node(token=ROOT)


@pytest.fixture
async def root(node: RunningNode, session: aiohttp.ClientSession) -> Holder:
    return Holder(Caller(session, node.address), ROOT)


def test_the_text_of_a_key() -> None:
    prefix = new_prefix()
    one, other = new_key(prefix), new_key(prefix)
    assert one != other
    assert prefix_of(one) == prefix
    assert len(one) == len("nmk_") + 8 + 1 + 43
    for wrong in ("", one[:-1], one + "x", one.replace("nmk", "nmx"), one[:-1] + "-", f" {one}"):
        assert prefix_of(wrong) is None


async def test_a_key_is_shown_once_and_stored_as_a_digest(root: Holder, pool: Pool) -> None:
    made = await root("POST", "/v1/keys", {"name": "deploys", "role": "admin"})
    assert made.status == 201
    assert made.headers["Cache-Control"] == "no-store"
    token, key = made.json["token"], made.json["key"]
    assert token.startswith(f"nmk_{key['prefix']}_")
    assert (key["role"], key["tenant"], key["state"], key["created_by"]) == ("admin", None, "active", "static token")
    row = await pool.fetchrow("SELECT digest, row_to_json(k)::text AS stored FROM noonmark.api_key k")
    assert row["digest"] == digest_of(token)
    for path in ("/v1/keys", f"/v1/keys/{key['id']}", "/v1/audit?installation=true"):
        shown = await root("GET", path)
        assert shown.status == 200
        assert token.encode() not in shown.body
        assert row["digest"].hex().encode() not in shown.body
    assert token not in row["stored"]
    stored = await pool.fetch("SELECT a.before::text, a.after::text FROM noonmark.audit a")
    assert all(token not in str(tuple(entry)) for entry in stored)


async def test_what_a_new_key_may_not_be(root: Holder, node: RunningNode, pool: Pool) -> None:
    past = to_datetime(node.clock.now_us()) - timedelta(days=1)
    await make_tenants(root, "acme")
    wrong = {
        "name": {"name": " ", "role": "viewer"},
        "role": {"name": "x", "role": "king"},
        "expires_at": {"name": "x", "role": "viewer", "expires_at": past},
    }
    for field, body in wrong.items():
        answer = await root("POST", "/v1/keys", body)
        assert (answer.status, answer.json["field"]) == (422, field), answer.body
        assert answer.json["fix"]
    nowhere = await root("POST", "/v1/keys", {"name": "x", "role": "viewer", "tenant": "nowhere"})
    assert nowhere.status == 404
    assert await pool.fetchval("SELECT count(*) FROM noonmark.api_key") == 0
    assert await pool.fetchval("SELECT count(*) FROM noonmark.audit WHERE action LIKE 'key.%'") == 0


async def test_keys_that_do_not_hold_all_look_the_same(root: Holder, pool: Pool) -> None:
    good = await root.gives("viewer")
    assert (await good("GET", "/v1/whoami")).json["role"] == "viewer"
    prefix = str(prefix_of(good.token))
    bodies = set()
    for token in (new_key(prefix), new_key(new_prefix()), good.token[:-1], "", "sesame2", good.token.upper()):
        answer = await Holder(root._call, token)("GET", "/v1/whoami")
        assert answer.status == 401, token
        bodies.add(answer.body)
    assert len(bodies) == 1
    assert (await good("GET", "/v1/whoami")).status == 200


async def test_a_revoked_key_is_refused_at_once_where_it_was_revoked(root: Holder) -> None:
    good = await root.gives("operator")
    assert (await good("GET", "/v1/whoami")).status == 200
    for _ in range(2):
        revoked = await root("DELETE", f"/v1/keys/{good.key}")
        assert (revoked.status, revoked.json["state"]) == (200, "revoked")
    assert (await good("GET", "/v1/whoami")).status == 401
    actions = [entry["action"] for entry in (await root("GET", "/v1/audit?installation=true")).json["entries"]]
    assert actions == ["key.revoke", "key.create"], "a second time changes nothing"
    assert (await root("POST", f"/v1/keys/{good.key}/rotate", {})).json["code"] == "conflict"
    assert (await root("DELETE", "/v1/keys/key_zzzz")).status == 404
    assert (await root("GET", "/v1/keys/nonsense")).status == 404


async def test_an_expired_key_is_refused(root: Holder, node: RunningNode) -> None:
    good = await root.gives("viewer", expires_at=to_datetime(node.clock.now_us()) + timedelta(hours=1))
    node.clock.advance(3590)
    assert (await good("GET", "/v1/whoami")).status == 200
    node.clock.advance(10)
    assert (await good("GET", "/v1/whoami")).status == 401
    assert (await root("GET", f"/v1/keys/{good.key}")).json["state"] == "expired"


async def test_a_rotated_key_has_two_secrets_for_a_while(root: Holder, node: RunningNode) -> None:
    old = await root.gives("viewer")
    turned = await root("POST", f"/v1/keys/{old.key}/rotate", {"grace_s": 3600})
    assert (turned.status, turned.headers["Cache-Control"]) == (200, "no-store")
    new = Holder(root._call, turned.json["token"])
    assert turned.json["key"]["id"] == old.key
    assert prefix_of(new.token) == prefix_of(old.token)
    node.clock.advance(3590)
    for holder in (old, new):
        assert (await holder("GET", "/v1/whoami")).json["key"] == old.key
    node.clock.advance(10)
    assert (await old("GET", "/v1/whoami")).status == 401
    assert (await new("GET", "/v1/whoami")).status == 200

    newest = Holder(root._call, (await root("POST", f"/v1/keys/{old.key}/rotate", {"grace_s": 0})).json["token"])
    assert (await new("GET", "/v1/whoami")).status == 401
    assert (await newest("GET", "/v1/whoami")).status == 200
    too_long = await root("POST", f"/v1/keys/{old.key}/rotate", {"grace_s": 1e9})
    assert (too_long.status, too_long.json["field"]) == (422, "grace_s")


async def test_pages_of_keys(root: Holder) -> None:
    made = [(await root.gives("viewer")).key for _ in range(5)]
    first = (await root("GET", "/v1/keys?limit=3")).json
    rest = (await root("GET", f"/v1/keys?limit=3&cursor={first['next_cursor']}")).json
    assert [key["id"] for key in first["keys"] + rest["keys"]] == made
    assert rest["next_cursor"] is None


# The ring itself


class Elapsed:
    def __init__(self) -> None:
        self.s = 1000.0

    def __call__(self) -> float:
        return self.s


async def make_key(pool: Pool, node: RunningNode, role: Role = Role.VIEWER) -> key_commands.NewSecret:
    async with pool.acquire() as connection:
        return await key_commands.create_key(
            connection,  # type: ignore[arg-type]
            SYSTEM,
            node.clock.now_us(),
            name="somebody",
            role=role,
            tenant_id=None,
            tenant=None,
            expires_us=None,
        )


async def revoke(pool: Pool, node: RunningNode, key_id: int) -> None:
    """As another node does."""
    async with pool.acquire() as connection:
        await key_commands.revoke_key(connection, SYSTEM, node.clock.now_us(), key_id)  # type: ignore[arg-type]


async def test_a_key_revoked_elsewhere_is_refused_within_ten_seconds(node: RunningNode, pool: Pool) -> None:
    elapsed = Elapsed()
    ring = KeyRing(node.node, None, loopback=True, elapsed_s=elapsed)
    made = await make_key(pool, node)
    text = made.text.encode()
    assert (await ring.caller(text)).key_id == made.key_id
    await revoke(pool, node, made.key_id)
    assert (await ring.caller(text)).key_id == made.key_id, "trusted for a while"
    elapsed.s += TRUSTED_S + 0.001
    with pytest.raises(Unauthorized):
        await ring.caller(text)
    assert TRUSTED_S <= 10


async def test_a_busy_key_is_looked_up_again_behind_its_requests(node: RunningNode, pool: Pool) -> None:
    elapsed = Elapsed()
    ring = KeyRing(node.node, None, loopback=True, elapsed_s=elapsed)
    made = await make_key(pool, node)
    text = made.text.encode()
    await ring.caller(text)
    await revoke(pool, node, made.key_id)
    elapsed.s += REFRESH_S + 0.001
    assert (await ring.caller(text)).key_id == made.key_id, "this one does not wait"
    await asyncio.gather(*ring._refreshing.values())
    with pytest.raises(Unauthorized):
        await ring.caller(text)


async def test_a_known_key_outlives_an_absent_database(
    node: RunningNode, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    elapsed = Elapsed()
    ring = KeyRing(node.node, None, loopback=True, elapsed_s=elapsed)
    made = await make_key(pool, node)
    text = made.text.encode()
    await ring.caller(text)

    async def fail(*_: object) -> None:
        raise ConnectionRefusedError

    with monkeypatch.context() as away:
        away.setattr(keyring, "find_key", fail)
        elapsed.s += TRUSTED_S + 1
        assert (await ring.caller(text)).key_id == made.key_id
        with pytest.raises(ConnectionRefusedError):
            await ring.caller(new_key(new_prefix()).encode())
    await revoke(pool, node, made.key_id)
    with pytest.raises(Unauthorized):
        await ring.caller(text)


async def test_the_last_use_is_written_at_most_once_a_minute(node: RunningNode, pool: Pool) -> None:
    elapsed = Elapsed()
    ring = KeyRing(node.node, None, loopback=True, elapsed_s=elapsed)
    made = await make_key(pool, node)

    async def last_used() -> int | None:
        return await pool.fetchval("SELECT last_used_at FROM noonmark.api_key WHERE key_id = $1", made.key_id)

    await ring.caller(made.text.encode())
    assert await last_used() is None, "not in the path of the request"
    await ring.touch()
    first = await last_used()
    assert first is not None
    node.clock.advance(30)
    elapsed.s += 30
    await ring.caller(made.text.encode())
    await ring.touch()
    assert await last_used() == first
    elapsed.s += 30
    await ring.touch()
    assert await last_used() >= first + 30_000_000
    assert key_text(made.key_id).startswith("key_")


async def test_a_node_without_keys_is_open_on_loopback_until_the_first_key(
    start_node: StartNode, session: aiohttp.ClientSession
) -> None:
    call = Caller(session, (await start_node()).address)
    anyone = await call("GET", "/v1/whoami")
    assert anyone.json == {"name": "anyone", "role": "admin", "tenant": None, "key": None}
    made = await call("POST", "/v1/keys", {"name": "first", "role": "admin"})
    assert made.status == 201
    assert (await call("GET", "/v1/whoami")).status == 401
    first = Holder(call, made.json["token"])
    assert (await first("GET", "/v1/whoami")).json["name"] == "first"


async def test_a_key_made_elsewhere_closes_an_open_node(node: RunningNode, pool: Pool) -> None:
    elapsed = Elapsed()
    ring = KeyRing(node.node, None, loopback=True, elapsed_s=elapsed)
    assert (await ring.caller(b"")).name == "anyone"
    await make_key(pool, node)
    elapsed.s += TRUSTED_S
    with pytest.raises(Unauthorized):
        await ring.caller(b"")


async def test_a_node_that_others_can_reach_is_never_open(
    start_node: StartNode, session: aiohttp.ClientSession
) -> None:
    node = await start_node(loopback=False)
    call = Caller(session, node.address)
    assert (await call("GET", "/v1/whoami")).status == 401
    assert (await call("GET", "/v1/jobs")).status == 401
    assert (await call("GET", "/healthz")).status == 200
