"""Workers killed and frozen: their runs are granted again, and what a late one reports changes nothing."""

import signal

from noonmark.client import Client
from noonmark.model.reason import Outcome
from noonmark.wire.resources import JobSpec, Submission
from tests.chaos.fleet import Fleet, Process
from tests.chaos.load import Load
from tests.conftest import eventually

LONG_S = 9.0
"""Shorter than the silence after which a worker is given up, so that the late report is sent at once on waking up."""


async def test_runs_of_lost_workers_are_granted_again_and_late_reports_are_refused(fleet: Fleet, load: Load) -> None:
    async with Client(fleet.nodes[0].address) as client:
        killed, run_of_killed = await _due_heap(fleet, client, load, set())
        frozen, run_of_frozen = await _due_heap(fleet, client, load, {killed.pid})
        fleet.start_worker()
        killed.kill()
        frozen.signal(signal.SIGSTOP)
        lost_then_done = [(1, Outcome.LOST, False), (2, Outcome.SUCCEEDED, True)]
        for run in (run_of_killed, run_of_frozen):
            await eventually(lambda run=run: _ended(fleet, run), 25, 0.1)
            assert await fleet.history(run) == lost_then_done
        refused = await fleet.metric("noonmark_refused_reports_total")
        frozen.signal(signal.SIGCONT)
        await eventually(lambda: _works(fleet, frozen.pid), 20, 0.1)
        assert await fleet.history(run_of_frozen) == lost_then_done
        ran = [one for one in fleet.executions() if one.run == run_of_frozen]
        assert [(one.attempt, one.pid == frozen.pid) for one in ran] == [(1, True), (2, False)]
        print("late reports refused:", await fleet.metric("noonmark_refused_reports_total") - refused)
    await load.flows()
    await load.verify()


async def test_what_runs_at_most_once_begins_once_whatever_ends_its_worker(fleet: Fleet) -> None:
    """Signalled twice, or killed: a started attempt is nobody else's."""
    node = fleet.start_node()
    hurried, killed = fleet.start_worker(), fleet.start_worker()
    await fleet.ready(nodes=1, workers=2)
    async with Client(node.address) as client:
        await client.create_job(JobSpec(name="once", task="stay", delivery="at_most_once"))
        runs = await client.submit([Submission(job="once")] * 12)
        await eventually(lambda: len(fleet.executions()) == 12, 20)
        ends = {
            hurried.pid: (1, Outcome.RELEASED, True),
            killed.pid: (1, Outcome.LOST, True),
        }
        begun = {one.run: one.pid for one in fleet.executions()}
        hurried.signal(signal.SIGTERM)
        await eventually(lambda: "draining" in hurried.log.read_text(), 10)
        hurried.signal(signal.SIGTERM)
        killed.kill()
        fleet.start_worker()
        for run in runs:
            await eventually(lambda run=run: _ended(fleet, run), 25, 0.1)
            assert await fleet.history(run) == [ends[begun[run]]]
            told = (await client.explain_run(run)).story
            assert (told[-1].code, "at most once" in told[-1].sentence) == ("gave_up", True)
        assert {letter.reason for letter in (await client.dead_letters("once")).items} == {"at_most_once"}
        assert len(fleet.executions()) == 12


async def _due_heap(fleet: Fleet, client: Client, load: Load, but: set[int]) -> tuple[Process, str]:
    """A worker that has begun a long run, other than those named, and the run."""
    while True:
        run = await client.trigger_job("linger", input={"seconds": LONG_S})
        started = await eventually(lambda run=run: [one for one in fleet.executions() if one.run == run], 10)
        worker = next(worker for worker in fleet.workers if worker.pid == started[0].pid)
        if worker.pid not in but:
            return worker, run
        load.cancelled.add(run)
        await client.cancel_run(run)


async def _ended(fleet: Fleet, run: str) -> bool:
    return any(final for _, _, final in await fleet.history(run))


async def _works(fleet: Fleet, pid: int) -> bool:
    """It has executed something new, and the end of that was accepted."""
    mine = [one for one in fleet.executions() if one.pid == pid and one.task == "work"]
    return bool(mine) and (mine[-1].attempt, Outcome.SUCCEEDED, True) in await fleet.history(mine[-1].run)
