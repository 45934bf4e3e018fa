"""`noonmark schedule`: previews of a schedule, worked out here; only --crowd asks the server."""

from typing import Annotated, Any

import typer

from noonmark.cli import schedule_options as options
from noonmark.cli.session import Api, asks
from noonmark.clock import own_time_us
from noonmark.model.job import check_name
from noonmark.schedule import instant_us
from noonmark.schedule.preview import MAX_FIRES, Preview, preview

schedules = typer.Typer(no_args_is_help=True, help="Look at what a schedule would do.")
DEFAULT_TENANT_ID = 1


@schedules.callback()
def group() -> None:
    """Look at what a schedule would do."""


@schedules.command("explain")
@asks
@options.takes_when(options.PARTS)
async def explain(
    api: Api,
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help='Any form: "0 9 * * 1-5", 5m, FREQ=…, "every weekday at 9:30".')
    ],
    when: options.When,
    count: Annotated[int, typer.Option(min=1, max=MAX_FIRES, help="How many fires to show.")] = 10,
    jitter_s: Annotated[float, typer.Option("--jitter-s", min=0, max=86_400, help="The job's jitter.")] = 0.0,
    name: Annotated[str | None, typer.Option(help="The job's name, which decides H.")] = None,
    from_at: Annotated[str | None, typer.Option("--from", metavar="ISO", help="As if it were this time.")] = None,
    crowd: Annotated[bool, typer.Option("--crowd", help="Ask the server who else fires then.")] = False,
) -> None:
    """Say in English when a schedule fires, list its next times, and warn of surprises."""
    spec = when.reading(text)
    moment = None if from_at is None else options.read_time("--from", from_at, when.tz)
    if name is not None:
        check_name("--name", name)
    if crowd:
        shown = await api.client.preview_schedule(
            spec, tz=when.tz, name=name, jitter_s=jitter_s, count=count, from_at=moment
        )
    else:
        shown = preview(
            spec,
            now_us=own_time_us() if moment is None else instant_us(moment),
            jitter_s=jitter_s,
            key="" if name is None else f"{DEFAULT_TENANT_ID}/{name}",
            count=count,
            tz=when.tz,
        )
    api.show(shown, lambda: _as_table(shown))


def _as_table(shown: Preview) -> Any:
    from rich.console import Group
    from rich.text import Text

    from noonmark.cli.show import facts, table

    said = [("fires", shown.description), ("canonical", shown.canonical), ("zone", shown.tz)]
    if shown.last_at is not None:
        said.append(("last", f"{shown.last_at:%Y-%m-%d %H:%M:%S} UTC"))
    fires = [
        (
            fire.local[:19].replace("T", " "),
            f"{fire.zone} {fire.local[19:]}",
            f"{fire.at:%Y-%m-%d %H:%M:%S}",
            fire.note or "",
        )
        for fire in shown.fires
    ]
    parts: list[Any] = [
        facts(said),
        "",
        table([f"next in {shown.tz}", "offset", "in UTC", ""], fires, "No times are known ahead."),
    ]
    if shown.warnings:
        parts += ["", *(Text(f"! {notice.message}", style="yellow") for notice in shown.warnings)]
    return Group(*parts)
