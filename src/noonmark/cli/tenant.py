"""`noonmark tenant`: the tenants of the installation."""

from typing import Annotated

import typer

from noonmark.cli.session import Api, asks, changes, gather

tenants = typer.Typer(no_args_is_help=True, help="Make, list and weigh tenants.")
Name = Annotated[str, typer.Argument(metavar="NAME")]
Weight = Annotated[
    int, typer.Option("--weight", min=1, max=100, help="Its share of the workers when several have work for them.")
]


@tenants.command("create")
@changes
async def create(api: Api, name: Name, weight: Weight = 1) -> None:
    """Make a tenant."""
    if api.held_back(f"make the tenant {name!r}", name=name, weight=weight):
        return
    made = await api.client.create_tenant(name, weight)
    api.show(made, lambda: f"The tenant {made.name} is made, with the weight {made.weight}.")


@tenants.command("list")
@asks
async def list_tenants(api: Api, limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 100) -> None:
    """List the tenants that your key reaches."""
    page = await gather(lambda size, cursor: api.client.tenants(limit=size, cursor=cursor), limit)
    api.show_list(
        page,
        page.items,
        {
            "name": lambda tenant: tenant.name,
            "weight": lambda tenant: tenant.weight,
            "created": lambda tenant: tenant.created_at,
        },
    )


@tenants.command("update")
@changes
async def update(api: Api, name: Name, weight: Weight) -> None:
    """Change a tenant's weight."""
    if api.held_back(f"give the tenant {name!r} the weight {weight}", name=name, weight=weight):
        return
    changed = await api.client.update_tenant(name, weight)
    api.show(changed, lambda: f"The tenant {changed.name} has the weight {changed.weight}.")
