"""`noonmark apply`: makes the server's jobs those of a manifest, after showing what that takes."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import msgspec
import typer

from noonmark.cli.exits import Exit
from noonmark.cli.manifest.plan import FieldChange, ManifestPlan, PlanStep, make_plan
from noonmark.cli.manifest.read import Manifests, read_manifests
from noonmark.cli.output import to_json
from noonmark.cli.progress import progress
from noonmark.cli.session import MAX_PAGE, Api, changes
from noonmark.client.client import Client
from noonmark.errors import InvalidInput, NoonmarkError, NotFound
from noonmark.wire.manifest import MANAGED_BY, manifest_schema
from noonmark.wire.resources import Job, JobSpec

AT_ONCE = 16
_MARKS = {"add": ("+", "green"), "change": ("~", "yellow"), "remove": ("-", "red")}


def _show_schema(wanted: bool) -> None:
    if wanted:
        typer.echo(to_json(manifest_schema()))
        raise typer.Exit


@changes
async def apply(
    api: Api,
    file: Annotated[
        list[str], typer.Option("--file", "-f", metavar="PATH", help="A manifest, a folder of them, or - ; repeatable.")
    ],
    prune: Annotated[bool, typer.Option("--prune", help="Remove jobs with its label that it names no more.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="End with 10 if there was something to do.")] = False,
    schema: Annotated[
        bool, typer.Option("--schema", callback=_show_schema, is_eager=True, help="Show the JSON Schema of manifests.")
    ] = False,
) -> None:
    """Make the jobs as a manifest says, after showing what that adds, changes and removes."""
    wanted = read_manifests(file)
    if prune and not wanted.owners:
        raise InvalidInput(
            "--prune", "the manifest does not say whose jobs it holds", "begin it with `managed_by: NAME`"
        )
    plan = await apply_manifests(api, wanted, prune=prune, yes=yes)
    if plan.steps and exit_code:
        raise typer.Exit(Exit.DIFFERENT)


async def apply_manifests(
    api: Api, wanted: Manifests, *, prune: bool = False, yes: bool = False, details: dict[str, Any] | None = None
) -> ManifestPlan:
    """Shows the plan, and carries it out unless this is a dry run. `details` go into the output for programs."""
    plan = await plan_for(api.client, wanted, prune=prune)
    api.show(_summary(plan, api.dry_run) | (details or {}), lambda: _drawn(plan))
    if plan.steps and not api.dry_run:
        _confirm(plan, yes)
        await carry_out(api.client, plan)
        typer.echo(_done(plan), err=True)
    return plan


async def plan_for(client: Client, wanted: Manifests, *, prune: bool) -> ManifestPlan:
    """Reads no more than the jobs that the manifest names, and with `prune` those that it manages."""
    known: dict[str, Job] = {}

    async def look(name: str) -> None:
        try:
            known[name] = await client.get_job(name)
        except NotFound:
            return

    await _each(sorted(wanted.jobs), look, "Reading")
    removable: list[Job] = []
    if prune:
        for owner in sorted(wanted.owners):
            removable += [job for job in await managed_jobs(client, owner) if job.name not in wanted.jobs]
    return make_plan(wanted, known, removable)


async def managed_jobs(client: Client, owner: str) -> list[Job]:
    found: list[Job] = []
    cursor: str | None = None
    while True:
        page = await client.list_jobs(labels=[f"{MANAGED_BY}:{owner}"], limit=MAX_PAGE, cursor=cursor)
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            return found


async def carry_out(client: Client, plan: ManifestPlan) -> None:
    """Does all steps that it can; raises one error for all that failed."""
    failed: dict[str, NoonmarkError] = {}

    async def act(step: PlanStep) -> None:
        try:
            await _act(client, step)
        except NoonmarkError as error:
            failed[step.name] = error

    await _each(plan.steps, act, "Applying")
    if failed:
        first = next(iter(failed.values()))
        problems = "\n".join(f"{name}: {error}" for name, error in sorted(failed.items()))
        first.args = (problems,)
        first.message, first.field = f"{len(failed)} of {len(plan.steps)} were not done:\n{problems}", None
        first.fix = None
        raise first


async def upsert(client: Client, spec: JobSpec, version: int | None) -> None:
    """Without a version there must be no such job; with one it must still have it: the plan was made for that."""
    if version is None:
        await client.create_job(spec)
    else:
        await client.apply_job(spec, version)


async def _act(client: Client, step: PlanStep) -> None:
    if step.action == "remove":
        await client.delete_job(step.name)
        return
    if step.spec is not None:
        await upsert(client, step.spec, step.version)
    if step.paused is not None:
        await (client.pause_job(step.name) if step.paused else client.resume_job(step.name))


async def _each(items: list[Any], act: Callable[[Any], Awaitable[None]], title: str) -> None:
    """A few at a time, with a bar if there are many."""
    places = asyncio.Semaphore(AT_ONCE)
    with progress(title, len(items)) as advance:

        async def one(item: Any) -> None:
            async with places:
                await act(item)
                advance()

        try:
            async with asyncio.TaskGroup() as group:
                for item in items:
                    group.create_task(one(item))
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None


def _confirm(plan: ManifestPlan, yes: bool) -> None:
    """On a terminal it asks; elsewhere nobody can answer, and what removes jobs must be meant."""
    if yes:
        return
    if sys.stdin.isatty() and sys.stdout.isatty():
        if not typer.confirm("Do this?", err=True):
            raise typer.Exit(1)
    elif plan.count("remove"):
        raise InvalidInput("--prune", f"this removes {plan.count('remove')} jobs, and nobody is asked", "add --yes")


def _summary(plan: ManifestPlan, dry_run: bool) -> dict[str, Any]:
    """For programs: the steps without what is only for us."""
    steps = [
        {
            "action": step.action,
            "name": step.name,
            "changes": {change.field: {"before": change.before, "after": change.after} for change in step.changes},
        }
        for step in plan.steps
    ]
    return {"dry_run": dry_run, "steps": steps, "unchanged": plan.unchanged}


def _drawn(plan: ManifestPlan) -> Any:
    from rich.console import Group
    from rich.text import Text

    if not plan.steps:
        return f"Nothing to do: {_jobs(plan.unchanged)} as the manifest says."
    parts: list[Text] = []
    for step in plan.steps:
        mark, colour = _MARKS[step.action]
        parts.append(Text(f"{mark} {step.name}", style=colour))
        parts += [Text(f"    {_line(step, change)}", style=colour) for change in step.changes]
    unchanged = f"; {plan.unchanged} unchanged" if plan.unchanged else ""
    return Group(*parts, Text(f"\n{plan.summary()}{unchanged}.", style="bold"))


def _line(step: PlanStep, change: FieldChange) -> str:
    if step.action == "add":
        return f"{change.field}: {_value(change.after)}"
    return f"{change.field}: {_value(change.before)} → {_value(change.after)}"


def _value(value: Any) -> str:
    from noonmark.cli.show import plain

    return plain(value if isinstance(value, str) or value is None else msgspec.json.encode(value).decode())


def _jobs(count: int) -> str:
    return "1 job is" if count == 1 else f"{count} jobs are"


def _done(plan: ManifestPlan) -> str:
    return f"Done: {plan.count('add')} added, {plan.count('change')} changed, {plan.count('remove')} removed."
