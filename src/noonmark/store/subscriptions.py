"""Subscriptions and their deliveries, as rows."""

from typing import NamedTuple

from noonmark.model.ids import JobId, shard_of
from noonmark.model.reason import Outcome
from noonmark.store.connect import Connection, Pool
from noonmark.store.statement import statement


class SubscriptionRecord(NamedTuple):
    subscription_id: int
    name: str
    events: list[str]
    job_id: JobId | None
    labels: list[str] | None
    """Each as `key` and as `key:value`, as jobs have them."""
    kind: str
    url: str
    secret: str | None
    old_secret: str | None
    old_until_us: int | None
    late_after_s: float
    expect_every_s: float | None
    grace_s: float
    quiet_s: float
    active: bool
    delivery_job: JobId
    created_us: int
    updated_us: int


class DeliveryRecord(NamedTuple):
    nominal_us: int
    state: str
    event: str | None
    type: str | None
    attempt: int
    finished_us: int | None
    next_us: int | None
    error: str | None


async def insert_subscription(connection: Connection, tenant_id: int, new: SubscriptionRecord) -> int | None:
    """None if the name is taken."""
    number: int | None = await connection.fetchval(
        statement("insert_subscription"), tenant_id, new.name, new.events, new.job_id, new.labels, new.kind, new.url,
        new.secret, new.late_after_s, new.expect_every_s, new.grace_s, new.quiet_s, new.active, new.delivery_job,
        new.created_us,
    )  # fmt: skip
    await bump_subscriptions(connection)
    return number


async def update_subscription(connection: Connection, tenant_id: int, new: SubscriptionRecord) -> None:
    await connection.execute(
        statement("update_subscription"), tenant_id, new.subscription_id, new.events, new.job_id, new.labels, new.kind,
        new.url, new.secret, new.old_secret, new.old_until_us, new.late_after_s, new.expect_every_s, new.grace_s,
        new.quiet_s, new.active, new.delivery_job, new.updated_us,
    )  # fmt: skip
    await bump_subscriptions(connection)


async def delete_subscription(connection: Connection, tenant_id: int, subscription_id: int) -> None:
    await connection.execute(statement("delete_subscription"), tenant_id, subscription_id)
    await bump_subscriptions(connection)


async def bump_subscriptions(connection: Connection) -> None:
    """Owners read them anew when this number has changed."""
    await connection.execute(statement("bump_subscriptions"))


async def lock_subscription(connection: Connection, tenant_id: int, subscription_id: int) -> SubscriptionRecord | None:
    row = await connection.fetchrow(statement("lock_subscription"), tenant_id, subscription_id)
    return None if row is None else SubscriptionRecord(*row)


async def fetch_subscription(pool: Pool, tenant_id: int, subscription_id: int) -> SubscriptionRecord | None:
    row = await pool.fetchrow(statement("fetch_subscription"), tenant_id, subscription_id)
    return None if row is None else SubscriptionRecord(*row)


async def list_subscriptions(pool: Pool, tenant_id: int, *, after: int, limit: int) -> list[SubscriptionRecord]:
    """By id."""
    rows = await pool.fetch(statement("list_subscriptions"), tenant_id, after, limit)
    return [SubscriptionRecord(*row) for row in rows]


async def count_subscriptions(pool: Pool, tenant_id: int) -> int:
    return int(await pool.fetchval(statement("count_subscriptions"), tenant_id))


async def list_deliveries(pool: Pool, delivery_job: JobId, *, before_us: int, limit: int) -> list[DeliveryRecord]:
    """Newest first."""
    place = (shard_of(delivery_job), delivery_job)
    rows = await pool.fetch(statement("list_deliveries"), *place, before_us, limit, Outcome.SUCCEEDED)
    return [DeliveryRecord(*row) for row in rows]
