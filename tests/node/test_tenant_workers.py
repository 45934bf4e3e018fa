"""A worker whose key belongs to a tenant takes that tenant's runs, and can do nothing to another's."""

from typing import Any

import aiohttp
import msgspec
import pytest

from noonmark.client import Client
from noonmark.model.caller import Role
from noonmark.model.reason import Outcome
from noonmark.node.commands.bootstrap import make_key
from noonmark.wire.resources import JobSpec, Submission
from tests.conftest import Engine, eventually
from tests.node.tasks import Seen


class RawWorker:
    """Speaks the protocol by hand, as somebody with bad intentions would."""

    def __init__(self, session: aiohttp.ClientSession, address: str, key: str) -> None:
        self._session = session
        self._address = address
        self._headers = {"Authorization": f"Bearer {key}"}

    async def __call__(self, verb: str, **body: Any) -> tuple[int, Any]:
        url = f"{self._address}/v1/worker/{verb}"
        async with self._session.post(url, json=body, headers=self._headers) as answer:
            return answer.status, await answer.json(content_type=None)

    async def register(self, worker: int = 0) -> int:
        status, answer = await self(
            "register", name="raw", queues=["default"], tasks=["record"], concurrency=9, worker=worker
        )
        assert status == 200, answer
        return int(answer["worker"])


@pytest.fixture
async def admin(engine: Engine) -> str:
    await engine.start_node()
    await engine.pool.execute("INSERT INTO noonmark.tenant (name) VALUES ('acme'), ('other')")
    return (await make_key(engine.database_url, name="ada", role=Role.ADMIN, tenant=None, lives_us=None)).text


async def worker_key(engine: Engine, tenant: str | None) -> str:
    made = await make_key(engine.database_url, name=f"worker {tenant}", role=Role.WORKER, tenant=tenant, lives_us=None)
    return made.text


async def submit(engine: Engine, admin: str, tenant: str, count: int) -> list[str]:
    async with Client(engine.address, admin, tenant) as client:
        await client.declare_tasks(["record"])
        input = msgspec.Raw(msgspec.json.encode([tenant]))
        await client.create_job(JobSpec(name="job", task="record", input=input))
        return await client.submit([Submission(job="job")] * count)


async def test_it_takes_its_tenants_runs_and_the_common_ones_take_all(engine: Engine, admin: str) -> None:
    await submit(engine, admin, "acme", 50)
    await submit(engine, admin, "other", 50)
    own, common = Seen(), Seen()
    await engine.start_worker(own.app, token=await worker_key(engine, "acme"))
    await eventually(lambda: len(own.calls) == 50)
    assert set(own.whats()) == {"acme"}
    await engine.start_worker(common.app, token=await worker_key(engine, None))
    await eventually(lambda: len(common.calls) == 50)
    assert set(common.whats()) == {"other"}
    assert len(own.calls) == 50
    await own.app.close()
    await common.app.close()


async def test_a_guessed_worker_id_gives_nothing_away(engine: Engine, admin: str) -> None:
    await submit(engine, admin, "acme", 3)
    async with aiohttp.ClientSession() as session:
        own = RawWorker(session, engine.address, await worker_key(engine, "acme"))
        foe = RawWorker(session, engine.address, await worker_key(engine, "other"))
        whole = RawWorker(session, engine.address, await worker_key(engine, None))
        worker, common = await own.register(), await whole.register()
        for victim in (worker, common):
            assert await foe.register(victim) != victim, "it gets an id of its own"
            assert (await foe("claim", worker=victim, max=9, wait_s=0))[0] == 410
            assert (await foe("heartbeat", worker=victim, grants=[]))[0] == 410
        status, granted = await own("claim", worker=worker, max=9, wait_s=5)
        assert (status, len(granted["runs"])) == (200, 3)
        job_id, nominal_us, attempt = granted["runs"][0][:3]
        done = [granted["grant"], job_id, nominal_us, attempt, Outcome.SUCCEEDED, None, granted["now_us"]]
        mine = await foe.register()
        for claimed_by in (worker, mine):
            status, problem = await foe("report", worker=claimed_by, items=[done])
            assert (status, problem["field"]) == (404, "items[0]")
        assert (await own("report", worker=worker, items=[done]))[1]["refused"] == []
        status, nothing = await foe("claim", worker=mine, max=9, wait_s=0.2)
        assert (status, nothing["runs"]) == (200, [])
