"""`noonmark run`: one run and its attempts."""

from typing import Annotated, Any

import typer

from noonmark.cli.session import Api, asks
from noonmark.wire.resources import Attempt, Run

runs = typer.Typer(no_args_is_help=True, help="Look at a run, or stop it.")
RunId = Annotated[str, typer.Argument(metavar="ID", help="The run's id, run_…")]


def run_facts(run: Run) -> list[tuple[str, Any]]:
    return [
        ("id", run.id),
        ("job", f"{run.job_name} ({run.job})" if run.job_name else run.job),
        ("version", run.version),
        ("state", run.state),
        ("why", run.why),
        ("attempt", run.attempt),
        ("nominal", run.nominal_at),
        ("due", run.due_at),
        ("finished", run.finished_at),
        ("error", run.error),
    ]


@runs.command("show")
@asks
async def show_run(api: Api, run_id: RunId) -> None:
    """Show a run with its attempts."""
    run = await api.client.get_run(run_id)
    attempts = await api.client.attempts(run_id)

    def as_table() -> object:
        from rich.console import Group

        from noonmark.cli.show import facts

        return Group(facts(run_facts(run)), "", _attempt_table(attempts))

    api.show({"run": run, "attempts": attempts}, as_table)


@runs.command("cancel")
@asks
async def cancel_run(api: Api, run_id: RunId) -> None:
    """Cancel a run: at once if it waits, by telling its worker if it is going."""
    run = await api.client.cancel_run(run_id)

    def as_table() -> object:
        from noonmark.cli.show import facts

        return facts(run_facts(run))

    api.show(run, as_table)


def _attempt_table(attempts: list[Attempt]) -> Any:
    from noonmark.cli.show import duration_text, first_line, table

    def took(attempt: Attempt) -> str | None:
        if attempt.started_at is None:
            return None
        return duration_text((attempt.finished_at - attempt.started_at).total_seconds())

    rows = [
        (a.attempt, a.outcome, a.worker, a.started_at, took(a), a.why, first_line(a.error) or a.result)
        for a in attempts
    ]
    columns = ["attempt", "outcome", "worker", "started", "took", "why", "error or result"]
    return table(columns, rows, "No attempt has ended yet.")
