"""`noonmark dead`: the runs that used up their attempts, and the way back."""

from typing import Annotated

import typer

from noonmark.cli.session import MAX_PAGE, Api, asks, gather
from noonmark.errors import InvalidInput

letters = typer.Typer(no_args_is_help=True, help="Look at dead letters, and run them again.")
OfJob = Annotated[str | None, typer.Option("--job", metavar="REF", help="Only those of this job (name or id).")]


@letters.command("list")
@asks
async def list_dead(
    api: Api,
    job: OfJob = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 100,
) -> None:
    """List dead letters."""
    page = await gather(lambda size, cursor: api.client.dead_letters(job, limit=size, cursor=cursor), limit)

    def as_table() -> object:
        from noonmark.cli.show import first_line, table

        rows = [(d.run, d.job, d.died_at, d.attempts, d.why, first_line(d.error)) for d in page.items]
        return table(["run", "job", "died", "attempts", "why", "error"], rows, "No dead letters.")

    api.show(page, as_table)


@letters.command("redrive")
@asks
async def redrive(
    api: Api,
    run_ids: Annotated[list[str] | None, typer.Argument(metavar="ID...", help="Runs to run again.")] = None,
    job: OfJob = None,
    every_one: Annotated[bool, typer.Option("--all", help="All dead letters of the tenant.")] = False,
) -> None:
    """Run dead letters again, with their attempts counted anew."""
    if sum((bool(run_ids), job is not None, every_one)) != 1:
        raise InvalidInput("ID", "say which dead letters", "name run ids, or use --job REF, or --all")
    if run_ids:
        redriven = await api.client.redrive(run_ids)
    else:
        redriven = await _redrive_pages(api, job)
    api.show({"redriven": redriven}, lambda: f"{redriven} {'run' if redriven == 1 else 'runs'} will run again.")


async def _redrive_pages(api: Api, job: str | None) -> int:
    """Page by page in the order of their keys, so that one which dies again at once is not taken twice."""
    redriven = 0
    cursor: str | None = None
    while True:
        page = await api.client.dead_letters(job, limit=MAX_PAGE, cursor=cursor)
        if page.items:
            redriven += await api.client.redrive([letter.run for letter in page.items])
        cursor = page.next_cursor
        if cursor is None:
            return redriven
