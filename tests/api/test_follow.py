"""Following runs and jobs: server-sent events over real sockets."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import aiohttp
import msgspec
import pytest

from noonmark.api.routes import follow, followers
from noonmark.model.ids import parse_run, shard_of
from noonmark.model.reason import Outcome, Reason
from noonmark.store.connect import Pool
from tests.api.conftest import Caller, RunningNode
from tests.conftest import eventually


class Event(NamedTuple):
    id: str
    run: Any


class Listener:
    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self.answer = answer
        self.pings = 0

    async def next(self) -> Event | None:
        """The next event; None at the end of the stream."""
        fields: dict[str, str] = {}
        while True:
            line = (await asyncio.wait_for(self.answer.content.readline(), 20)).decode()
            if not line:
                return None
            if line == "\n":
                if "data" in fields:
                    assert fields["event"] == "state"
                    return Event(fields["id"], msgspec.json.decode(fields["data"]))
                fields = {}
                continue
            name, _, value = line.rstrip("\n").partition(": ")
            self.pings += name == ""
            fields[name] = value


@asynccontextmanager
async def listening(call: Caller, path: str, last: str | None = None) -> AsyncIterator[Listener]:
    headers = {} if last is None else {"Last-Event-ID": last}
    async with call.session.get(call.address + path, headers=headers) as answer:
        assert answer.status == 200, await answer.read()
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        yield Listener(answer)


@pytest.fixture
async def run(call: Caller) -> str:
    await call("POST", "/v1/jobs", {"name": "a", "task": "greet"})
    return str((await call("POST", "/v1/jobs/a/trigger")).json["id"])


async def grant(pool: Pool, run: str) -> None:
    job_id, nominal_us = parse_run(run)
    await pool.execute(
        "INSERT INTO noonmark.grant VALUES ($1, 1, 7, now(), $2, $3, $4)",
        shard_of(job_id), [job_id], [nominal_us], [1],
    )  # fmt: skip


async def finish(pool: Pool, run: str) -> None:
    job_id, nominal_us = parse_run(run)
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("DELETE FROM noonmark.run WHERE job_id = $1 AND nominal_at = $2", job_id, nominal_us)
        await connection.execute(
            "INSERT INTO noonmark.attempt VALUES"
            " ($1, $2, $3, 1, clock_timestamp(), 1, 1, 7, $3, $3, $3, $4, $5, true, NULL, NULL)",
            shard_of(job_id), job_id, nominal_us, Outcome.SUCCEEDED, Reason.SUCCEEDED,
        )  # fmt: skip


async def test_a_run_is_followed_from_state_to_state_until_it_ends(call: Caller, run: str, pool: Pool) -> None:
    async with listening(call, f"/v1/runs/{run}/follow") as listener:
        first = await listener.next()
        assert first is not None
        assert first.run == (await call("GET", f"/v1/runs/{run}")).json
        assert first.run["state"] == "waiting"
        await grant(pool, run)
        second = await listener.next()
        assert second is not None
        assert (second.run["state"], second.run["attempt"]) == ("running", 1)
        await finish(pool, run)
        third = await listener.next()
        assert third is not None
        assert (third.run["state"], third.run["job_name"]) == ("succeeded", "a")
        assert await listener.next() is None
    async with listening(call, f"/v1/runs/{run}/follow") as listener:
        again = await listener.next()
        assert again == third
        assert await listener.next() is None


async def test_whoever_comes_back_is_told_only_what_is_new(call: Caller, run: str, pool: Pool) -> None:
    async with listening(call, f"/v1/runs/{run}/follow") as listener:
        first = await listener.next()
    assert first is not None
    async with listening(call, f"/v1/runs/{run}/follow", first.id) as listener:
        await grant(pool, run)
        second = await listener.next()
        assert second is not None
        assert second.run["state"] == "running"
    await finish(pool, run)
    async with listening(call, f"/v1/runs/{run}/follow", second.id) as listener:
        third = await listener.next()
    assert third is not None
    assert third.run["state"] == "succeeded"
    over = await call("GET", f"/v1/runs/{run}/follow", headers={"Last-Event-ID": third.id})
    assert (over.status, over.body) == (204, b"")


async def test_a_job_is_followed_through_all_its_runs(call: Caller, run: str, pool: Pool) -> None:
    async with listening(call, "/v1/jobs/a/follow") as listener:
        first = await listener.next()
        assert first is not None
        assert (first.run["id"], first.run["state"]) == (run, "waiting")
        await finish(pool, run)
        ended = await listener.next()
        assert ended is not None
        assert (ended.run["id"], ended.run["state"]) == (run, "succeeded")
        other = (await call("POST", "/v1/jobs/a/trigger")).json["id"]
        made = await listener.next()
        assert made is not None
        assert (made.run["id"], made.run["state"]) == (other, "waiting")
    await finish(pool, other)
    async with listening(call, "/v1/jobs/a/follow", made.id) as listener:
        missed = [await listener.next() for _ in range(2)]
        assert {(event.run["id"], event.run["state"]) for event in missed if event is not None} == {
            (run, "succeeded"), (other, "succeeded"),
        }  # fmt: skip


async def test_a_quiet_stream_is_kept_alive(
    call: Caller, run: str, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "PING_S", 0.05)
    async with listening(call, f"/v1/runs/{run}/follow") as listener:
        await listener.next()
        waiting = asyncio.create_task(listener.next())
        await eventually(lambda: listener.pings >= 2)
        await grant(pool, run)
        event = await waiting
        assert event is not None
        assert event.run["state"] == "running"


async def test_followers_are_bounded_and_a_listener_that_hangs_up_makes_room(
    call: Caller, run: str, node: RunningNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(followers, "MAX_FOLLOWERS", 2)
    path = f"/v1/runs/{run}/follow"
    async with listening(call, path) as one, listening(call, "/v1/jobs/a/follow") as two:
        await one.next()
        await two.next()
        for refused in (await call("GET", path), await call("GET", "/v1/jobs/a/follow")):
            assert (refused.status, refused.json["code"]) == (429, "too_busy")
            assert int(refused.headers["Retry-After"]) > 0
        one.answer.close()

        async def room() -> bool:
            async with call.session.get(call.address + path) as answer:
                return answer.status == 200

        await eventually(room, pause_s=0.1)


async def test_many_followers_share_one_look(
    call: Caller, run: str, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    read = followers.follow_runs

    async def counted(pool: Pool, keys: Any) -> Any:
        looks.append(len(keys))
        return await read(pool, keys)

    monkeypatch.setattr(followers, "follow_runs", counted)
    async with listening(call, f"/v1/runs/{run}/follow") as one, listening(call, f"/v1/runs/{run}/follow") as two:
        await asyncio.gather(one.next(), two.next())
        await grant(pool, run)
        await asyncio.gather(one.next(), two.next())
    assert set(looks) == {1}


async def test_what_is_not_there_cannot_be_followed(call: Caller, run: str) -> None:
    assert (await call("GET", "/v1/runs/run_1_1/follow")).status == 404
    assert (await call("GET", "/v1/jobs/nobody/follow")).status == 404
    refused = await call("GET", "/v1/runs/nonsense/follow")
    assert (refused.status, refused.json["field"]) == (422, "run_id")
