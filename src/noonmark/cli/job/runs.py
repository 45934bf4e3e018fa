"""`noonmark job trigger`, `runs` and `cancel`: the runs of a job."""

from typing import Annotated

import msgspec
import typer

from noonmark.cli import job_options as options
from noonmark.cli.job.group import jobs
from noonmark.cli.run import show_runs
from noonmark.cli.schedule_options import read_time
from noonmark.cli.session import Api, changes, gather, watches
from noonmark.cli.waiting import follow_run


@jobs.command("trigger")
@changes
async def trigger(
    api: Api,
    ref: options.Ref,
    input: options.InputOption = None,
    at: options.AtOption = None,
    priority: options.PriorityOption = None,
    dedup_key: Annotated[
        str | None, typer.Option("--dedup-key", help="The same key within a day leads to the same run.")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Until it has ended; 9 if it did not succeed.")] = False,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="The same, and tell what happens meanwhile.")] = False,
    within_s: Annotated[float | None, typer.Option("--within-s", min=0, help="Wait no longer than this.")] = None,
) -> None:
    """Run a job now, or once at a time, beside its schedule."""
    raw = options.read_input(input)
    moment = None if at is None else read_time("--at", at)
    if api.dry_run:
        job = await api.client.get_job(ref)
        when = "now" if moment is None else f"at {moment.isoformat()}"
        api.held_back(f"run {job.name} {when}", job=job.id, input=raw or job.input)
        return
    run_id = await api.client.trigger_job(
        ref, msgspec.UNSET if raw is None else raw, moment, priority, dedup_key=dedup_key
    )
    if wait or follow:
        await follow_run(api, run_id, aloud=follow, within_s=within_s)
    else:
        api.show({"run": run_id}, lambda: run_id)


@jobs.command("runs")
@watches
async def list_runs(
    api: Api,
    ref: options.Ref,
    state: Annotated[list[str] | None, typer.Option(help="Only in this state; repeatable.")] = None,
    limit: options.Limit = 20,
) -> None:
    """List the runs of a job, the newest first."""
    page = await gather(
        lambda size, cursor: api.client.find_runs(job=ref, states=state or (), limit=size, cursor=cursor), limit
    )
    show_runs(api, page, of_one_job=True)


@jobs.command("cancel")
@changes
async def cancel(api: Api, ref: options.Ref) -> None:
    """Cancel every live run of a job; the job itself goes on firing."""
    if api.dry_run:
        job = await api.client.get_job(ref)
        api.held_back(f"cancel the live runs of {job.name}", job=job.id)
        return
    stopped = await api.client.cancel_job_runs(ref)
    api.show(stopped, lambda: f"{stopped.cancelled} cancelled, {stopped.stopping} are being stopped by their workers.")
