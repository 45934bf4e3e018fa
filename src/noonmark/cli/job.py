"""`noonmark job`: make, read, change and trigger jobs."""

from typing import Annotated, Any

import msgspec
import typer

from noonmark.cli import job_options as options
from noonmark.cli.schedule_options import FORMS, PARTS, When, read_time, takes_when
from noonmark.cli.session import Api, asks, gather
from noonmark.errors import InvalidInput
from noonmark.model.job import DEFAULT_PRIORITY, Misfire
from noonmark.model.policy import Retry
from noonmark.schedule.spec import Manual
from noonmark.wire.resources import NO_INPUT, Job, JobPatch, JobSpec

jobs = typer.Typer(no_args_is_help=True, help="Make, read, change and trigger jobs.")
Limit = Annotated[int, typer.Option(min=1, help="How many at most.")]


@jobs.command("create")
@asks
@takes_when(FORMS | PARTS)
async def create(
    api: Api,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Unique in the tenant.")],
    task: Annotated[str, typer.Option(help="The task's name, as its app gives it.")],
    when: When,
    misfire: options.MisfireOption = None,
    misfire_window_s: options.MisfireWindowOption = None,
    jitter_s: options.JitterOption = None,
    input: options.InputOption = None,
    priority: options.PriorityOption = None,
    queue: options.QueueOption = None,
    timeout_s: options.TimeoutOption = None,
    max_attempts: options.AttemptsOption = None,
) -> None:
    """Create a job. Without a schedule it runs only when triggered."""
    spec = JobSpec(
        name=name,
        task=task,
        schedule=when.spec() or Manual(),
        input=options.read_input(input) or NO_INPUT,
        queue=queue or "default",
        priority=DEFAULT_PRIORITY if priority is None else priority,
        timeout_s=3600.0 if timeout_s is None else timeout_s,
        retry=Retry() if max_attempts is None else Retry(max_attempts=max_attempts),
        misfire=options.changed_misfire(Misfire(), misfire, misfire_window_s),
        jitter_s=jitter_s or 0.0,
    )
    _show_job(api, await api.client.create_job(spec))


@jobs.command("update")
@asks
@takes_when(FORMS | PARTS)
async def update(
    api: Api,
    ref: options.Ref,
    when: When,
    task: Annotated[str | None, typer.Option(help="The task's name, as its app gives it.")] = None,
    misfire: options.MisfireOption = None,
    misfire_window_s: options.MisfireWindowOption = None,
    jitter_s: options.JitterOption = None,
    input: options.InputOption = None,
    priority: options.PriorityOption = None,
    queue: options.QueueOption = None,
    timeout_s: options.TimeoutOption = None,
    max_attempts: options.AttemptsOption = None,
    if_version: Annotated[int | None, typer.Option(help="Only if the job still has this version.")] = None,
) -> None:
    """Change a job; what is left out stays as it is."""
    given: dict[str, Any] = {
        "task": task,
        "schedule": when.spec() if when.names_a_form else None,
        "input": options.read_input(input),
        "queue": queue,
        "priority": priority,
        "timeout_s": timeout_s,
        "jitter_s": jitter_s,
    }
    changes = {name: value for name, value in given.items() if value is not None}
    parts_of_schedule = when.given and not when.names_a_form
    parts_of_misfire = misfire is not None or misfire_window_s is not None
    if parts_of_schedule or parts_of_misfire or max_attempts is not None:
        # These are parts of a larger value: read, change the part, and write only if nobody else did meanwhile.
        job = await api.client.get_job(ref)
        if_version = job.version if if_version is None else if_version
        if parts_of_schedule:
            changes["schedule"] = when.applied_to(job.schedule)
        if parts_of_misfire:
            changes["misfire"] = options.changed_misfire(job.misfire, misfire, misfire_window_s)
        if max_attempts is not None:
            changes["retry"] = msgspec.structs.replace(job.retry, max_attempts=max_attempts)
    if not changes:
        raise InvalidInput("job", "nothing to change was given", "see noonmark job update --help")
    _show_job(api, await api.client.update_job(ref, JobPatch(**changes), if_version))


@jobs.command("list")
@asks
async def list_jobs(
    api: Api,
    prefix: Annotated[str | None, typer.Option(help="Only names that start with this.")] = None,
    limit: Limit = 100,
) -> None:
    """List jobs by name."""
    page = await gather(lambda size, cursor: api.client.list_jobs(name_prefix=prefix, limit=size, cursor=cursor), limit)

    def as_table() -> object:
        from noonmark.cli.show import schedule_text, table

        rows = [(j.name, j.state, schedule_text(j), j.task, j.queue, j.next_at, j.id) for j in page.items]
        return table(["name", "state", "schedule", "task", "queue", "next", "id"], rows, "No jobs.")

    api.show(page, as_table)
    if page.next_cursor is not None:
        typer.echo(f"The first {limit}; there are more: raise --limit.", err=True)


@jobs.command("show")
@asks
async def show_job(api: Api, ref: options.Ref) -> None:
    """Show a job."""
    _show_job(api, await api.client.get_job(ref))


@jobs.command("delete")
@asks
async def delete(api: Api, ref: options.Ref) -> None:
    """Delete a job; it fires no more."""
    await api.client.delete_job(ref)
    api.show({"deleted": ref}, lambda: f"Deleted {ref}.")


@jobs.command("pause")
@asks
async def pause(api: Api, ref: options.Ref) -> None:
    """Pause a job; it fires no more until it is resumed."""
    _show_job(api, await api.client.pause_job(ref))


@jobs.command("resume")
@asks
async def resume(api: Api, ref: options.Ref) -> None:
    """Resume a paused job."""
    _show_job(api, await api.client.resume_job(ref))


@jobs.command("trigger")
@asks
async def trigger(
    api: Api,
    ref: options.Ref,
    input: options.InputOption = None,
    at: options.AtOption = None,
    priority: options.PriorityOption = None,
) -> None:
    """Run a job now, or once at a time, beside its schedule."""
    raw = options.read_input(input)
    moment = None if at is None else read_time("--at", at)
    run_id = await api.client.trigger_job(ref, msgspec.UNSET if raw is None else raw, moment, priority)
    api.show({"run": run_id}, lambda: f"{run_id}")


@jobs.command("runs")
@asks
async def list_runs(api: Api, ref: options.Ref, limit: Limit = 20) -> None:
    """List the runs of a job, the newest first."""
    page = await gather(lambda size, cursor: api.client.list_runs(ref, limit=size, cursor=cursor), limit)

    def as_table() -> object:
        from noonmark.cli.show import first_line, table

        rows = [(r.id, r.state, r.attempt, r.due_at, r.finished_at, first_line(r.error) or r.why) for r in page.items]
        return table(["id", "state", "attempt", "due", "finished", "error or why"], rows, "No runs yet.")

    api.show(page, as_table)


def _show_job(api: Api, job: Job) -> None:
    def as_table() -> object:
        from noonmark.cli.show import facts, schedule_text

        return facts(
            [
                ("id", job.id),
                ("name", job.name),
                ("version", job.version),
                ("state", job.state),
                ("task", job.task),
                ("schedule", schedule_text(job)),
                ("fires", job.description),
                ("next", job.next_at),
                ("input", job.input),
                ("queue", job.queue),
                ("priority", job.priority),
                ("timeout", f"{job.timeout_s:g} s"),
                ("attempts", f"at most {job.retry.max_attempts}"),
                ("misfire", options.misfire_text(job.misfire)),
                ("jitter", f"{job.jitter_s:g} s"),
                ("created", job.created_at),
                ("updated", job.updated_at),
            ]
        )

    api.show(job, as_table)
