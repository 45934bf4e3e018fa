"""`noonmark job pause`, `resume` and `delete`: of named jobs, or of all that match."""

import asyncio
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from noonmark.cli import job_options as options
from noonmark.cli.job.group import JobState, jobs
from noonmark.cli.session import Api, changes
from noonmark.errors import InvalidInput
from noonmark.wire.bulk import Action, BulkFailure, BulkJobs, BulkJobsAnswer, JobSelection

_PAST: dict[Action, str] = {"pause": "Paused", "resume": "Resumed", "delete": "Deleted"}
_AT_ONCE = 16

Prefix = Annotated[str | None, typer.Option("--prefix", help="All whose names start with this.")]
OfTask = Annotated[str | None, typer.Option("--task", help="All of this task.")]
OfQueue = Annotated[str | None, typer.Option("--queue", help="All in this queue.")]
OfState = Annotated[JobState | None, typer.Option("--state", help="All in this state.")]


def _command(action: Action, help: str) -> None:
    async def act(
        api: Api,
        refs: options.Refs = None,
        prefix: Prefix = None,
        label: options.LabelFilter = None,
        task: OfTask = None,
        queue: OfQueue = None,
        state: OfState = None,
        yes: options.Yes = False,
    ) -> None:
        filters = JobSelection(
            name_prefix=prefix,
            labels=options.label_filter(label),
            state=None if state is None else state.value,
            task=task,
            queue=queue,
        )
        await _act(api, action, refs or [], filters, yes)

    act.__doc__ = help
    act.__name__ = f"{action}_jobs"
    jobs.command(action)(changes(act))


async def _act(api: Api, action: Action, refs: list[str], filters: JobSelection, yes: bool) -> None:
    if bool(refs) == (filters != JobSelection()):
        raise InvalidInput("REF", f"say which jobs to {action}", "name them, or use --label, --prefix, --task, --queue")
    if refs:
        await _act_on_names(api, action, refs)
    else:
        await _act_on_matches(api, action, filters, yes)


async def _act_on_names(api: Api, action: Action, refs: list[str]) -> None:
    calls: dict[Action, Callable[[str], Any]] = {
        "pause": api.client.pause_job,
        "resume": api.client.resume_job,
        "delete": api.client.delete_job,
    }
    call = api.client.get_job if api.dry_run else calls[action]
    places = asyncio.Semaphore(_AT_ONCE)

    async def one(ref: str) -> None:
        async with places:
            await call(ref)

    try:
        async with asyncio.TaskGroup() as group:
            for ref in refs:
                group.create_task(one(ref))
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    if not api.held_back(f"{action} {', '.join(refs)}", jobs=refs):
        api.show({"action": action, "jobs": refs}, lambda: f"{_PAST[action]} {', '.join(refs)}.")


async def _act_on_matches(api: Api, action: Action, filters: JobSelection, yes: bool) -> None:
    """Counts first, and does it only to as many as were counted."""
    counted = await api.client.act_on_jobs(BulkJobs(action=action, filter=filters, dry_run=True))
    some = ", ".join(counted.sample) + (", …" if counted.matched > len(counted.sample) else "")
    if api.held_back(f"{action} {_number(counted.matched)}: {some or 'none'}", matched=counted.matched):
        return
    if counted.matched and not yes:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise InvalidInput(
                "--yes", f"this would {action} {_number(counted.matched)}", "look at them with --dry-run"
            )
        if not typer.confirm(f"{action.capitalize()} {_number(counted.matched)} ({some})?", err=True):
            raise typer.Exit(1)
    done = await _through(api, action, filters, counted)
    answer = {"action": action, "matched": counted.matched, "done": done[0], "failed": done[1]}
    api.show(answer, lambda: f"{_PAST[action]} {_number(done[0])}.")
    for failure in done[1]:
        typer.echo(f"error: {failure.job}: {failure.detail}", err=True)
    if done[1]:
        raise typer.Exit(1)


async def _through(
    api: Api, action: Action, filters: JobSelection, counted: BulkJobsAnswer
) -> tuple[int, list[BulkFailure]]:
    done, failed = 0, list[BulkFailure]()
    cursor: str | None = None
    expect: int | None = counted.matched
    while True:
        request = BulkJobs(action=action, filter=filters, expect=expect, confirm=expect is None, cursor=cursor)
        answer = await api.client.act_on_jobs(request)
        done += answer.done
        failed += answer.failed
        cursor, expect = answer.next_cursor, None
        if cursor is None:
            return done, failed


def _number(count: int) -> str:
    return "1 job" if count == 1 else f"{count} jobs"


_command("pause", "Pause jobs; they fire no more until they are resumed.")
_command("resume", "Resume paused jobs.")
_command("delete", "Delete jobs; they fire no more.")
