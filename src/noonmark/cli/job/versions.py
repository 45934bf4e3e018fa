"""`noonmark job versions`, `diff` and `rollback`: earlier definitions of a job."""

from typing import Annotated, Any

import msgspec
import typer

from noonmark.cli import job_options as options
from noonmark.cli.job.group import jobs
from noonmark.cli.session import Api, changes, watches


@jobs.command("versions")
@watches
async def versions(api: Api, ref: options.Ref) -> None:
    """List the versions of a job, the newest first."""
    found = await api.client.job_versions(ref)
    api.show_list(
        found,
        found,
        {
            "version": lambda version: version.get("version"),
            "created": lambda version: version.get("created_at"),
            "task": lambda version: _spec(version).get("task"),
            "schedule": lambda version: _spec(version).get("schedule"),
        },
        {"definition": _spec},
    )


@jobs.command("diff")
@watches
async def diff(
    api: Api,
    ref: options.Ref,
    before: Annotated[
        int | None, typer.Option("--from", min=1, help="This version; the last but one by default.")
    ] = None,
    after: Annotated[int | None, typer.Option("--to", min=1, help="To this one; the current by default.")] = None,
) -> None:
    """Show what changed between two versions of a job."""
    if after is None:
        after = (await api.client.get_job(ref)).version
    found = await api.client.diff_job(ref, max(after - 1, 1) if before is None else before, after)

    def as_table() -> object:
        from rich.console import Group

        from noonmark.cli.show import table

        rows = [(change.path, _value(change.before), _value(change.after)) for change in found.differences]
        columns = ["field", f"version {found.before}", f"version {found.after}"]
        return Group(table(columns, rows, f"Versions {found.before} and {found.after} say the same."))

    api.show(found, as_table)


@jobs.command("rollback")
@changes
async def rollback(
    api: Api, ref: options.Ref, version: Annotated[int, typer.Option("--to", min=1, help="What this version said.")]
) -> None:
    """Make a job as it was in an earlier version; that is a new version."""
    if api.dry_run:
        found = await api.client.diff_job(ref, (await api.client.get_job(ref)).version, version)
        api.held_back(f"make {ref} as it was in version {version}", differences=found.differences)
        return
    job = await api.client.roll_back_job(ref, version)
    api.show(job, lambda: f"{job.name} is as it was in version {version}; this is version {job.version}.")


def _spec(version: dict[str, Any]) -> dict[str, Any]:
    found = version.get("spec")
    return found if isinstance(found, dict) else {}


def _value(value: Any) -> Any:
    return value if isinstance(value, str) or value is None else msgspec.json.encode(value).decode()
