"""`noonmark migrate`: brings the schema up to date without starting a node."""

import asyncio

import typer

from noonmark.cli.node import DatabaseUrl, Shards, reach_database
from noonmark.model.ids import DEFAULT_SHARDS


def migrate(database_url: DatabaseUrl, shards: Shards = DEFAULT_SHARDS) -> None:
    """Bring the database's schema up to date. Nodes do this by themselves when they start."""
    count = asyncio.run(_migrate(database_url, shards))
    typer.echo(f"The schema is up to date, with {count} shards.")
    if count != shards and shards != DEFAULT_SHARDS:
        typer.echo(f"note: the number of shards was set at install and stays {count}.", err=True)


async def _migrate(database_url: str, shards: int) -> int:
    from noonmark.store.connect import connect
    from noonmark.store.migrate import migrate as bring_up_to_date

    await reach_database(database_url, patient=False)
    connection = await connect(database_url)
    try:
        return await bring_up_to_date(connection, shards)
    finally:
        await connection.close()
