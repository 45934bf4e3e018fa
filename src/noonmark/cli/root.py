"""Puts the commands together."""

from typing import Annotated

import typer

from noonmark.cli import audit, dead, job, key, migrate, node, notify, run, schedule, tenant, worker
from noonmark.cli.completion import completion
from noonmark.cli.doctor.command import doctor
from noonmark.cli.groups import Root
from noonmark.cli.importing.command import imports
from noonmark.cli.manifest.apply import apply
from noonmark.cli.manifest.export import export
from noonmark.cli.up import command as up
from noonmark.version import __version__

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


SERVERS, OBJECTS, CODE, ACCESS = "Run", "Jobs and runs", "Jobs as code", "Who may, and who did"

root.command("up", rich_help_panel=SERVERS)(up.up)
root.add_typer(node.nodes, name="node", rich_help_panel=SERVERS)
root.add_typer(worker.workers, name="worker", rich_help_panel=SERVERS)
root.command("migrate", rich_help_panel=SERVERS)(migrate.migrate)
root.add_typer(job.jobs, name="job", rich_help_panel=OBJECTS)
root.add_typer(run.runs, name="run", rich_help_panel=OBJECTS)
root.add_typer(dead.letters, name="dead", rich_help_panel=OBJECTS)
root.add_typer(schedule.schedules, name="schedule", rich_help_panel=OBJECTS)
root.add_typer(notify.subscriptions, name="notify", rich_help_panel=OBJECTS)
root.command("apply", rich_help_panel=CODE)(apply)
root.command("export", rich_help_panel=CODE)(export)
root.add_typer(imports, name="import", rich_help_panel=CODE)
root.command("doctor", rich_help_panel=SERVERS)(doctor)
root.add_typer(key.keys, name="key", rich_help_panel=ACCESS)
root.add_typer(tenant.tenants, name="tenant", rich_help_panel=ACCESS)
root.command("audit", rich_help_panel=ACCESS)(audit.list_audit)
root.command("completion", rich_help_panel=SERVERS)(completion)
