"""Carries out a command at its owner: the one list of all commands."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from noonmark.node.commands.apply_jobs import apply_jobs
from noonmark.node.commands.backfill import backfill_job
from noonmark.node.commands.cancel_runs import cancel_run, cancel_runs
from noonmark.node.commands.change_jobs import patch_job, replace_job
from noonmark.node.commands.create_jobs import create_jobs
from noonmark.node.commands.dead_letters import discard_runs, redrive_runs
from noonmark.node.commands.delete_jobs import delete_jobs
from noonmark.node.commands.once import by_shard, in_order, recall
from noonmark.node.commands.pause_jobs import pause_jobs
from noonmark.node.commands.resume_jobs import resume_jobs
from noonmark.node.commands.retry_run import retry_run
from noonmark.node.commands.skip import skip_fire, unskip_fire
from noonmark.node.commands.submit_runs import submit_run, submit_runs
from noonmark.node.life import Life
from noonmark.node.transport import Performed
from noonmark.wire import commands as wire
from noonmark.wire.commands import BatchCommand, Command

Handlers = Mapping[type[Command[Any]], Callable[[Life, Any], Awaitable[Any]]]

_HANDLERS: Handlers = {
    wire.CreateJobs: create_jobs,
    wire.ApplyJobs: apply_jobs,
    wire.PatchJob: patch_job,
    wire.ReplaceJob: replace_job,
    wire.PauseJobs: pause_jobs,
    wire.ResumeJobs: resume_jobs,
    wire.DeleteJobs: delete_jobs,
    wire.SkipFire: skip_fire,
    wire.UnskipFire: unskip_fire,
    wire.BackfillJob: backfill_job,
    wire.SubmitRuns: submit_runs,
    wire.SubmitRun: submit_run,
    wire.CancelRun: cancel_run,
    wire.RetryRun: retry_run,
    wire.CancelRuns: cancel_runs,
    wire.RedriveRuns: redrive_runs,
    wire.DiscardRuns: discard_runs,
}


async def carry_out(life: Life, command: Command[Any], handlers: Handlers = _HANDLERS) -> Performed:
    """NotOwner, DeadlinePassed: nothing was done. Each handler is all or nothing, or may be sent again."""
    shards = command.shards(life.shard_count)
    first = handlers[type(command)]
    if command.key is None:
        return Performed(await first(life, command), replayed=False)

    def terms() -> dict[int, int]:
        for shard in set(shards):
            life.check(shard)
        return {shard: life.terms[shard] for shard in set(shards)}

    async with life.in_flight.alone(command.tenant_id, command.key.text, terms):
        known = await recall(life.pool, command, life.clock.now_us())
        left = [position for position, shard in enumerate(shards) if shard not in known]
        if not isinstance(command, BatchCommand):
            return Performed(await first(life, command) if left else known[shards[0]], replayed=not left)
        if not left:
            return Performed(in_order(shards, known), replayed=bool(shards))
        done = await first(life, command.part(left))
        answers = {**known, **by_shard([shards[position] for position in left], done)}
        return Performed(in_order(shards, answers), replayed=False)
