"""Subscriptions: made and changed in one transaction with the entry in the audit that tells of it, secrets left out."""

import base64
import secrets

import msgspec

from noonmark.clock import SECOND_US
from noonmark.errors import Conflict, DuplicateName, NotFound
from noonmark.model.audit import entry
from noonmark.model.caller import Caller
from noonmark.model.ids import job_text, subscription_text
from noonmark.model.notice import DELIVER_QUEUE, DELIVER_TASK, DELIVERY_REFUSED
from noonmark.model.policy import Retry
from noonmark.notify.send import service_scheme
from noonmark.store import subscriptions as store
from noonmark.store.audit import record
from noonmark.store.connect import Connection
from noonmark.store.subscriptions import SubscriptionRecord
from noonmark.wire.resources import JobSpec

RETRY = Retry(max_attempts=10, base_s=5.0, factor=4.0, max_delay_s=6 * 3600.0, no_retry=(DELIVERY_REFUSED,))
"""Half a day from the first attempt to the last, 20 hours at most."""
TIMEOUT_S = 60.0
_SECRET_BYTES = 32


def delivery_job_name(name: str) -> str:
    return f"notify:{name}"


def delivery_job(name: str) -> JobSpec:
    """The job whose runs are the deliveries of a subscription."""
    return JobSpec(
        name=delivery_job_name(name), task=DELIVER_TASK, queue=DELIVER_QUEUE, timeout_s=TIMEOUT_S, retry=RETRY
    )


def new_secret() -> str:
    return "whsec_" + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def masked_url(kind: str, url: str) -> str:
    """The URL of a webhook as it is; of apprise only the scheme, for the rest may be a password."""
    return url if kind == "webhook" else f"{service_scheme(url)}://***"


async def create(connection: Connection, caller: Caller, tenant_id: int, new: SubscriptionRecord) -> int:
    async with connection.transaction():
        number = await store.insert_subscription(connection, tenant_id, new)
        if number is None:
            raise DuplicateName(
                f"there is a subscription {new.name!r} already", field="name", fix="choose another name, or change it"
            )
        subject = subscription_text(number)
        done = entry(caller, tenant_id, new.created_us, "subscription.create", subject, after=_audit_details(new))
        await record(connection, [done])
    return number


async def change(
    connection: Connection, caller: Caller, tenant_id: int, read_us: int, changed: SubscriptionRecord
) -> None:
    """`read_us` is when the subscription had last been changed as the caller knew it."""
    async with connection.transaction():
        before = await _locked(connection, tenant_id, changed.subscription_id)
        if before.updated_us != read_us:
            raise Conflict("the subscription was changed meanwhile", field="subscription", fix="try again")
        await store.update_subscription(connection, tenant_id, changed)
        subject = subscription_text(changed.subscription_id)
        done = entry(
            caller, tenant_id, changed.updated_us, "subscription.change", subject,
            before=_audit_details(before), after=_audit_details(changed),
        )  # fmt: skip
        await record(connection, [done])


async def rotate(
    connection: Connection, caller: Caller, tenant_id: int, subscription_id: int, grace_s: float, now_us: int
) -> str:
    """The new secret, which is shown once."""
    async with connection.transaction():
        before = await _locked(connection, tenant_id, subscription_id)
        if before.kind != "webhook":
            raise Conflict("only webhooks are signed", field="subscription", fix="change its url instead")
        secret = new_secret()
        until_us = now_us + round(grace_s * SECOND_US)
        changed = before._replace(secret=secret, old_secret=before.secret, old_until_us=until_us)
        await store.update_subscription(connection, tenant_id, changed)
        subject = subscription_text(subscription_id)
        after = msgspec.json.encode({"grace_s": grace_s}).decode()
        done = entry(caller, tenant_id, now_us, "subscription.rotate_secret", subject, after=after)
        await record(connection, [done])
    return secret


async def delete(connection: Connection, caller: Caller, tenant_id: int, subscription_id: int, now_us: int) -> None:
    async with connection.transaction():
        before = await _locked(connection, tenant_id, subscription_id)
        await store.delete_subscription(connection, tenant_id, subscription_id)
        subject = subscription_text(subscription_id)
        done = entry(caller, tenant_id, now_us, "subscription.delete", subject, before=_audit_details(before))
        await record(connection, [done])


def no_subscription(text: str) -> NotFound:
    return NotFound(
        f"there is no subscription {text[:80]!r}", field="subscription", fix="list them: GET /v1/subscriptions"
    )


async def _locked(connection: Connection, tenant_id: int, subscription_id: int) -> SubscriptionRecord:
    found = await store.lock_subscription(connection, tenant_id, subscription_id)
    if found is None:
        raise no_subscription(subscription_text(subscription_id))
    return found


def _audit_details(one: SubscriptionRecord) -> str:
    return msgspec.json.encode(
        {
            "name": one.name,
            "events": one.events,
            "job": None if one.job_id is None else job_text(one.job_id),
            "labels": one.labels,
            "kind": one.kind,
            "url": masked_url(one.kind, one.url),
            "late_after_s": one.late_after_s,
            "expect_every_s": one.expect_every_s,
            "grace_s": one.grace_s,
            "quiet_s": one.quiet_s,
            "active": one.active,
        }
    ).decode()
