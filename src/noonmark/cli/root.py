"""Puts the commands together, and turns every expected error into one line and an exit code."""

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from noonmark import __version__
from noonmark.cli import dead, fleet, job, migrate, node, run, schedule, worker
from noonmark.cli.up import command as up
from noonmark.errors import NoonmarkError


class Root(TyperGroup):
    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except NoonmarkError as error:
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(error.exit_code) from None


root = typer.Typer(
    cls=Root,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"noonmark {__version__}")
        raise typer.Exit


@root.callback()
def noonmark(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Cron as a service. Start with `noonmark up`."""


SERVERS, OBJECTS, FLEET = "Run", "Jobs and runs", "The fleet"

root.command("up", rich_help_panel=SERVERS)(up.up)
root.command("node", rich_help_panel=SERVERS)(node.node)
root.command("worker", rich_help_panel=SERVERS)(worker.worker)
root.command("migrate", rich_help_panel=SERVERS)(migrate.migrate)
root.add_typer(job.jobs, name="job", rich_help_panel=OBJECTS)
root.add_typer(run.runs, name="run", rich_help_panel=OBJECTS)
root.add_typer(dead.letters, name="dead", rich_help_panel=OBJECTS)
root.add_typer(schedule.schedules, name="schedule", rich_help_panel=OBJECTS)
root.command("nodes", rich_help_panel=FLEET)(fleet.list_nodes)
root.command("workers", rich_help_panel=FLEET)(fleet.list_workers)
root.command("shards", rich_help_panel=FLEET)(fleet.list_shards)
