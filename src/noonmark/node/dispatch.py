"""The worker protocol on the node's side: messages in, the owner's answers out, each after its commit.

`tenant_id` is the one tenant of the worker's key; None for a key of the installation, which takes the runs of all.
"""

import asyncio
from collections.abc import Sequence

import msgspec

from noonmark.clock import SECOND_US
from noonmark.errors import NotFound, Unavailable, UnknownWorker
from noonmark.model.ids import GrantId, JobId, TenantId, WorkerId
from noonmark.model.reason import Outcome
from noonmark.node.life import Life
from noonmark.shard.answers import Granted, Heartbeaten, Reported
from noonmark.shard.live_run import LEFT_IN_ROW
from noonmark.store.pages import load_inputs
from noonmark.store.workers import declare_tasks, register_worker, renew_worker
from noonmark.wire.worker import (
    MAX_AGE_S,
    Claim,
    ClaimAnswer,
    Heartbeat,
    HeartbeatAnswer,
    Register,
    Registered,
    Report,
    ReportAnswer,
    ReportItem,
    RunGrant,
    Terms,
)

_MAX_WAIT_S = 60.0
_MIN_WAIT_S = 0.05
"""A claim that would not wait still waits for the next commit."""
_MAX_ERROR = 16_384
_MAX_RESULT = 65_536


async def register(life: Life, message: Register, tenant_id: TenantId | None) -> Registered:
    worker_id = message.worker
    described = (message.name[:200], message.queues, message.tasks, message.concurrency, tenant_id)
    if not worker_id or not await renew_worker(life.pool, worker_id, *described):
        worker_id = await register_worker(life.pool, *described)
    await declare_tasks(life.pool, message.tasks)
    life.owner.fleet.serve(WorkerId(worker_id), message.queues, message.tasks, life.clock.now_us(), tenant_id)
    return Registered(
        worker=worker_id,
        heartbeat_s=life.config.heartbeat_s,
        silence_s=life.config.limits.silence_us / SECOND_US,
        nodes=sorted(life.ownership.nodes.values()),
        now_us=life.clock.now_us(),
    )


async def claim(life: Life, message: Claim, tenant_id: TenantId | None) -> ClaimAnswer:
    _known(life, message.worker, tenant_id)
    if life.leaving:
        raise Unavailable("the node is stopping")
    token = life.token()
    life.owner.claim(token, WorkerId(message.worker), message.max, life.clock.now_us())
    life.committer.wake()

    def give_up() -> None:
        if life.owner.withdraw_claim(token):
            token.set_result(Granted(GrantId(0), []))

    wait_s = max(_MIN_WAIT_S, min(message.wait_s, _MAX_WAIT_S))
    patience = asyncio.get_running_loop().call_later(wait_s, give_up)
    life.claims.add(give_up)
    try:
        granted: Granted = await token
    finally:
        life.claims.discard(give_up)
        patience.cancel()
        life.owner.withdraw_claim(token)
    try:
        return await _answer(life, granted)
    except BaseException:
        # Nothing of it has left the node, so no worker can have started it.
        life.owner.return_grant(granted.grant_id, life.clock.now_us())
        life.committer.wake()
        raise


async def _answer(life: Life, granted: Granted) -> ClaimAnswer:
    runs = [live for live in granted.runs if live.grant is not None and live.grant.grant_id == granted.grant_id]
    large = [live for live in runs if live.input == LEFT_IN_ROW]
    inputs: dict[tuple[int, int], str | None] = {}
    if large:
        async with life.pool.acquire() as connection:
            inputs = await load_inputs(connection, large)  # type: ignore[arg-type]
    return ClaimAnswer(
        grant=granted.grant_id,
        runs=[
            RunGrant(
                live.job_id,
                live.nominal_us,
                live.attempt + 1,
                live.due_us,
                live.policy_id,
                live.input if live.input != LEFT_IN_ROW else inputs.get(live.key),
            )
            for live in runs
        ],
        terms={policy_id: _terms(life, policy_id) for policy_id in {live.policy_id for live in runs}},
        now_us=life.clock.now_us(),
    )


def _terms(life: Life, policy_id: int) -> Terms:
    policy = life.policies[policy_id]  # type: ignore[index]
    return Terms(policy.task, policy.timeout_s, policy.retry.max_attempts, policy.queue)


async def heartbeat(life: Life, message: Heartbeat, tenant_id: TenantId | None) -> HeartbeatAnswer:
    now_us = life.clock.now_us()
    if tenant_id is None:  # a tenant's worker must be known first, or it could keep another's alive
        life.owner.fleet.heard(WorkerId(message.worker), now_us)
    _known(life, message.worker, tenant_id)
    heartbeaten = Heartbeaten([], [], [])
    if now_us - (message.sent_us or now_us) < MAX_AGE_S * SECOND_US:
        heartbeaten = life.owner.heartbeat(WorkerId(message.worker), message.grants, now_us, set(message.never))
    life.committer.wake()
    return HeartbeatAnswer(
        cancel=list(heartbeaten.cancel),
        lost=heartbeaten.lost,
        nodes=sorted(life.ownership.nodes.values()),
        now_us=now_us,
        missing=heartbeaten.missing,
    )


async def report(life: Life, message: Report, tenant_id: TenantId | None) -> ReportAnswer:
    if not life.trusted:
        raise Unavailable("this node's lease has passed")
    _check_tenant(life, message.items, tenant_id)
    token = life.token()
    items = [item if _plain(item) else _clean(item) for item in message.items]
    life.owner.report(token, WorkerId(message.worker), items, life.clock.now_us())
    life.committer.wake()
    answer: Reported = await token
    return ReportAnswer(answer.refused, answer.elsewhere, life.clock.now_us())


def _known(life: Life, worker_id: int, tenant_id: TenantId | None) -> None:
    if not life.trusted:
        raise Unavailable("this node's lease has passed")
    if not life.owner.fleet.knows(WorkerId(worker_id), tenant_id):
        raise UnknownWorker(f"worker {worker_id} is not registered here", fix="register again with the same id")


def _check_tenant(life: Life, items: Sequence[ReportItem], tenant_id: TenantId | None) -> None:
    """Run ids can be guessed, so a tenant's worker may speak of its tenant's runs alone."""
    if tenant_id is None:
        return
    for position, item in enumerate(items):
        live = life.owner.live.get((JobId(item.job_id), item.nominal_us))
        if live is not None and live.tenant_id != tenant_id:
            raise NotFound("there is no such run", field=f"items[{position}]", fix="report the runs that were granted")


def _plain(item: ReportItem) -> bool:
    return item.error is None and item.result is None and item.outcome is Outcome.SUCCEEDED


def _clean(item: ReportItem) -> ReportItem:
    """A worker's text shares a transaction with others' rows, and must never break it."""
    outcome = item.outcome
    if outcome not in _REPORTABLE:
        outcome = Outcome.FAILED
    error = None if item.error is None else item.error.replace("\0", "\N{REPLACEMENT CHARACTER}")[:_MAX_ERROR]
    result = item.result
    if result is not None:
        try:
            if len(result) > _MAX_RESULT or "\0" in result:
                raise ValueError
            msgspec.json.decode(result)
        except ValueError:
            result, error = None, error or "the result was dropped: it is not JSON of at most 64 KiB"
    return msgspec.structs.replace(item, outcome=outcome, error=error, result=result)


_REPORTABLE = frozenset({Outcome.SUCCEEDED, Outcome.FAILED, Outcome.TIMED_OUT, Outcome.RELEASED, Outcome.CANCELLED})
