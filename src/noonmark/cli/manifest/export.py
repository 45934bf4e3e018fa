"""`noonmark export`: a manifest of the jobs that there are, which applies back to no difference."""

from typing import Annotated, Any

import msgspec
import typer

from noonmark.cli.job_options import LabelFilter, label_filter
from noonmark.cli.manifest.plan import spec_of
from noonmark.cli.output import Output, to_json, to_yaml
from noonmark.cli.progress import progress
from noonmark.cli.session import MAX_PAGE, Api, asks
from noonmark.schedule import read_schedule, write_schedule
from noonmark.schedule.errors import ScheduleError
from noonmark.wire.manifest import MANAGED_BY
from noonmark.wire.resources import Job, JobSpec

HINT = "# yaml-language-server: $schema=manifest.schema.json"


@asks
async def export(
    api: Api,
    label: LabelFilter = None,
    prefix: Annotated[str | None, typer.Option(help="Only names that start with this.")] = None,
    managed_by: Annotated[
        str | None, typer.Option("--managed-by", metavar="NAME", help="Only those of this manifest, under its name.")
    ] = None,
) -> None:
    """Write jobs as a manifest. In YAML unless -o json is given."""
    labels = label_filter(label)
    if managed_by is not None:
        labels.append(f"{MANAGED_BY}:{managed_by}")
    jobs: list[Job] = []
    cursor: str | None = None
    with progress("Reading", None) as advance:
        while True:
            page = await api.client.list_jobs(name_prefix=prefix, labels=labels, limit=MAX_PAGE, cursor=cursor)
            jobs += page.items
            advance(len(page.items))
            cursor = page.next_cursor
            if cursor is None:
                break
    manifest = to_manifest(jobs, managed_by)
    typer.echo(to_json(manifest) if api.output is Output.JSON else f"{HINT}\n{to_yaml(manifest)}")


def to_manifest(jobs: list[Job], managed_by: str | None = None) -> dict[str, Any]:
    named = {} if managed_by is None else {"managed_by": managed_by}
    return {**named, "jobs": [_entry(job, managed_by) for job in jobs]}


def entry_of(spec: JobSpec) -> dict[str, Any]:
    """The fields that are not as they are by default; the schedule as text if that says it all."""
    plain = JobSpec(name="", task="")
    found: dict[str, Any] = {"name": spec.name, "task": spec.task}
    for name in JobSpec.__struct_fields__:
        value = getattr(spec, name)
        if name in found or value == getattr(plain, name):
            continue
        if name == "input":
            if (decoded := msgspec.json.decode(bytes(value))) is not None:
                found[name] = decoded
        else:
            found[name] = _schedule(spec) if name == "schedule" else msgspec.to_builtins(value)
    return found


def _entry(job: Job, managed_by: str | None) -> dict[str, Any]:
    found = entry_of(spec_of(job))
    if managed_by is not None:
        labels = {key: value for key, value in found.pop("labels", {}).items() if key != MANAGED_BY}
        if labels:
            found["labels"] = labels
    if job.state == "paused":
        found["paused"] = True
    return found


def _schedule(spec: JobSpec) -> Any:
    text = write_schedule(spec.schedule)
    try:
        if read_schedule(text) == spec.schedule:
            return text
    except ScheduleError:
        pass  # not every schedule of old fits in one string
    return msgspec.to_builtins(spec.schedule)
