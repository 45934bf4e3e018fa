"""Requests through frozen nodes and outages: each is carried out once, nothing stale is, nothing due is lost."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import aiohttp
import pytest

from noonmark.client import Client
from noonmark.clock import monotonic_s
from noonmark.model.job import Misfire
from noonmark.schedule.spec import Every
from noonmark.wire.resources import JobSpec
from tests.chaos.fleet import Fleet, NodeProcess
from tests.conftest import eventually

JOBS = 40
CATCH_UP = Misfire(policy="all", limit=1000)
GIVES_UP_S = 0.5
"""A caller's patience with a node that does not answer."""


class Jobs:
    """Manual jobs, and what their state is."""

    def __init__(self, fleet: Fleet, session: aiohttp.ClientSession) -> None:
        self.fleet = fleet
        self.session = session
        self.names = [f"job-{number}" for number in range(JOBS)]

    async def ask(self, node: NodeProcess, method: str, path: str, json: object = None, **headers: str) -> int:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.session.request(method, f"{node.address}/v1{path}", json=json, headers=named) as answer:
            await answer.read()
            return answer.status

    async def give_up_on(self, node: NodeProcess, method: str, path: str, json: object = None, **headers: str) -> None:
        """Sends it on a connection of its own to a node that sleeps, and hangs up."""
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=GIVES_UP_S)) as session:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            with pytest.raises(TimeoutError):
                await session.request(method, f"{node.address}/v1{path}", json=json, headers=named)

    async def each(self, act: Callable[[str], Awaitable[object]]) -> list[object]:
        return list(await asyncio.gather(*map(act, self.names)))

    async def patiently(self, node: NodeProcess, method: str, path: str, json: object = None, **headers: str) -> None:
        """While shards move the node may refuse: then nothing was done."""

        async def done() -> bool:
            return await self.ask(node, method, path, json, **headers) < 300

        await eventually(done, 20, 0.2)


@pytest.fixture
async def session():
    connector = aiohttp.TCPConnector(limit=20)
    async with aiohttp.ClientSession(connector=connector) as session:
        yield session


@pytest.fixture
async def running(fleet: Fleet) -> Fleet:
    """Two nodes and a worker, with nothing to do yet."""
    fleet.start_node()
    fleet.start_node()
    fleet.start_worker()
    await fleet.ready(nodes=2, workers=1)
    return fleet


@pytest.fixture
async def jobs(running: Fleet, session: aiohttp.ClientSession) -> Jobs:
    fleet = running
    await eventually(lambda: fleet.fetchval("SELECT count(*) FROM noonmark.task WHERE name = 'work'"), 20)
    jobs = Jobs(fleet, session)
    node = fleet.nodes[0]
    batch = {"jobs": [{"name": name, "task": "work", "priority": 5} for name in jobs.names]}
    assert await jobs.ask(node, "POST", "/jobs/batch", batch) == 201
    return jobs


async def _asleep(frozen: NodeProcess, other: NodeProcess, fleet: Fleet) -> None:
    frozen.signal(signal.SIGSTOP)
    await eventually(lambda: _owns_all(fleet, other), 10)


async def _owns_all(fleet: Fleet, node: NodeProcess) -> bool:
    return await fleet.owner_of(node.address) == 8


async def test_what_lay_in_the_sockets_of_a_frozen_node_is_not_carried_out(fleet: Fleet, jobs: Jobs) -> None:
    """Pauses and changes that their callers sent elsewhere, and then took back."""
    frozen, other = fleet.nodes
    await _asleep(frozen, other, fleet)
    await jobs.each(lambda name: jobs.give_up_on(frozen, "POST", f"/jobs/{name}/pause"))
    await jobs.each(lambda name: jobs.give_up_on(frozen, "PATCH", f"/jobs/{name}", {"priority": 1}))
    for verb in ("pause", "resume"):
        await jobs.each(lambda name, verb=verb: jobs.patiently(other, "POST", f"/jobs/{name}/{verb}"))
    await jobs.each(lambda name: jobs.patiently(other, "PATCH", f"/jobs/{name}", {"priority": 9}))
    frozen.signal(signal.SIGCONT)
    await eventually(lambda: fleet.even(2), 20)
    # It has read all that lay there when it answers a change that was sent after them.
    await jobs.patiently(frozen, "POST", f"/jobs/{jobs.names[0]}/pause")
    await jobs.patiently(frozen, "POST", f"/jobs/{jobs.names[0]}/resume")
    rows = await fleet.fetch("SELECT name, active, priority FROM noonmark.job WHERE name LIKE 'job-%'")
    assert {(row["active"], row["priority"]) for row in rows} == {(True, 9)}, rows


async def test_a_key_is_carried_out_once_whatever_dies(fleet: Fleet, jobs: Jobs) -> None:
    """The same requests to a node that is killed in the middle, and to the one that is left."""
    victim, other = fleet.nodes
    first = jobs.each(
        lambda name: _whatever(jobs.ask(victim, "POST", f"/jobs/{name}/trigger", {}, Idempotency_Key=f"once-{name}"))
    )
    batch = {"runs": [{"job": name} for name in jobs.names * 5]}
    whole = _whatever(jobs.ask(victim, "POST", "/runs/batch", batch, Idempotency_Key="batch"))
    sending = asyncio.gather(first, whole)
    await asyncio.sleep(0.02)
    victim.kill()
    await sending
    for _ in range(2):
        await jobs.each(
            lambda name: jobs.patiently(other, "POST", f"/jobs/{name}/trigger", {}, Idempotency_Key=f"once-{name}")
        )
        await jobs.patiently(other, "POST", "/runs/batch", batch, Idempotency_Key="batch")
    made = await fleet.fetchval(
        """
        SELECT count(*) FROM (
            SELECT shard, job_id, nominal_at FROM noonmark.run
            UNION SELECT shard, job_id, nominal_at FROM noonmark.attempt
        ) AS made JOIN noonmark.job USING (shard, job_id) WHERE name LIKE 'job-%'
        """
    )
    assert made == JOBS + JOBS * 5


async def test_what_was_due_before_a_change_runs_after_an_outage(
    running: Fleet, session: aiohttp.ClientSession
) -> None:
    """All nodes are down for a while; jobs are paused and changed as soon as one answers."""
    fleet = running
    client = Client(fleet.nodes[0].address)
    names = [f"tick-{number}" for number in range(60)]
    for name in names:
        await client.create_job(JobSpec(name=name, task="work", schedule=Every(every=1), misfire=CATCH_UP))
    await client.close()
    await eventually(lambda: fleet.fetchval("SELECT count(*) > 60 FROM noonmark.attempt"), 20)
    for node in list(fleet.nodes):
        node.kill()
    killed_s = monotonic_s()
    await asyncio.sleep(8.0)
    node = fleet.start_node()
    jobs = Jobs(fleet, session)

    async def change(position: int, name: str) -> datetime:
        async def sent() -> bool:
            try:
                if position % 2:
                    return await jobs.ask(node, "POST", f"/jobs/{name}/pause") == 200
                return await jobs.ask(node, "PATCH", f"/jobs/{name}", {"schedule": {"kind": "manual"}}) == 200
            except aiohttp.ClientError:
                return False

        await eventually(sent, 30, 0.01)
        return datetime.now(UTC)

    await asyncio.gather(*(change(position, name) for position, name in enumerate(names)))
    away_s = monotonic_s() - killed_s
    # Every whole second of a job's life up to its change has a run, or had one.
    missing = await fleet.fetch(
        """
        WITH made AS (
            SELECT job_id, nominal_at FROM noonmark.run
            UNION SELECT job_id, nominal_at FROM noonmark.attempt
        ), wanted AS (
            SELECT j.job_id, j.name, g.at
            FROM noonmark.job j
            CROSS JOIN LATERAL (SELECT min(m.nominal_at) AS first_at FROM made m WHERE m.job_id = j.job_id) f
            CROSS JOIN LATERAL generate_series(f.first_at, j.updated_at, interval '1 second') AS g (at)
            WHERE j.name LIKE 'tick-%'
        )
        SELECT w.name, w.at FROM wanted w
        WHERE NOT EXISTS (SELECT FROM made m WHERE m.job_id = w.job_id AND m.nominal_at = w.at)
        """
    )
    assert away_s > 8
    assert missing == []


async def _whatever(sending: Awaitable[int]) -> int | None:
    try:
        return await sending
    except (aiohttp.ClientError, TimeoutError):
        return None
