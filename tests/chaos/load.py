"""A continuous load, and the check afterwards that every promise held."""

import asyncio
from collections import Counter
from contextlib import suppress
from datetime import timedelta
from itertools import pairwise

from msgspec import Raw

from noonmark import every
from noonmark.client import Client
from noonmark.errors import NoonmarkError
from noonmark.model.ids import run_text
from noonmark.model.policy import Retry
from noonmark.model.reason import Outcome
from noonmark.schedule import Every, Manual
from noonmark.wire.resources import JobPatch, JobSpec, Submission
from tests.chaos.fleet import Fleet
from tests.conftest import eventually

TICKING = [f"ticking-{n}" for n in range(10)]
BULK = [f"bulk-{n}" for n in range(10)]
FLAKY = [f"flaky-{n}" for n in range(4)]
DELAYED = [f"delayed-{n}" for n in range(8)]
SECOND_US = 1_000_000


class Load:
    """Jobs that fire every second, and submissions in bulk to every node; what was acknowledged is remembered."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self.acknowledged: list[str] = []
        self.cancelled: set[str] = set()
        self.refused = 0
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        retry = Retry(max_attempts=20, base_s=0.2, max_delay_s=1.0)
        specs = [JobSpec(name=name, task="work", schedule=every("1s"), retry=retry) for name in TICKING]
        specs += [JobSpec(name=name, task="work", retry=retry) for name in BULK]
        specs += [JobSpec(name=name, task="flaky", retry=retry) for name in FLAKY]
        specs.append(JobSpec(name="linger", task="linger", retry=retry))
        delay = Every("1s", pace="delay")
        for n, name in enumerate(DELAYED):
            task, input = ("work", "null") if n % 2 else ("linger", '{"seconds": 0.7}')
            specs.append(JobSpec(name=name, task=task, input=Raw(input), schedule=delay, retry=retry))
        async with Client(self.fleet.nodes[0].address) as client:
            await client.create_jobs(specs)
        self._tasks = [asyncio.create_task(self._submit(node.address)) for node in self.fleet.nodes]
        await self.flows()

    async def flows(self) -> None:
        """Returns when something more was acknowledged and executed."""
        acknowledged, executed = len(self.acknowledged), len(self.fleet.executions())
        await eventually(
            lambda: len(self.acknowledged) > acknowledged + 50 and len(self.fleet.executions()) > executed + 50, 30
        )

    async def _submit(self, address: str) -> None:
        jobs = BULK + FLAKY
        async with Client(address) as client:
            while True:
                try:
                    self.acknowledged += await client.submit([Submission(job=name) for name in jobs])
                except NoonmarkError:
                    self.refused += 1  # it may have been done or not: nothing is promised
                await asyncio.sleep(0.05)

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def settle(self) -> None:
        """No more submissions; the ticking jobs lose their schedules; all that is left runs to its end."""
        await self.stop()
        address = next(node.address for node in self.fleet.nodes if node.running)
        async with Client(address) as client:
            for name in TICKING + DELAYED:
                await eventually(lambda name=name: _unscheduled(client, name), 20, 0.2)
        try:
            await eventually(self._drained, 40, 0.1)
        except AssertionError:
            for table in ("run", "grant", "worker"):
                print(*await self.fleet.fetch(f"SELECT * FROM noonmark.{table} LIMIT 5"), sep="\n")
            raise

    async def _all_ticked(self) -> bool:
        return min((await self._ended(TICKING)).values()) >= 3

    async def _all_go_on(self) -> None:
        """Every fixed delay has one more run, so none was broken by what happened."""
        before = await self._ended(DELAYED)
        await eventually(lambda: self._more_than(before), 40, 0.2)

    async def _more_than(self, before: dict[str, int]) -> bool:
        return all(count > before[name] for name, count in (await self._ended(DELAYED)).items())

    async def _ended(self, names: list[str]) -> dict[str, int]:
        """How many runs of each job have ended."""
        rows = await self.fleet.fetch(
            "SELECT j.name, count(a.*) FROM noonmark.job j LEFT JOIN noonmark.attempt a"
            " ON a.shard = j.shard AND a.job_id = j.job_id AND a.final WHERE j.name = ANY ($1) GROUP BY j.name",
            names,
        )
        return {row[0]: row[1] for row in rows}

    async def _drained(self) -> bool:
        left = "SELECT (SELECT count(*) FROM noonmark.run) + (SELECT count(*) FROM noonmark.grant)"
        return await self.fleet.fetchval(left) == 0

    async def verify(self) -> None:
        await eventually(self._all_ticked, 30, 0.1)
        await self._all_go_on()
        await self.settle()
        rows = await self.fleet.fetch(
            "SELECT job_id, (extract(epoch FROM nominal_at) * 1000000)::bigint, attempt, outcome, final"
            " FROM noonmark.attempt"
        )
        keys = Counter(run_text((row[0], row[1])) for row in rows if row[4])
        assert max(keys.values()) == 1, f"ended more than once: {keys.most_common(3)}"
        lost = [run for run in self.acknowledged if run not in keys]
        assert not lost, f"{len(lost)} of {len(self.acknowledged)} acknowledged runs never ended, first {lost[0]}"
        numbers = Counter((run_text((row[0], row[1])), row[2]) for row in rows)
        assert max(numbers.values()) == 1, f"an attempt number was used again: {numbers.most_common(3)}"
        ends = {run_text((row[0], row[1])): row[3] for row in rows if row[4]}
        assert {outcome for run, outcome in ends.items() if run not in self.cancelled} == {Outcome.SUCCEEDED}
        assert {ends[run] for run in self.cancelled} <= {Outcome.CANCELLED}
        self._compare_executions(rows)
        await self._check_ticks(rows)
        await self._check_fixed_delays()

    def _compare_executions(self, rows: list) -> None:
        executed = Counter((one.run, one.attempt) for one in self.fleet.executions())
        assert max(executed.values()) == 1, f"one attempt was executed twice: {executed.most_common(3)}"
        told = {(run_text((row[0], row[1])), row[2]): row[3] for row in rows}
        assert executed.keys() <= told.keys(), "executions that history does not know"
        ran = {key for key, outcome in told.items() if outcome in (Outcome.SUCCEEDED, Outcome.FAILED)}
        assert ran <= executed.keys(), "history tells of executions that never were"

    async def _check_ticks(self, rows: list) -> None:
        """Every second from a job's creation to the end of its schedule has its run: no gap, nothing twice."""
        jobs = await self.fleet.fetch(
            "SELECT job_id, (extract(epoch FROM created_at) * 1000000)::bigint,"
            " (extract(epoch FROM updated_at) * 1000000)::bigint FROM noonmark.job WHERE name = ANY ($1)",
            TICKING,
        )
        for job_id, created_us, changed_us in jobs:
            ended = sorted(row[1] for row in rows if row[0] == job_id and row[4])
            first_us = (created_us // SECOND_US + 1) * SECOND_US
            assert ended == list(range(first_us, changed_us + 1, SECOND_US))

    async def _check_fixed_delays(self) -> None:
        """Each run came at least one delay after the one before it had ended: none has two at a time."""
        rows = await self.fleet.fetch(
            "SELECT j.name, a.nominal_at, a.finished_at FROM noonmark.job j JOIN noonmark.attempt a"
            " ON a.shard = j.shard AND a.job_id = j.job_id AND a.final WHERE j.name = ANY ($1) ORDER BY 1, 2",
            DELAYED,
        )
        for before, after in pairwise(rows):
            assert before[0] != after[0] or after[1] - before[2] >= timedelta(seconds=1), (before, after)


async def _unscheduled(client: Client, name: str) -> bool:
    """Asked again after an answer that left it open: a job that has no schedule any more is not changed twice."""
    try:
        if not isinstance((await client.get_job(name)).schedule, Manual):
            await client.update_job(name, JobPatch(schedule=Manual()))
    except NoonmarkError:
        return False
    return True
