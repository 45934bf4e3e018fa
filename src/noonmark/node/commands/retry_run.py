"""A run is tried again now: its backoff is skipped, or it is taken back from the dead letters."""

from noonmark.errors import Conflict, NotFound
from noonmark.model.audit import entry
from noonmark.model.ids import run_text, shard_of
from noonmark.node.commands.dead_letters import redrive
from noonmark.node.commands.once import remember
from noonmark.node.commands.turn import admit, take_turn
from noonmark.node.life import Life
from noonmark.shard.live_run import State
from noonmark.store.audit import record
from noonmark.store.connect import Connection
from noonmark.store.fence import fenced
from noonmark.store.jobs import hasten_run
from noonmark.wire.commands import RetryRun


async def retry_run(life: Life, command: RetryRun) -> None:
    """Refused if the run is being worked on, was never tried, waits for its paused job, or is over."""
    key = command.run

    def answers(done: list[bool]) -> dict[int, None]:
        return {shard_of(key[0]): None} if any(done) else {}

    if not await _hasten(life, command) and not any(await redrive(life, command, [key], answers)):
        raise Conflict(
            f"the run {run_text(key)} neither waits for another attempt nor is a dead letter",
            field="run_id",
            fix="look where it stands: GET /v1/runs/{run}; a new one is started with POST /v1/jobs/{job}/trigger",
        )


async def _hasten(life: Life, command: RetryRun) -> bool:
    """Whether it was waiting for another attempt."""
    key = command.run
    shard = shard_of(key[0])

    def prepare() -> None:
        live = life.owner.live.get(key)
        if live is None:
            return
        if live.tenant_id != command.tenant_id:
            raise NotFound(f"there is no run {run_text(key)}", field="run_id")
        if live.state is State.GRANTED:
            raise Conflict(
                f"the run {run_text(key)} is running", field="run_id", fix="wait for its end, or cancel it first"
            )
        if live.attempt:
            # Out of memory while its row changes; it comes back with its new time.
            life.owner.set_aside(live)

    async def action(connection: Connection) -> bool:
        now_us = life.clock.now_us()
        async with fenced(connection, life.node_id):
            row = await hasten_run(connection, command.tenant_id, key, min(now_us, life.owner.watermarks[shard]))
            if row is not None:
                audit_entry = entry(command.caller, command.tenant_id, now_us, "run.retry", run_text(key))
                await record(connection, [audit_entry])
                await remember(connection, command, {shard: None}, now_us)
        if row is not None:
            await admit(life, connection, [row])
        return row is not None

    return await take_turn(life, command, [shard], action, prepare)
