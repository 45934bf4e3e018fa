"""`noonmark run`: runs and their attempts, over all jobs."""

from typing import Annotated, Any

import typer

from noonmark.cli import job_options as options
from noonmark.cli.schedule_options import read_time
from noonmark.cli.session import Api, asks, changes, gather, watches
from noonmark.client.pages import Page
from noonmark.wire.resources import Attempt, Run
from noonmark.wire.runs import StoryLine

runs = typer.Typer(no_args_is_help=True, help="Look at runs, follow one, stop it or try it again.")
RunId = Annotated[str, typer.Argument(metavar="ID", help="The run's id, run_…")]


@runs.command("list")
@watches
async def list_runs(
    api: Api,
    job: Annotated[
        str | None,
        typer.Option("--job", metavar="REF", help="Of this job.", autocompletion=options.complete_jobs),
    ] = None,
    state: Annotated[list[str] | None, typer.Option(help="In this state: running, dead, …; repeatable.")] = None,
    reason: Annotated[list[str] | None, typer.Option(help="For this reason; repeatable.")] = None,
    label: options.LabelFilter = None,
    error: Annotated[str | None, typer.Option(metavar="TEXT", help="With this in its error.")] = None,
    from_at: Annotated[str | None, typer.Option("--from", metavar="ISO", help="From this time on.")] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="ISO", help="Before this time.")] = None,
    limit: options.Limit = 20,
) -> None:
    """List runs, the newest first."""
    since = None if from_at is None else read_time("--from", from_at)
    until = None if to is None else read_time("--to", to)
    page = await gather(
        lambda size, cursor: api.client.find_runs(
            job=job,
            states=state or (),
            reasons=reason or (),
            labels=options.label_filter(label),
            error=error,
            from_at=since,
            to=until,
            limit=size,
            cursor=cursor,
        ),
        limit,
    )
    show_runs(api, page)


@runs.command("show")
@watches
async def show_run(api: Api, run_id: RunId) -> None:
    """Show a run with its attempts."""
    run = await api.client.get_run(run_id)
    attempts = await api.client.attempts(run_id)

    def as_table() -> object:
        from rich.console import Group

        from noonmark.cli.show import facts

        return Group(facts(run_facts(run)), "", _attempt_table(attempts))

    api.show({"run": run, "attempts": attempts}, as_table)


@runs.command("follow")
@asks
async def follow(
    api: Api,
    run_id: RunId,
    within_s: Annotated[float | None, typer.Option("--within-s", min=0, help="Wait no longer than this.")] = None,
) -> None:
    """Tell what happens to a run until it has ended; exits with 9 if it did not succeed."""
    from noonmark.cli.waiting import follow_run

    await follow_run(api, run_id, aloud=True, within_s=within_s)


@runs.command("explain")
@watches
async def explain(api: Api, run_id: RunId) -> None:
    """Say why a run ran, waited, was tried again or died."""
    found = await api.client.explain_run(run_id)
    api.show(found, lambda: story_table(found.story))


@runs.command("cancel")
@changes
async def cancel_run(api: Api, run_id: RunId) -> None:
    """Cancel a run: at once if it waits, by telling its worker if it is going."""
    if api.dry_run:
        run = await api.client.get_run(run_id)
        api.held_back(f"cancel {run_id}, which is {run.state}", state=run.state)
        return
    _show_run(api, await api.client.cancel_run(run_id))


@runs.command("retry")
@changes
async def retry_run(api: Api, run_id: RunId) -> None:
    """Try a run again now: one that waits for its next attempt, or a dead one."""
    if api.dry_run:
        run = await api.client.get_run(run_id)
        api.held_back(f"try {run_id} again, which is {run.state}", state=run.state)
        return
    _show_run(api, await api.client.retry_run(run_id))


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


def show_runs(api: Api, page: Page[Run], *, of_one_job: bool = False) -> None:
    from noonmark.cli.show import first_line

    job = {} if of_one_job else {"job": lambda run: run.job_name or run.job}
    api.show_list(
        page,
        page.items,
        {
            "id": lambda run: run.id,
            **job,
            "state": lambda run: run.state,
            "attempt": lambda run: run.attempt,
            "due": lambda run: run.due_at,
            "finished": lambda run: run.finished_at,
            "error or why": lambda run: first_line(run.error) or run.why,
        },
        {
            "nominal": lambda run: run.nominal_at,
            "version": lambda run: run.version,
            "priority": lambda run: run.priority,
            "reason": lambda run: run.reason,
        },
        "No runs.",
    )


def story_table(story: list[StoryLine]) -> Any:
    from noonmark.cli.show import table

    return table(["at", "what happened"], [(line.at, line.sentence) for line in story], "Nothing is known of it.")


def _show_run(api: Api, run: Run) -> None:
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
