"""/v1/jobs/{job}: its runs, the end of all that are live, and those that are absent."""

from noonmark.api.call import Call
from noonmark.api.middleware.pages import Cursor, Limit
from noonmark.api.routes.run_list import States, read_page, states_of
from noonmark.store.reads.run_list import RunFilter
from noonmark.wire.commands import CancelRuns
from noonmark.wire.runs import RunPage, StoppedRuns


async def list_job_runs(
    ref: str, call: Call, limit: Limit = 100, cursor: Cursor = None, states: States = None
) -> RunPage:
    """The runs of a job, newest nominal time first: those to come, those under way, and those that ended."""
    wanted = RunFilter(job_id=(await call.job(ref)).job_id, states=states_of(states))
    return await read_page(call, wanted, cursor, limit)


async def cancel_job_runs(ref: str, call: Call) -> StoppedRuns:
    """Cancels every live run of the job: those that wait end at once, those that run are stopped by their workers.

    The job itself stays as it is and goes on firing.
    """
    job_id = (await call.job(ref)).job_id
    counts = await call.perform(CancelRuns(**call.asked(), job_id=job_id))
    return StoppedRuns(cancelled=counts.cancelled, stopping=counts.stopping)
