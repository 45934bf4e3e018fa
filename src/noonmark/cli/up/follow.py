"""The sample job: made once, then a line for each of its runs."""

import asyncio
import contextlib

import msgspec

from noonmark.cli.child import Say
from noonmark.cli.show import duration_text, first_line
from noonmark.client import Client
from noonmark.errors import DuplicateName, NoonmarkError, TooBusy, Unavailable
from noonmark.schedule.spec import Every
from noonmark.wire.resources import Attempt, JobSpec

SAMPLE = "hello"
LOOK_S = 0.5
_LATEST = 20
_PATIENCE = 20


async def make_sample(client: Client) -> None:
    """Leaves a job of that name as it is."""
    from noonmark.sample import app

    spec = JobSpec(
        name=SAMPLE,
        task=SAMPLE,
        schedule=Every(every="5s"),
        input=msgspec.Raw(b'{"name":"world"}'),
        timeout_s=60.0,
    )
    for patience in range(_PATIENCE, -1, -1):
        try:
            await client.declare_tasks(sorted(app.tasks))
            await client.create_job(spec)
            return
        except DuplicateName:
            return
        except (Unavailable, TooBusy):
            if patience == 0:
                raise
            await asyncio.sleep(LOOK_S)


class RunFollower:
    """Tells each run of a job once, when it has ended; those that had ended before the first look are not told."""

    def __init__(self, client: Client, job: str, say: Say) -> None:
        self._client = client
        self._job = job
        self._say = say
        self._shown: dict[str, None] | None = None

    async def run(self) -> None:
        while True:
            # The node is away, which is said elsewhere; or the job was deleted, and may come back.
            with contextlib.suppress(NoonmarkError, msgspec.MsgspecError):
                await self.tick()
            await asyncio.sleep(LOOK_S)

    async def tick(self) -> None:
        page = await self._client.list_runs(self._job, limit=_LATEST)
        ended = [run.id for run in page.items if run.finished_at is not None]
        if self._shown is None:
            self._shown = dict.fromkeys(ended)
            return
        for run_id in reversed(ended):
            if run_id in self._shown:
                continue
            attempts = await self._client.attempts(run_id)
            self._shown[run_id] = None
            if attempts:
                self._say(run_line(self._job, max(attempts, key=lambda attempt: attempt.attempt)))
        while len(self._shown) > 2 * _LATEST:
            del self._shown[next(iter(self._shown))]


def run_line(job: str, last: Attempt) -> str:
    """12:00:05  hello  succeeded in 3 ms, started 4 ms after due"""
    shown = (last.started_at or last.finished_at).astimezone().strftime("%H:%M:%S")
    line = f"{shown}  {job}  {last.outcome.replace('_', ' ')}"
    if last.started_at is not None:
        took = duration_text((last.finished_at - last.started_at).total_seconds())
        late = duration_text((last.started_at - last.due_at).total_seconds())
        line += f" in {took}, started {late} after due"
    return f"{line}: {first_line(last.error)}" if last.error else line
