"""A request with a key that was carried out, as it is remembered."""

from typing import NamedTuple

from noonmark.clock import SECOND_US

KEPT_US = 24 * 3600 * SECOND_US
"""So long a key leads to the answer of its first request."""


class RequestRow(NamedTuple):
    """In the order of the parameters of keep_requests.sql."""

    tenant_id: int
    key: str
    shard: int
    fingerprint: bytes
    expires_us: int
    answer: str | None
    """JSON; None if it was too large or too secret to be kept."""
