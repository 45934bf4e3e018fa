"""Keeps the tenants' weights in the owner's memory fresh."""

from noonmark.model.ids import TenantId
from noonmark.node.life import Life
from noonmark.node.loop import Loop
from noonmark.store.tenants import load_tenants


class TenantsLoop(Loop):
    name = "tenants"

    def __init__(self, life: Life) -> None:
        super().__init__(10.0)
        self._life = life

    async def tick(self) -> None:
        for tenant_id, _, weight in await load_tenants(self._life.pool):
            self._life.weights[TenantId(tenant_id)] = weight
