"""Waiting for a run to end, and ending as it did."""

import typer

from noonmark.cli.exits import Exit
from noonmark.cli.output import Output
from noonmark.cli.session import Api
from noonmark.errors import NoonmarkError
from noonmark.wire.resources import Attempt, Run


class NotEndedYet(NoonmarkError):
    code, exit_code = "still_running", int(Exit.RUN_FAILED)


async def follow_run(api: Api, run_id: str, *, aloud: bool, within_s: float | None = None) -> None:
    """Shows the run at its end, and each state before it if `aloud`; exits with 9 unless it succeeded."""
    from noonmark.cli.show import console

    telling = aloud and api.output in (Output.TABLE, Output.WIDE)
    screen = console()
    last: Run | None = None
    try:
        async for run in api.client.follow_run(run_id, timeout_s=within_s):
            if telling:
                screen.print(_line(run, last))
            last = run
    except TimeoutError as error:
        raise NotEndedYet(str(error), fix=f"follow it: noonmark run follow {run_id}") from None
    assert last is not None
    attempts = await api.client.attempts(run_id)
    final = max(attempts, key=lambda attempt: attempt.attempt, default=None)
    api.show({"run": last, "attempts": attempts}, lambda: _ending(last, final, telling))
    if last.state != "succeeded":
        raise typer.Exit(Exit.RUN_FAILED)


def _line(run: Run, before: Run | None) -> object:
    from rich.text import Text

    from noonmark.cli.show import plain, style_of

    at = plain(run.finished_at) if run.finished_at else plain(run.due_at)
    said = run.state if before is None or before.state != run.state else f"{run.state}, attempt {run.attempt}"
    return Text(f"{at}  {said}: {plain(run.why)}", style=style_of(run.state))


def _ending(run: Run, final: Attempt | None, shown: bool) -> object:
    from rich.text import Text

    from noonmark.cli.show import plain, style_of

    lines = [] if shown else [f"{run.id}  {run.state}: {plain(run.why)}"]
    if run.error:
        lines.append(run.error.rstrip())
    elif final is not None and final.result is not None:
        lines.append(f"result: {plain(final.result)}")
    return Text("\n".join(lines) if lines else f"{run.id}  {run.state}", style=style_of(run.state))
