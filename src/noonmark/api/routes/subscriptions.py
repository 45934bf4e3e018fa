"""/v1/subscriptions: who is told of what happens to jobs, and what became of each notice."""

import secrets
from datetime import datetime
from typing import Any

import msgspec

from noonmark.api.call import Call
from noonmark.api.dispatch.answer import Response
from noonmark.api.middleware.pages import AfterId, BeforeInstant, Cursor, Limit, cut, decode_cursor, encode_cursor
from noonmark.api.present import read_spec
from noonmark.api.routes.targets import check_target
from noonmark.clock import to_datetime
from noonmark.errors import DuplicateName, InvalidInput, NotFound, TooBusy
from noonmark.model.ids import JobId, job_text, parse_subscription, run_text, subscription_text
from noonmark.model.job import check_labels, check_name, label_texts
from noonmark.model.notice import DELIVER_TASK
from noonmark.node.commands import subscription_commands as commands
from noonmark.notify.message import TEST_TYPE
from noonmark.store import subscriptions as store
from noonmark.store.connect import Connection
from noonmark.store.reads.jobs import JobRecord
from noonmark.store.subscriptions import DeliveryRecord, SubscriptionRecord
from noonmark.wire.commands import CreateJobs, DeleteJobs, SubmitRuns
from noonmark.wire.notify import (
    MAX_SUBSCRIPTIONS,
    Apprise,
    Delivery,
    DeliveryPage,
    RotateSecret,
    Subscription,
    SubscriptionPage,
    SubscriptionPatch,
    SubscriptionSpec,
    SubscriptionWithSecret,
    TestSent,
    Webhook,
)
from noonmark.wire.resources import Submission

_ONCE = {"Cache-Control": "no-store"}
"""The answer holds a secret: neither a cache nor the store of idempotent answers may keep it."""


async def list_subscriptions(call: Call, limit: Limit = 100, cursor: Cursor = None) -> SubscriptionPage:
    """The tenant's subscriptions, in the order in which they were made."""
    after = decode_cursor(cursor, AfterId).id
    rows, more = cut(
        await store.list_subscriptions(call.node.pool, call.tenant_id, after=after, limit=limit + 1), limit
    )
    shown = [_subscription(row, call.tenant) for row in rows]
    return SubscriptionPage(shown, encode_cursor(AfterId(rows[-1].subscription_id)) if more else None)


async def create_subscription(data: SubscriptionSpec, call: Call) -> Response[SubscriptionWithSecret]:
    """Makes a subscription; that of a webhook shows once the secret that its deliveries are signed with.

    This node tells from now on, every other within about a second.
    """
    check_name("name", data.name)
    job = await _checked(call, data)
    if await store.count_subscriptions(call.node.pool, call.tenant_id) >= MAX_SUBSCRIPTIONS:
        raise TooBusy(f"the tenant has {MAX_SUBSCRIPTIONS} subscriptions, the most allowed", retry_after_s=60)

    secret = commands.new_secret() if isinstance(data.to, Webhook) else None
    now_us = call.now_us
    new = SubscriptionRecord(
        0, data.name, sorted(set(data.events)), None if job is None else job.job_id, _labels(data.labels),
        _kind(data.to), data.to.url, secret, None, None, data.late_after_s, data.expect_every_s, data.grace_s,
        data.quiet_s, data.active, await _delivery_job(call, data.name), now_us, now_us,
    )  # fmt: skip

    async def create(connection: Connection) -> int:
        return await commands.create(connection, call.caller, call.tenant_id, new)

    number = await call.change_registry(create, int, secret=True)
    await call.node.look_at_subscriptions()
    shown = _subscription(new._replace(subscription_id=number), call.tenant)
    made = SubscriptionWithSecret(subscription=shown, secret=secret)
    where = f"/v1/subscriptions/{made.subscription.id}"
    return Response(made, status_code=201, headers={**_ONCE, "Location": where})


async def read_subscription(subscription_id: str, call: Call) -> Subscription:
    """One subscription, without its secrets."""
    return _subscription(await _fetch(call, subscription_id), call.tenant)


async def change_subscription(subscription_id: str, data: SubscriptionPatch, call: Call) -> Subscription:
    """Changes some fields. What a job must do to be silent counts anew from now."""
    before = await _fetch(call, subscription_id)
    changed = _patched(before, data)
    same_target = changed.to == _target(before)  # as it was shown, which of apprise is not all of it
    job = await _checked(call, changed, same_target=same_target)
    if isinstance(changed.to, Webhook) and before.secret is None:
        raise InvalidInput("to.kind", "it has no secret to sign a webhook with", "make a new subscription")
    new = before._replace(
        events=sorted(set(changed.events)),
        job_id=None if job is None else job.job_id,
        labels=_labels(changed.labels),
        kind=_kind(changed.to),
        url=before.url if same_target else changed.to.url,
        late_after_s=changed.late_after_s,
        expect_every_s=changed.expect_every_s,
        grace_s=changed.grace_s,
        quiet_s=changed.quiet_s,
        active=changed.active,
        delivery_job=await _delivery_job(call, before.name),
        updated_us=call.now_us,
    )

    async def change(connection: Connection) -> None:
        await commands.change(connection, call.caller, call.tenant_id, before.updated_us, new)

    await call.change_registry(change, type(None))
    await call.node.look_at_subscriptions()
    return _subscription(new, call.tenant)


async def delete_subscription(subscription_id: str, call: Call) -> None:
    """Ends the subscription; deliveries that wait are withdrawn, the history of the others stays."""
    try:
        before = await _fetch(call, subscription_id)
    except NotFound:
        if await call.was_done():
            return
        raise
    # The job first: sent again, the rest is done.
    await call.perform(DeleteJobs(**call.asked("job"), job_ids=[before.delivery_job]))

    async def delete(connection: Connection) -> None:
        await commands.delete(connection, call.caller, call.tenant_id, before.subscription_id, call.now_us)

    await call.change_registry(delete, type(None))
    await call.node.look_at_subscriptions()


async def rotate_secret(subscription_id: str, data: RotateSecret, call: Call) -> Response[SubscriptionWithSecret]:
    """A new secret, shown once; for `grace_s` deliveries carry the signatures of both."""
    number = (await _fetch(call, subscription_id)).subscription_id

    async def rotate(connection: Connection) -> str:
        return await commands.rotate(connection, call.caller, call.tenant_id, number, data.grace_s, call.now_us)

    secret = await call.change_registry(rotate, str, secret=True)
    shown = _subscription(await _fetch(call, subscription_id), call.tenant)
    return Response(SubscriptionWithSecret(subscription=shown, secret=secret), headers=_ONCE)


async def send_test(subscription_id: str, call: Call) -> TestSent:
    """Sends a notice of the type `subscription.test`, even if the subscription is switched off."""
    found = await _fetch(call, subscription_id)
    job_id = await _delivery_job(call, found.name)
    if job_id != found.delivery_job:
        moved = found._replace(delivery_job=job_id, updated_us=call.now_us)
        async with call.node.pool.acquire() as connection:
            await commands.change(connection, call.caller, call.tenant_id, found.updated_us, moved)  # type: ignore[arg-type]
    event_id = f"evt_{secrets.token_hex(10)}"
    notice = _test_notice(event_id, call.tenant, to_datetime(call.now_us))
    submission = Submission(job=job_text(job_id), input=msgspec.Raw(msgspec.json.encode(notice)))
    [key] = await call.perform(SubmitRuns(**call.asked(), submissions=[submission]))
    return TestSent(run_text(key), event_id)


async def list_deliveries(subscription_id: str, call: Call, limit: Limit = 100, cursor: Cursor = None) -> DeliveryPage:
    """What became of each notice, newest first. A dead one can be redriven as any dead letter."""
    job_id = (await _fetch(call, subscription_id)).delivery_job
    before_us = decode_cursor(cursor, BeforeInstant).instant_us
    rows, more = cut(await store.list_deliveries(call.node.pool, job_id, before_us=before_us, limit=limit + 1), limit)
    shown = [_delivery(job_id, row) for row in rows]
    return DeliveryPage(shown, encode_cursor(BeforeInstant(rows[-1].nominal_us)) if more else None)


async def _fetch(call: Call, text: str) -> SubscriptionRecord:
    found = await store.fetch_subscription(call.node.pool, call.tenant_id, parse_subscription(text))
    if found is None:
        raise commands.no_subscription(text)
    return found


async def _checked(call: Call, spec: SubscriptionSpec, *, same_target: bool = False) -> JobRecord | None:
    """The job that is meant, if one is."""
    check_labels(spec.labels)
    if not same_target:
        await check_target(spec.to, private=call.node.private_webhooks)
    if spec.job is None:
        return None
    if spec.labels:
        raise InvalidInput("labels", "one job is named already", "leave out labels or job")
    try:
        job = await call.job(spec.job)
    except NotFound as error:
        raise InvalidInput("job", error.message, "create it first, or leave it out for all jobs") from None
    if "silent" in spec.events and spec.expect_every_s is None and job.schedule is None and job.current_run_us is None:
        raise InvalidInput(
            "expect_every_s", "this job does not recur, so nothing says when it is silent", "say how often it succeeds"
        )
    return job


async def _delivery_job(call: Call, name: str) -> JobId:
    """The job that delivers for the subscription of this name; made if it is not there."""
    try:
        return (await call.perform(CreateJobs(**call.asked("job"), specs=[commands.delivery_job(name)])))[0]
    except DuplicateName:
        job = await call.job(commands.delivery_job_name(name))
        if read_spec(job).task != DELIVER_TASK:
            raise DuplicateName(
                f"there is a job {commands.delivery_job_name(name)!r} already, of another kind",
                field="name",
                fix="choose another name",
            ) from None
        return job.job_id


def _kind(to: Webhook | Apprise) -> str:
    return "webhook" if isinstance(to, Webhook) else "apprise"


def _labels(labels: dict[str, str]) -> list[str] | None:
    return label_texts(labels) or None


def _patched(before: SubscriptionRecord, patch: SubscriptionPatch) -> SubscriptionSpec:
    whole = SubscriptionSpec(
        name=before.name,
        events=before.events,  # type: ignore[arg-type]
        to=_target(before),
        job=None if before.job_id is None else job_text(before.job_id),
        labels=_pairs(before.labels),
        late_after_s=before.late_after_s,
        expect_every_s=before.expect_every_s,
        grace_s=before.grace_s,
        quiet_s=before.quiet_s,
        active=before.active,
    )
    changes: dict[str, Any] = {
        name: value for name in patch.__struct_fields__ if (value := getattr(patch, name)) is not msgspec.UNSET
    }
    return msgspec.structs.replace(whole, **changes)


def _target(row: SubscriptionRecord) -> Webhook | Apprise:
    url = commands.masked_url(row.kind, row.url)
    return Webhook(url) if row.kind == "webhook" else Apprise(url)


def _pairs(labels: list[str] | None) -> dict[str, str]:
    return {key: value for key, colon, value in (text.partition(":") for text in labels or ()) if colon}


def _subscription(row: SubscriptionRecord, tenant: str) -> Subscription:
    return Subscription(
        id=subscription_text(row.subscription_id),
        name=row.name,
        tenant=tenant,
        events=row.events,  # type: ignore[arg-type]
        to=_target(row),
        job=None if row.job_id is None else job_text(row.job_id),
        labels=_pairs(row.labels),
        late_after_s=row.late_after_s,
        expect_every_s=row.expect_every_s,
        grace_s=row.grace_s,
        quiet_s=row.quiet_s,
        active=row.active,
        delivery_job=job_text(row.delivery_job),
        created_at=to_datetime(row.created_us),
        updated_at=to_datetime(row.updated_us),
    )


def _delivery(job_id: JobId, row: DeliveryRecord) -> Delivery:
    return Delivery(
        run=run_text((job_id, row.nominal_us)),
        state=row.state,  # type: ignore[arg-type]
        event=row.event,
        type=row.type,
        attempts=row.attempt,
        at=to_datetime(row.nominal_us),
        finished_at=_time(row.finished_us),
        next_attempt_at=_time(row.next_us),
        error=row.error,
    )


def _test_notice(event_id: str, tenant: str, at: datetime) -> dict[str, object]:
    """As a real notice, with nothing to tell."""
    return {
        "id": event_id,
        "type": TEST_TYPE,
        "at": at,
        "tenant": tenant,
        "job": None,
        "run": None,
        "silence": None,
        "reason": "test",
        "why": "somebody asked for a test",
        "error": None,
        "folded": 0,
    }


def _time(instant_us: int | None) -> datetime | None:
    return None if instant_us is None else to_datetime(instant_us)
