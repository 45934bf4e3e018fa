"""How an owner carries commands out, over the model of the store; what surrounds it is the node's own code.

Real are: how a key is looked up and kept (`carry_out`, `once`, `in_flight`), the turns with their checks (`turn`), and
the chunks. Of the model are the rows. Each effect leaves its mark in the transaction that makes it true.
"""

from typing import NamedTuple

from noonmark.errors import Conflict, JobPaused, NotFound, VersionConflict
from noonmark.model.ids import parse_job, shard_of
from noonmark.model.reason import Reason
from noonmark.node.commands.chunks import in_chunks
from noonmark.node.commands.job_sets import refusals
from noonmark.node.commands.once import by_shard, request_rows
from noonmark.node.commands.turn import take_turn
from noonmark.wire import commands as wire


class Effect(NamedTuple):
    """One item of a sending was carried out."""

    sending: str
    item: object
    became: object
    begun_us: int
    """When the owner came to it, by the world's clock."""


class Transact:
    """Awaited in a turn: the serial committer carries the transaction out."""

    def __init__(self, transaction):
        self._transaction = transaction

    def __await__(self):
        return (yield self._transaction)


def _effects(life, command, items, answers, begun_us):
    for item, answer in zip(items, answers, strict=True):
        life.world.promises.happens(Effect(command.caller.name, item, answer, begun_us))


def _refuse_in_the_calm(life):
    if not life.world.users_active:
        raise Conflict("nothing is changed any more")


async def _change_jobs(life, command, asked, shards, change, also=lambda: None, at_last=None):
    """One turn and one transaction for some jobs of a batch; `change` is called inside of it for each."""
    begun_us = 0
    store = life.store

    def begin():
        nonlocal begun_us
        begun_us = life.world.now_us
        also()

    async def action(connection, granted):
        if at_last is not None:
            await at_last()
        now_us = life.instant_of_change(life, asked) if at_last is None else life.now_us()

        def transaction(_):
            _refuse_in_the_calm(life)
            store.fence(life.owner.node_id)
            found = [store.jobs[job_id] for job_id in asked if job_id in store.jobs]
            jobs, answers = refusals(asked, found, command.tenant_id)
            for job in jobs:
                change(job, [nominal_us for job_id, nominal_us in granted if job_id == job.job_id], now_us, begun_us)
            _effects(life, command, asked, answers, begun_us)
            return answers, [row for job in jobs for row in store.waiting(job.job_id)]

        def rows(done):
            return request_rows(command, by_shard(shards, done[0]), now_us)

        answers, waiting = await life.with_key(transaction, rows, ([None] * len(asked), ()))
        life.found(waiting)
        return answers

    return await life.with_jobs_withdrawn(life, command, asked, action, begin)


async def pause_jobs(life, command):
    shards = command.shards(life.shard_count)

    def pause(job, granted, now_us, begun_us):
        if job.active:
            life.world.checks.changes(job.job_id, begun_us, now_us)
            life.store.pause(life.owner.node_id, job.job_id, granted, now_us)

    async def some(positions):
        asked = [command.job_ids[position] for position in positions]

        def park_retries():
            life.owner.paused.update(job_id for job_id, _ in life.owner.granted_of(set(asked)))

        return await _change_jobs(life, command, asked, [shards[at] for at in positions], pause, park_retries)

    return await in_chunks(shards, some)


async def resume_jobs(life, command):
    shards = command.shards(life.shard_count)

    def resume(job, granted, now_us, _):
        if not job.active:
            life.store.activate(life.owner.node_id, job, now_us)

    async def some(positions):
        asked = [command.job_ids[position] for position in positions]

        async def unpark():
            jobs = await Transact(lambda _: [life.store.jobs.get(job_id) for job_id in asked])
            life.owner.unpark([job.job_id for job in jobs if job is not None and not job.active])

        at = [shards[position] for position in positions]
        return await _change_jobs(life, command, asked, at, resume, at_last=unpark)

    return await in_chunks(shards, some)


async def patch_job(life, command):
    job_id = command.job_id
    shard = shard_of(job_id)
    known = await life.look(lambda: life.store.jobs.get(job_id))
    if known is None or known.tenant_id != command.tenant_id:
        raise NotFound("there is no such job")
    begun_us = 0

    def begin():
        nonlocal begun_us
        begun_us = life.world.now_us

    async def action(connection, granted):
        now_us = life.instant_of_change(life, [job_id])

        def transaction(_):
            _refuse_in_the_calm(life)
            store = life.store
            store.fence(life.owner.node_id)
            job = store.jobs.get(job_id)
            if job is None:
                raise NotFound("there is no such job")
            if job.version != known.version:
                raise VersionConflict("the job was changed meanwhile")
            life.world.checks.changes(job_id, begun_us, now_us)
            recurrence = life.world.every_recurrence[command.patch.priority]
            store.change(life.owner.node_id, job, recurrence, [nominal_us for _, nominal_us in granted], now_us)
            _effects(life, command, [job_id], [None], begun_us)
            return store.waiting(job_id)

        rows = await life.with_key(transaction, lambda _: request_rows(command, {shard: None}, now_us), ())
        life.found(rows)

    await life.with_jobs_withdrawn(life, command, [job_id], action, begin)


async def cancel_run(life, command):
    key = command.run
    shard = shard_of(key[0])
    begun_us = 0
    token = None

    def cancel_in_memory():
        nonlocal begun_us, token
        begun_us = life.world.now_us
        _refuse_in_the_calm(life)
        if key in life.owner.live:
            now_us = life.now_us()
            life.owner.cancel(key, now_us)
            token = life.leave_with_outbox(
                [Effect(command.caller.name, key, None, begun_us)], request_rows(command, {shard: None}, now_us)
            )

    async def action(connection):
        if token is None:
            cancel_in_memory()  # the commit before this may have made it, as the next link of a chain
        if token is not None:
            return
        now_us = life.now_us()

        def transaction(_):
            _refuse_in_the_calm(life)
            life.store.fence(life.owner.node_id)
            if life.store.run(key) is None:
                raise Conflict("the run has ended or never was")
            followers = life.store.cancel_waiting(life.owner.node_id, key, now_us)
            _effects(life, command, [key], [None], begun_us)
            return followers

        rows = await life.with_key(transaction, lambda _: request_rows(command, {shard: None}, now_us), ())
        life._follow(rows)

    await take_turn(life, command, [shard], action, cancel_in_memory)
    if token is not None:
        await token


async def submit_runs(life, command):
    rows = await _make(life, command, command.submissions)
    keys = [row.key for row in rows]
    effects = [
        Effect(command.caller.name, item_of(one), key, life.world.now_us)
        for one, key in zip(command.submissions, keys, strict=True)
    ]
    answers = by_shard([row.shard for row in rows], keys)
    await life.leave_with_outbox(effects, request_rows(command, answers, life.now_us()))
    return keys


async def submit_run(life, command):
    [row] = await _make(life, command, [command.submission])
    made = wire.SubmittedRun(row.job_id, row.nominal_us, row.due_us, 1, row.priority, int(row.reason), "job")
    effect = Effect(command.caller.name, item_of(command.submission), row.key, life.world.now_us)
    await life.leave_with_outbox([effect], request_rows(command, {row.shard: made}, life.now_us()))
    return made


def item_of(submission):
    """Which item of its request it is: that stands in its input."""
    return int(bytes(submission.input))


async def _make(life, command, submissions):
    """In memory; between the check and the caller's next step nothing is awaited."""
    job_ids = [parse_job(one.job) for one in submissions]
    await _know(life, job_ids)
    life.check_command(command, {shard_of(job_id) for job_id in job_ids})
    _refuse_in_the_calm(life)
    now_us = life.now_us()
    rows = []
    for job_id in job_ids:
        nominal_us = life.owner.next_nominal_us(now_us)
        rows.append(life.heads[job_id].run(nominal_us, nominal_us, Reason.TRIGGERED))
        life.owner.create(rows[-1], now_us)
    return rows


async def _know(life, job_ids):
    """Jobs that are not in memory are read in a turn, so that no change is under way meanwhile."""
    while missing := [job_id for job_id in job_ids if job_id not in life.heads]:
        for job_id in missing:
            life.check(shard_of(job_id))

        async def read(connection, missing=missing):
            found = await Transact(lambda _: [life.store.jobs.get(job_id) for job_id in missing])
            for job in found:
                if job is not None and job.active and shard_of(job.job_id) in life.terms:
                    life.heads[job.job_id] = job
            return found

        for job in await life.perform(read):
            if job is None:
                raise NotFound("there is no such job")
            if not job.active:
                raise JobPaused("the job is paused")


HANDLERS = {
    wire.PauseJobs: pause_jobs,
    wire.ResumeJobs: resume_jobs,
    wire.PatchJob: patch_job,
    wire.CancelRun: cancel_run,
    wire.SubmitRuns: submit_runs,
    wire.SubmitRun: submit_run,
}
