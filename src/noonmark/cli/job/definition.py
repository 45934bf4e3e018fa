"""`noonmark job create`, `update`, `list` and `show`: the definition of a job."""

from typing import Annotated, Any

import msgspec
import typer

from noonmark.cli import job_options as options
from noonmark.cli.job.group import JobState, jobs
from noonmark.cli.manifest.read import check_spec
from noonmark.cli.schedule_options import FORMS, PARTS, When, takes_when
from noonmark.cli.session import Api, changes, gather, watches
from noonmark.errors import InvalidInput
from noonmark.model.job import DEFAULT_PRIORITY, Misfire
from noonmark.model.policy import Retry
from noonmark.schedule.spec import Manual
from noonmark.wire.resources import NO_INPUT, Job, JobPatch, JobSpec


@jobs.command("create")
@changes
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
    label: options.LabelOption = None,
    upsert: Annotated[bool, typer.Option("--upsert", help="If there is one of this name, make it like this.")] = False,
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
        labels=options.read_labels(label),
    )
    if api.dry_run:
        check_spec(spec)
        verb = "create or change" if upsert else "create"
        api.held_back(f"{verb} the job {name}", job=spec)
        return
    _show_job(api, await (api.client.apply_job(spec) if upsert else api.client.create_job(spec)))


@jobs.command("update")
@changes
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
    label: options.LabelOption = None,
    drop_label: Annotated[
        list[str] | None, typer.Option("--drop-label", metavar="KEY", help="Take this label off; repeatable.")
    ] = None,
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
    changed = {name: value for name, value in given.items() if value is not None}
    parts_of_schedule = when.given and not when.names_a_form
    parts_of_misfire = misfire is not None or misfire_window_s is not None
    if parts_of_schedule or parts_of_misfire or label or drop_label or max_attempts is not None:
        # These are parts of a larger value: read, change the part, and write only if no other caller did meanwhile.
        job = await api.client.get_job(ref)
        if_version = job.version if if_version is None else if_version
        if parts_of_schedule:
            changed["schedule"] = when.applied_to(job.schedule)
        if parts_of_misfire:
            changed["misfire"] = options.changed_misfire(job.misfire, misfire, misfire_window_s)
        if max_attempts is not None:
            changed["retry"] = msgspec.structs.replace(job.retry, max_attempts=max_attempts)
        if label or drop_label:
            kept = {key: value for key, value in job.labels.items() if key not in (drop_label or ())}
            changed["labels"] = kept | options.read_labels(label)
    if not changed:
        raise InvalidInput("job", "nothing to change was given", "see noonmark job update --help")
    if api.dry_run:
        job = await api.client.get_job(ref)
        api.held_back(f"change {', '.join(changed)} of {job.name}", changes=JobPatch(**changed))
        return
    _show_job(api, await api.client.update_job(ref, JobPatch(**changed), if_version))


@jobs.command("list")
@watches
async def list_jobs(
    api: Api,
    prefix: Annotated[str | None, typer.Option(help="Only names that start with this.")] = None,
    label: options.LabelFilter = None,
    state: Annotated[JobState | None, typer.Option(help="Only those.")] = None,
    task: Annotated[str | None, typer.Option(help="Only of this task.")] = None,
    queue: Annotated[str | None, typer.Option(help="Only in this queue.")] = None,
    limit: options.Limit = 100,
) -> None:
    """List jobs by name."""
    page = await gather(
        lambda size, cursor: api.client.list_jobs(
            name_prefix=prefix,
            labels=options.label_filter(label),
            state=state,
            task=task,
            queue=queue,
            limit=size,
            cursor=cursor,
        ),
        limit,
    )
    from noonmark.cli.show import schedule_text

    api.show_list(
        page,
        page.items,
        {
            "name": lambda job: job.name,
            "state": lambda job: job.state,
            "schedule": schedule_text,
            "task": lambda job: job.task,
            "queue": lambda job: job.queue,
            "next": lambda job: job.next_at,
        },
        {
            "id": lambda job: job.id,
            "version": lambda job: job.version,
            "labels": lambda job: options.label_text(job.labels),
            "priority": lambda job: job.priority,
            "fires": lambda job: job.description,
            "updated": lambda job: job.updated_at,
        },
        "No jobs.",
    )
    if page.next_cursor is not None:
        typer.echo(f"The first {limit}; there are more: raise --limit.", err=True)


@jobs.command("show")
@watches
async def show_job(api: Api, ref: options.Ref) -> None:
    """Show a job."""
    _show_job(api, await api.client.get_job(ref))


def _show_job(api: Api, job: Job) -> None:
    def as_table() -> object:
        from noonmark.cli.show import facts, schedule_text

        said = [
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
            ("labels", options.label_text(job.labels)),
            ("created", job.created_at),
            ("updated", job.updated_at),
        ]
        if api.wide:
            said += [
                ("tenant", job.tenant),
                ("delivery", job.delivery),
                ("start deadline", job.start_deadline_s),
                ("retry", msgspec.to_builtins(job.retry)),
            ]
        return facts(said)

    api.show(job, as_table)
