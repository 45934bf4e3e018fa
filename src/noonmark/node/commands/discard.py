"""Dead letters are removed for good; the history of their runs stays."""

from noonmark.model.audit import entry
from noonmark.model.ids import RunKey, shard_of
from noonmark.node.commands.asking import asked_by
from noonmark.node.commands.run_commands import audit_details
from noonmark.node.life import Life
from noonmark.store.audit import record
from noonmark.store.connect import Connection
from noonmark.store.fence import fenced
from noonmark.store.jobs import discard_dead


async def discard(life: Life, tenant_id: int, keys: list[RunKey]) -> int:
    caller = asked_by()

    def prepare() -> None:
        for job_id, _ in keys:
            life.check(shard_of(job_id))

    async def action(connection: Connection) -> int:
        async with fenced(connection, life.node_id):
            gone = await discard_dead(connection, tenant_id, keys)
            if gone:
                subject, before = audit_details(gone)
                now_us = life.clock.now_us()
                await record(connection, [entry(caller, tenant_id, now_us, "dead.discard", subject, before=before)])
        return len(gone)

    return await life.committer.perform(action, prepare)
