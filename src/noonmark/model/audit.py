"""One entry of the audit: who, when, from where, which change, before and after."""

from typing import NamedTuple

from noonmark.model.caller import Caller, Door

INSTALLATION = 0
"""Stands for the tenant where a change belongs to none: tenants, and keys that reach all of them."""


class Entry(NamedTuple):
    """In the order of the table's columns."""

    tenant_id: int
    at_us: int
    actor: str
    key_id: int | None
    door: Door
    address: str | None
    agent: str | None
    action: str
    """A noun and a verb: `job.create`, `key.revoke`."""
    subject: str
    """The id of the thing that was changed: `job_…`, `run_…`, `key_…`; or the name of a tenant."""
    before: str | None
    after: str | None
    """JSON; for a job the texts of its specs."""


def entry(
    caller: Caller,
    tenant_id: int,
    at_us: int,
    action: str,
    subject: str,
    *,
    before: str | None = None,
    after: str | None = None,
) -> Entry:
    return Entry(
        tenant_id, at_us, caller.name, caller.key_id, caller.door, caller.address, caller.agent, action, subject,
        before, after,
    )  # fmt: skip
