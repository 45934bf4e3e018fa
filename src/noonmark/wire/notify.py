"""Subscriptions to events of jobs, and their deliveries, as clients see them (JSON)."""

from datetime import datetime
from typing import Annotated, Literal

import msgspec

from noonmark.model.notice import Event

MAX_URL = 2_000
MAX_SUBSCRIPTIONS = 1_000
"""Of one tenant."""
LONGEST_S = 366 * 86_400.0

Url = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_URL)]
Events = Annotated[list[Event], msgspec.Meta(min_length=1, max_length=5)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=LONGEST_S)]
Period = Annotated[float, msgspec.Meta(ge=1, le=LONGEST_S)]


class Webhook(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="webhook"):
    url: Url
    """https://… or http://…; every delivery is signed by the Standard Webhooks scheme."""


class Apprise(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="apprise"):
    url: Url
    """A URL of apprise: `mailto://…`, `slack://…`. It holds secrets, so only its beginning is ever shown again."""


class SubscriptionSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A subscription as a caller sends it."""

    name: Annotated[str, msgspec.Meta(max_length=190)]
    """Unique in the tenant. Its deliveries are runs of the job `notify:<name>`."""
    events: Events
    to: Webhook | Apprise
    job: str | None = None
    """Only this job (name or id); left out, all jobs of the tenant."""
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    """Only jobs that have all of these."""
    late_after_s: Seconds = 60.0
    """`late`: a run is late when it starts, or still waits, this long after it was due."""
    expect_every_s: Period | None = None
    """`silent`: a success is expected this often; left out, whenever the job's schedule says."""
    grace_s: Seconds = 300.0
    """`silent`: how long after an expected time a success may still come, the time of the run itself included."""
    quiet_s: Seconds = 60.0
    """At most one notice of a kind and job in this time; later ones are folded into the next."""
    active: bool = True


class SubscriptionPatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Fields to change; a field that is left out stays as it is."""

    events: Events | msgspec.UnsetType = msgspec.UNSET
    to: Webhook | Apprise | msgspec.UnsetType = msgspec.UNSET
    job: str | msgspec.UnsetType | None = msgspec.UNSET
    labels: dict[str, str] | msgspec.UnsetType = msgspec.UNSET
    late_after_s: Seconds | msgspec.UnsetType = msgspec.UNSET
    expect_every_s: Period | msgspec.UnsetType | None = msgspec.UNSET
    grace_s: Seconds | msgspec.UnsetType = msgspec.UNSET
    quiet_s: Seconds | msgspec.UnsetType = msgspec.UNSET
    active: bool | msgspec.UnsetType = msgspec.UNSET


class Subscription(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str
    tenant: str
    events: list[Event]
    to: Webhook | Apprise
    """Of apprise, no more than the scheme."""
    job: str | None
    """The id of the job."""
    labels: dict[str, str]
    late_after_s: float
    expect_every_s: float | None
    grace_s: float
    quiet_s: float
    active: bool
    delivery_job: str
    """The job whose runs are the deliveries; its retries can be changed as any job's."""
    created_at: datetime
    updated_at: datetime


class SubscriptionWithSecret(msgspec.Struct, frozen=True, kw_only=True):
    subscription: Subscription
    secret: str | None
    """`whsec_…`: with this the receiver of a webhook verifies signatures. It is shown this once; None for apprise."""


class SubscriptionPage(msgspec.Struct, frozen=True):
    subscriptions: list[Subscription]
    next_cursor: str | None


class RotateSecret(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    grace_s: Annotated[float, msgspec.Meta(ge=0, le=30 * 86_400)] = 86_400.0
    """How long deliveries are signed with the secret of now as well as with the new one."""


class TestSent(msgspec.Struct, frozen=True):
    run: str
    """The delivery, as a run: see GET /v1/runs/{run}."""
    event: str

    __test__ = False


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    state: Literal["waiting", "delivered", "dead", "stopped"]
    """Stopped: cancelled, expired or withdrawn."""
    event: str | None
    type: str | None
    attempts: int
    at: datetime
    """When the notice was written."""
    finished_at: datetime | None
    next_attempt_at: datetime | None
    error: str | None
    """Of the last attempt that failed."""


class DeliveryPage(msgspec.Struct, frozen=True):
    deliveries: list[Delivery]
    next_cursor: str | None
