"""`noonmark key`: API keys."""

import re
from datetime import timedelta
from typing import Annotated

import typer

from noonmark.cli.output import Output
from noonmark.cli.session import Api, asks, changes, gather
from noonmark.clock import own_time_us, to_datetime
from noonmark.errors import InvalidInput
from noonmark.model.caller import Role
from noonmark.wire.keys import KeyWithSecret, NewKey

keys = typer.Typer(no_args_is_help=True, help="Make, list, rotate and revoke API keys.")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
KeyId = Annotated[str, typer.Argument(metavar="KEY", help="Its id: key_…")]


@keys.command("create")
@changes
async def create(
    api: Api,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose it is: it stands in the audit.")],
    role: Annotated[Role, typer.Option("--role", "-r", help="How far it reaches.")] = Role.VIEWER,
    of_tenant: Annotated[
        str | None, typer.Option("--for", metavar="TENANT", help="The one that it is for; else as far as your own.")
    ] = None,
    expires_in: Annotated[
        str | None, typer.Option("--expires-in", metavar="TIME", help="90d, 12h, 30m; never by default.")
    ] = None,
    database_url: Annotated[
        str | None,
        typer.Option("--database-url", metavar="URL", help="Make it at the database: for the first key of all."),
    ] = None,
) -> None:
    """Make a key and show it, this once."""
    lives = None if expires_in is None else _duration("--expires-in", expires_in)
    if api.held_back(f"make a key {name!r} with the role {role}", name=name, role=role.value):
        return
    if database_url is not None:
        token = await _make_at_database(database_url, name, role, of_tenant, lives)
        api.show({"token": token}, lambda: token)
        return
    expires_at = None if lives is None else to_datetime(own_time_us()) + lives
    made = await api.client.create_key(NewKey(name=name, role=role.value, tenant=of_tenant, expires_at=expires_at))
    _show_once(api, made)


@keys.command("list")
@asks
async def list_keys(api: Api, limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 100) -> None:
    """List keys; never the keys themselves."""
    page = await gather(lambda size, cursor: api.client.keys(limit=size, cursor=cursor), limit)
    api.show_list(
        page,
        page.items,
        {
            "id": lambda key: key.id,
            "name": lambda key: key.name,
            "role": lambda key: key.role,
            "tenant": lambda key: key.tenant or "all",
            "state": lambda key: key.state,
            "last used": lambda key: key.last_used_at,
            "expires": lambda key: key.expires_at,
        },
        {
            "prefix": lambda key: key.prefix,
            "created": lambda key: key.created_at,
            "by": lambda key: key.created_by,
            "rotated": lambda key: key.rotated_at,
            "old until": lambda key: key.old_until,
        },
        "No keys.",
    )


@keys.command("rotate")
@changes
async def rotate(
    api: Api,
    key: KeyId,
    grace: Annotated[str, typer.Option("--grace", metavar="TIME", help="How long the old secret stays good.")] = "1h",
) -> None:
    """Give a key a new secret and show it, this once."""
    grace_s = _duration("--grace", grace).total_seconds()
    if api.held_back(f"give {key} a new secret", key=key, grace_s=grace_s):
        return
    _show_once(api, await api.client.rotate_key(key, grace_s))


@keys.command("revoke")
@changes
async def revoke(api: Api, key: KeyId) -> None:
    """End a key for good: every node refuses it within ten seconds."""
    if api.held_back(f"revoke {key}", key=key):
        return
    revoked = await api.client.revoke_key(key)
    api.show(revoked, lambda: f"{revoked.id} ({revoked.name}) is revoked.")


async def _make_at_database(
    database_url: str, name: str, role: Role, tenant: str | None, lives: timedelta | None
) -> str:
    from noonmark.cli.node import reach_database
    from noonmark.node.commands.bootstrap import make_key

    await reach_database(database_url, patient=False)
    lives_us = None if lives is None else round(lives.total_seconds() * 1_000_000)
    return (await make_key(database_url, name=name, role=role, tenant=tenant, lives_us=lives_us)).text


def _show_once(api: Api, made: KeyWithSecret) -> None:
    """For people the key alone, so that it can be piped to where it belongs; all else goes to stderr."""
    api.show(made, lambda: made.token)
    if api.output in (Output.TABLE, Output.WIDE):
        typer.echo(f"{made.key.id}: shown this once; only a digest of it is stored.", err=True)


def _duration(field: str, text: str) -> timedelta:
    found = re.fullmatch(r"([0-9]{1,9})([smhdw])", text)
    if found is None:
        raise InvalidInput(field, f"{text[:40]!r} is not a time", "use a number and a unit, as in 90d, 12h or 30m")
    return timedelta(seconds=int(found[1]) * _SECONDS[found[2]])
