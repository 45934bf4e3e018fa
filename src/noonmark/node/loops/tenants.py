"""Keeps what the owner knows of tenants fresh: their weights."""

from noonmark.node.life import Life
from noonmark.node.loops.loop import Loop
from noonmark.store.statement import statement


class TenantsLoop(Loop):
    name = "tenants"

    def __init__(self, life: Life) -> None:
        super().__init__(10.0)
        self._life = life

    async def tick(self) -> None:
        for tenant_id, _, weight in await self._life.pool.fetch(statement("load_tenants")):
            self._life.weights[tenant_id] = weight
