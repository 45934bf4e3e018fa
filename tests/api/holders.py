"""People with keys, for tests of who may do what."""

from typing import Any

from tests.api.conftest import Answer, Caller

ROOT = "sesame"


class Holder:
    """Asks with one key."""

    def __init__(self, call: Caller, token: str, key: str | None = None) -> None:
        self._call = call
        self.token = token
        self.key = key

    async def __call__(self, method: str, path: str, json: Any = None, **headers: str) -> Answer:
        sent = {"Authorization": f"Bearer {self.token}", **headers}
        return await self._call(method, path, json, headers=sent)

    async def gives(self, role: str, tenant: str | None = None, **spec: Any) -> "Holder":
        """Makes a key for somebody."""
        made = await self("POST", "/v1/keys", {"name": f"{role} of {tenant}", "role": role, "tenant": tenant, **spec})
        assert made.status == 201, made.body
        return Holder(self._call, made.json["token"], made.json["key"]["id"])


async def make_tenants(root: Holder, *names: str) -> None:
    for name in names:
        assert (await root("POST", "/v1/tenants", {"name": name})).status == 201
