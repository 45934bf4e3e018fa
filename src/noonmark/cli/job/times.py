"""`noonmark job fires`, `skip`, `unskip`, `backfill` and `explain`: when a job fires, fired, or should have."""

from typing import Annotated, Any

import msgspec
import typer

from noonmark.cli import job_options as options
from noonmark.cli.job.group import jobs
from noonmark.cli.progress import progress
from noonmark.cli.run import story_table
from noonmark.cli.schedule_options import read_time
from noonmark.cli.session import Api, changes, watches
from noonmark.wire.jobs import Backfill, BackfillAnswer

Time = Annotated[str | None, typer.Option("--at", metavar="ISO", help="The one of this time; the next by default.")]


@jobs.command("fires")
@watches
async def fires(
    api: Api,
    ref: options.Ref,
    count: Annotated[int, typer.Option("--count", min=1, max=100, help="How many.")] = 10,
    from_at: Annotated[str | None, typer.Option("--from", metavar="ISO", help="After this time.")] = None,
) -> None:
    """List the times at which a job will fire."""
    found = await api.client.job_fires(ref, count, None if from_at is None else read_time("--from", from_at))

    def as_table() -> object:
        from rich.console import Group
        from rich.text import Text

        from noonmark.cli.show import table

        rows = [
            (
                fire.local[:19].replace("T", " "),
                f"{fire.zone} {fire.local[19:]}",
                f"{fire.nominal_at:%Y-%m-%d %H:%M:%S}",
                fire.due_at,
                "skipped" if fire.skipped else "",
                fire.note or "",
            )
            for fire in found.fires
        ]
        parts: list[Any] = [
            table(["fires", "offset", "in UTC", "starts", "", ""], rows, "It fires only when triggered.")
        ]
        if found.state == "paused":
            parts.append(Text("It is paused, and fires nothing until it is resumed.", style="yellow"))
        return Group(*parts, *(Text(f"! {notice.message}", style="yellow") for notice in found.notices))

    api.show(found, as_table)


@jobs.command("skip")
@changes
async def skip(api: Api, ref: options.Ref, at: Time = None) -> None:
    """Leave out one time: the next one, or that of --at. `job fires` names them."""
    moment = None if at is None else read_time("--at", at)
    if api.dry_run:
        await api.client.get_job(ref)
        api.held_back(f"skip {'the next fire' if moment is None else moment.isoformat()} of {ref}")
        return
    skipped = await api.client.skip_fire(ref, moment)
    api.show(skipped, lambda: f"Skipped: {ref} does not fire at {skipped.nominal_at.isoformat()}.")


@jobs.command("unskip")
@changes
async def unskip(api: Api, ref: options.Ref, at: Time = None) -> None:
    """Take a skip back."""
    moment = None if at is None else read_time("--at", at)
    if api.dry_run:
        await api.client.get_job(ref)
        api.held_back(f"take back the skip of {'the next fire' if moment is None else moment.isoformat()} of {ref}")
        return
    back = await api.client.unskip_fire(ref, moment)
    api.show(back, lambda: f"{ref} fires at {back.nominal_at.isoformat()} again.")


@jobs.command("backfill")
@changes
async def backfill(
    api: Api,
    ref: options.Ref,
    from_at: Annotated[str, typer.Option("--from", metavar="ISO", help="The first time to look at.")],
    to: Annotated[str, typer.Option("--to", metavar="ISO", help="The last one.")],
) -> None:
    """Run a job for times of the past that it has no runs for."""
    request = Backfill(from_at=read_time("--from", from_at), to=read_time("--to", to), dry_run=api.dry_run)
    whole: BackfillAnswer | None = None
    with progress("Backfilling", None) as advance:
        while True:
            part = await api.client.backfill_job(ref, request)
            whole = part if whole is None else _together(whole, part)
            advance(part.count + part.known)
            if part.next_from is None:
                break
            request = msgspec.structs.replace(request, from_at=part.next_from)
    runs = f"{whole.count} {'run' if whole.count == 1 else 'runs'}"
    said = f"Would make {runs}" if api.dry_run else f"Made {runs}"
    api.show(whole, lambda: f"{said}; {whole.known} of the times have one already.")


@jobs.command("explain")
@watches
async def explain(
    api: Api, ref: options.Ref, at: Annotated[str, typer.Option("--at", metavar="ISO", help="The time in question.")]
) -> None:
    """Say why a job did or did not run at a time."""
    found = await api.client.explain_job(ref, read_time("--at", at))

    def as_table() -> object:
        from rich.console import Group

        from noonmark.cli.show import facts

        around = [("run", found.run), ("before", found.previous_at), ("after", found.next_at)]
        said = [("answer", found.sentence), *((name, value) for name, value in around if value is not None)]
        return Group(facts(said), "", story_table(found.story))

    api.show(found, as_table)


def _together(one: BackfillAnswer, other: BackfillAnswer) -> BackfillAnswer:
    return msgspec.structs.replace(
        other, count=one.count + other.count, known=one.known + other.known, first_at=one.first_at or other.first_at,
        last_at=other.last_at or one.last_at,
    )  # fmt: skip
