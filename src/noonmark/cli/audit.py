"""`noonmark audit`: who changed what."""

from datetime import datetime
from typing import Annotated

import typer

from noonmark.cli.session import Api, gather, watches

_FORMATS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"]


@watches
async def list_audit(
    api: Api,
    subject: Annotated[str | None, typer.Option(help="What was changed: job_…, run_…, key_…, or a tenant.")] = None,
    actor: Annotated[str | None, typer.Option(help="Who did it: the name of a key.")] = None,
    action: Annotated[str | None, typer.Option(help="What was done, or how it begins: job.create, key.")] = None,
    from_at: Annotated[datetime | None, typer.Option("--from", formats=_FORMATS, help="In your own zone.")] = None,
    to_at: Annotated[datetime | None, typer.Option("--to", formats=_FORMATS, help="In your own zone.")] = None,
    installation: Annotated[
        bool, typer.Option("--installation", help="What belongs to no tenant: tenants, and keys for all of them.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
) -> None:
    """List changes, the latest first: who, when, from where, what. -o json shows before and after."""
    from_local = from_at and from_at.astimezone()
    to_local = to_at and to_at.astimezone()
    page = await gather(
        lambda size, cursor: api.client.audit(
            subject=subject,
            actor=actor,
            action=action,
            from_at=from_local,
            to_at=to_local,
            installation=installation,
            limit=size,
            cursor=cursor,
        ),
        limit,
    )
    api.show_list(
        page,
        page.items,
        {
            "at": lambda entry: entry.at,
            "who": lambda entry: entry.actor,
            "by": lambda entry: entry.door,
            "from": lambda entry: entry.address,
            "what": lambda entry: entry.action,
            "subject": lambda entry: entry.subject,
        },
        {
            "key": lambda entry: entry.key,
            "agent": lambda entry: entry.agent,
            "before": lambda entry: entry.before,
            "after": lambda entry: entry.after,
        },
        "No changes.",
    )
