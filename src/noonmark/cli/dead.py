"""`noonmark dead`: the runs that used up their attempts, the way back, and the way out."""

import sys
from typing import Annotated

import typer

from noonmark.cli import job_options as options
from noonmark.cli.progress import progress
from noonmark.cli.session import Api, changes, gather, watches
from noonmark.errors import InvalidInput
from noonmark.wire.runs import DeadMatch, Discard, Redrive

letters = typer.Typer(no_args_is_help=True, help="Look at dead letters, and run them again or discard them.")
AT_ONCE = 1000
OfJob = Annotated[
    str | None,
    typer.Option("--job", metavar="REF", help="Those of this job (name or id).", autocompletion=options.complete_jobs),
]
OfError = Annotated[str | None, typer.Option("--error", metavar="TEXT", help="Those with this in their error.")]
RunIds = Annotated[list[str] | None, typer.Argument(metavar="ID...", help="These runs.")]
EveryOne = Annotated[bool, typer.Option("--all", help="All dead letters of the tenant.")]


@letters.command("list")
@watches
async def list_dead(api: Api, job: OfJob = None, error: OfError = None, limit: options.Limit = 100) -> None:
    """List dead letters, the latest first."""
    from noonmark.cli.show import first_line

    page = await gather(
        lambda size, cursor: api.client.dead_letters(job, error=error, limit=size, cursor=cursor), limit
    )
    api.show_list(
        page,
        page.items,
        {
            "run": lambda letter: letter.run,
            "job": lambda letter: letter.job,
            "died": lambda letter: letter.died_at,
            "attempts": lambda letter: letter.attempts,
            "why": lambda letter: letter.why,
            "error": lambda letter: first_line(letter.error),
        },
        {
            "nominal": lambda letter: letter.nominal_at,
            "version": lambda letter: letter.version,
            "input": lambda letter: letter.input,
        },
        "No dead letters.",
    )


@letters.command("redrive")
@changes
async def redrive(
    api: Api, run_ids: RunIds = None, job: OfJob = None, error: OfError = None, every_one: EveryOne = False
) -> None:
    """Run dead letters again, with their attempts counted anew."""
    filters = _chosen(run_ids, job, error, every_one)
    request = Redrive(runs=run_ids) if run_ids else Redrive(filter=filters, limit=AT_ONCE)
    if api.dry_run:
        found = await api.client.redrive_matching(Redrive(runs=run_ids, filter=filters, limit=10_000, dry_run=True))
        api.held_back(f"run {_number(found.matched, found.more)} again", matched=found.matched, more=found.more)
        return
    done = 0
    with progress("Redriving", None) as advance:
        while True:
            part = await api.client.redrive_matching(request)
            done += part.redriven
            advance(part.redriven)
            if not part.more or not part.redriven:
                break
    api.show({"redriven": done}, lambda: f"{_number(done)} will run again.")


@letters.command("discard")
@changes
async def discard(
    api: Api,
    run_ids: RunIds = None,
    job: OfJob = None,
    error: OfError = None,
    every_one: EveryOne = False,
    yes: options.Yes = False,
) -> None:
    """Take dead letters away for good."""
    filters = _chosen(run_ids, job, error, every_one)
    found = await api.client.discard(Discard(runs=run_ids, filter=filters, limit=10_000, dry_run=True))
    if api.held_back(f"discard {_number(found.matched, found.more)}", matched=found.matched, more=found.more):
        return
    if found.matched and not run_ids and not yes:
        many = _number(found.matched, found.more)
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise InvalidInput("--yes", f"this would discard {many}", "look at them with --dry-run")
        if not typer.confirm(f"Discard {many} for good?", err=True):
            raise typer.Exit(1)
    done = 0
    while found.matched:
        part = await api.client.discard(Discard(runs=run_ids, filter=filters, limit=AT_ONCE))
        done += part.discarded
        if not part.more or not part.discarded:
            break
    api.show({"discarded": done}, lambda: f"{_number(done)} discarded.")


def _chosen(run_ids: list[str] | None, job: str | None, error: str | None, every_one: bool) -> DeadMatch | None:
    """None for runs that are named by their ids."""
    if sum((bool(run_ids), job is not None or error is not None, every_one)) != 1:
        fix = "name run ids, or use --job and --error, or --all"
        raise InvalidInput("ID", "say in one way which dead letters", fix)
    return None if run_ids else DeadMatch(job=job, error=error)


def _number(count: int, more: bool = False) -> str:
    return f"{count}{' or more' if more else ''} {'run' if count == 1 and not more else 'runs'}"
