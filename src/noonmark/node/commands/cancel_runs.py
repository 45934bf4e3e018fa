"""All live runs of a job are cancelled: those that wait end now, those that workers have are asked to stop.

What is in memory is cancelled there when the turn begins, and its ends are in the outbox; what is in rows alone (it
sleeps, is parked or was spilled) ends in the turn's own transaction, which leaves the others' rows alone.
"""

import msgspec

from noonmark.errors import NotFound
from noonmark.model.audit import Entry, entry
from noonmark.model.ids import JobId, job_text, shard_of
from noonmark.model.reason import Outcome, Reason
from noonmark.node.commands.asking import asked_by
from noonmark.node.commands.run_commands import admit, record_end
from noonmark.node.life import Life
from noonmark.shard.live_run import State
from noonmark.shard.outbox import FixedDelayEnd
from noonmark.store import jobs as store
from noonmark.store.audit import record
from noonmark.store.commit import follow_fixed_delays
from noonmark.store.connect import Connection
from noonmark.store.fence import fenced


async def cancel_runs(life: Life, tenant_id: int, job_id: JobId) -> tuple[int, int]:
    """(how many waited and have ended, how many are running and asked to stop)."""
    caller = asked_by()
    shard = shard_of(job_id)
    life.check(shard)
    heads, _ = await life.job_cache.load(tenant_id, [job_id], [])
    if not heads or heads[0].tenant_id != tenant_id:
        raise NotFound("there is no such job", field="job")
    states: dict[int, State | None] = {}

    def told(now_us: int, cancelled: int, stopping: int) -> Entry:
        after = msgspec.json.encode({"cancelled": cancelled, "stopping": stopping}).decode()
        return entry(caller, tenant_id, now_us, "job.cancel", job_text(job_id), after=after)

    def prepare() -> None:
        life.check(shard)
        now_us = life.clock.now_us()
        for key in [key for key in life.owner.live if key[0] == job_id]:
            states[key[1]] = life.owner.cancel(key, now_us)
        if states:
            stopping = sum(state is State.GRANTED for state in states.values())
            life.owner.outbox.audit.append(told(now_us, len(states) - stopping, stopping))

    async def action(connection: Connection) -> int:
        now_us = life.clock.now_us()
        in_memory = {key[1] for key in life.owner.live if key[0] == job_id} | states.keys()
        async with fenced(connection, life.node_id):
            rows = await store.delete_waiting_runs(connection, heads[0], sorted(in_memory))
            await record_end(connection, rows, Outcome.CANCELLED, Reason.CANCELLED, now_us)
            ends = [FixedDelayEnd(row.shard, row.job_id, row.nominal_us, now_us) for row in rows]
            followers = await follow_fixed_delays(connection, ends) if ends else []
            if rows:
                await record(connection, [told(now_us, len(rows), 0)])
        await admit(life, connection, followers)
        return len(rows)

    asleep = await life.committer.perform(action, prepare)
    await life.committer.flush()
    stopping = sum(state is State.GRANTED for state in states.values())
    return asleep + len(states) - stopping, stopping
