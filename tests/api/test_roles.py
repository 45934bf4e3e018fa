"""Who may do what: every route has its least role, and no other key gets in."""

import re

import aiohttp
import pytest

from noonmark.api.table import TABLE
from noonmark.model.caller import Role
from tests.api.conftest import Caller, StartNode
from tests.api.holders import ROOT, Holder, make_tenants

ROLES = [role.value for role in Role]


def test_only_these_are_answered_without_a_key() -> None:
    assert {row.path for row in TABLE if not row.need.key} == {"/healthz", "/readyz"}


@pytest.mark.parametrize(
    ("role", "covered"),
    [
        (Role.VIEWER, {Role.VIEWER}),
        (Role.OPERATOR, {Role.VIEWER, Role.OPERATOR}),
        (Role.ADMIN, {Role.VIEWER, Role.OPERATOR, Role.ADMIN, Role.WORKER}),
        (Role.WORKER, {Role.WORKER}),
    ],
)
def test_what_a_role_covers(role: Role, covered: set[Role]) -> None:
    assert {needed for needed in Role if role.covers(needed)} == covered


@pytest.fixture
async def root(start_node: StartNode, session: aiohttp.ClientSession) -> Holder:
    node = await start_node(token=ROOT)
    return Holder(Caller(session, node.address), ROOT)


@pytest.mark.parametrize("tenant", [None, "acme"])
async def test_no_key_reaches_further_than_its_role(root: Holder, tenant: str | None) -> None:
    await make_tenants(root, "acme")
    holders = {role: await root.gives(role, tenant) for role in ROLES}
    wrong = []
    # Changes of keys go last: one of them might be carried out.
    for row in sorted(TABLE, key=lambda row: "keys" in row.path):
        method, path, need = row.method, row.path, row.need
        if not need.key:
            continue
        address = re.sub(r"\{[^}]+\}", "nobody", re.sub(r"\{(version|before|after)\}", "1", path))
        for role, holder in holders.items():
            covered = need.role is None or Role(role).covers(need.role)
            allowed = covered and not (need.installation and tenant)
            body = None if method in ("GET", "DELETE") else {"nonsense": True}
            answer = await holder(method, address, body)
            if (answer.status == 403) == allowed or answer.status == 401:
                wrong.append((role, method, path, answer.status))
            if answer.status == 403:
                assert answer.json["code"] == "forbidden"
                assert answer.json["fix"]
    assert wrong == []


@pytest.mark.parametrize("tenant", [None, "acme"])
async def test_the_worker_protocol_is_for_workers_and_for_admins(root: Holder, tenant: str | None) -> None:
    await make_tenants(root, "acme")
    for role in ROLES:
        answer = await (await root.gives(role, tenant))("POST", "/v1/worker/heartbeat", {"worker": 1, "grants": []})
        assert (answer.status == 403) == (role in ("viewer", "operator")), role
        assert answer.status != 401


async def test_a_tenants_admin_makes_keys_of_that_tenant_alone(root: Holder) -> None:
    await make_tenants(root, "acme", "other")
    admin = await root.gives("admin", "acme")
    foreign, whole = await root.gives("viewer", "other"), await root.gives("viewer")
    own = await admin.gives("admin")
    assert (await own("GET", "/v1/whoami")).json["tenant"] == "acme", "left out, it is the maker's own tenant"
    listed = (await admin("GET", "/v1/keys")).json["keys"]
    assert {key["id"] for key in listed} == {admin.key, own.key}
    for key in (foreign.key, whole.key):
        assert (await admin("GET", f"/v1/keys/{key}")).status == 404
        assert (await admin("DELETE", f"/v1/keys/{key}")).status == 404
        assert (await admin("POST", f"/v1/keys/{key}/rotate", {})).status == 404
    assert (await foreign("GET", "/v1/whoami")).status == 200
    made = await admin("POST", "/v1/keys", {"name": "x", "role": "worker"})
    assert (made.status, made.json["key"]["tenant"]) == (201, "acme"), "its own workers, for its own runs"
