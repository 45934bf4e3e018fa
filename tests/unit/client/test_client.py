"""The client against a server that speaks the API on a real socket."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from aiohttp import web

import noonmark
from noonmark import errors
from noonmark.client import repeat
from noonmark.schedule.spec import Every
from noonmark.wire.resources import JobPatch, JobSpec, Submission

NOW = datetime(2030, 1, 1, tzinfo=UTC).isoformat()


def job(name: str, **fields: Any) -> dict[str, Any]:
    spec = msgspec.json.decode(msgspec.json.encode(JobSpec(name=name, task="t", **fields)))
    stamp = {"id": "job_1", "tenant": "default", "version": 1, "state": "active"}
    return spec | stamp | {"next_at": None, "created_at": NOW, "updated_at": NOW}


class Server:
    """Answers with what the test has laid out for (method, path), in turn; the last answer stays."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, str], list[web.Response]] = {}
        self.calls: list[tuple[str, str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.address = ""

    def on(self, method: str, path: str, body: Any = None, status: int = 200, **headers: str) -> None:
        answer = lambda: web.Response(  # noqa: E731
            body=msgspec.json.encode(body), status=status, headers=headers, content_type="application/json"
        )
        self.answers.setdefault((method, path), []).append(answer)

    def problem(self, method: str, path: str, code: str, status: int, **extra: str) -> None:
        retry_after = {"Retry-After": extra.pop("retry_after")} if "retry_after" in extra else {}
        body = {"type": "about:blank", "title": code, "status": status, "code": code, "detail": "no", **extra}
        self.on(method, path, body, status, **retry_after)

    async def handle(self, request: web.Request) -> web.Response:
        content = await request.read()
        self.calls.append((request.method, request.path_qs, msgspec.json.decode(content) if content else None))
        self.headers.append(dict(request.headers))
        laid_out = self.answers[request.method, request.path]
        return (laid_out.pop(0) if len(laid_out) > 1 else laid_out[0])()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    server = Server()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", server.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield server
    await runner.cleanup()


@pytest.fixture
async def client(server: Server) -> AsyncIterator[noonmark.Client]:
    async with noonmark.Client(server.address, "secret", "acme") as client:
        yield client


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeat, "BACKOFF_S", 0.001)


async def test_a_job_goes_out_and_comes_back(server, client):
    server.on("POST", "/v1/jobs", job("nightly"), 201)
    made = await client.create_job(JobSpec(name="nightly", task="t", schedule=Every(every="5s")))
    assert (made.name, made.version) == ("nightly", 1)
    sent = server.calls[0][2]
    assert sent["schedule"] == {"kind": "every", "every": "5s"}
    assert server.headers[0]["Noonmark-Tenant"] == "acme"
    assert server.headers[0]["Authorization"] == "Bearer secret"


async def test_a_schedule_may_be_one_string(server, client):
    server.on("POST", "/v1/jobs", job("nightly"), 201)
    await client.create_job(msgspec.convert({"name": "nightly", "task": "t", "schedule": "0 9 * * *"}, JobSpec))
    assert server.calls[0][2]["schedule"] == {"kind": "cron", "cron": "0 9 * * *"}


async def test_a_preview_is_asked_for(server, client):
    fire = {"at": NOW, "local": "2030-01-01T01:00:00+01:00", "zone": "CET", "note": None}
    answer = {
        "schedule": {"kind": "cron", "cron": "0 9 * * *"}, "canonical": "0 9 * * *", "description": "At 09:00",
        "tz": "UTC", "fires": [fire], "ends": False, "last_at": None, "warnings": [{"code": "crowd", "message": "m"}],
    }  # fmt: skip
    server.on("POST", "/v1/schedules/preview", answer)
    moment = datetime(2030, 1, 1, tzinfo=UTC)
    found = await client.preview_schedule("0 9 * * *", tz="UTC", name="nightly", count=1, from_at=moment)
    assert (found.fires[0].local, found.warnings[0].code) == (fire["local"], "crowd")
    assert server.calls[0][2] == {
        "schedule": "0 9 * * *", "tz": "UTC", "name": "nightly", "jitter_s": 0.0, "count": 1,
        "from": "2030-01-01T00:00:00Z",
    }  # fmt: skip


async def test_changes_name_the_version_and_leave_out_what_stays(server, client):
    server.on("PATCH", "/v1/jobs/task:a b", job("nightly"))
    await client.update_job("task:a b", JobPatch(queue="big"), version=3)
    assert server.calls[0][2] == {"queue": "big"}
    assert server.headers[0]["If-Match"] == '"3"'


async def test_lists_are_pages(server, client):
    server.on("GET", "/v1/jobs", {"jobs": [job("a"), job("b")], "next_cursor": "c2"})
    page = await client.list_jobs(name_prefix="a&b", limit=2)
    assert [item.name for item in page.items] == ["a", "b"]
    assert page.next_cursor == "c2"
    assert server.calls[0][1] == "/v1/jobs?limit=2&name_prefix=a%26b"


async def test_submitting_in_bulk(server, client):
    server.on("POST", "/v1/runs/batch", {"runs": ["run_1_1", "run_1_2"]}, 202)
    raw = msgspec.Raw(b'{"n":1}')
    assert await client.submit([Submission(job="a", input=raw), Submission(job="a")]) == ["run_1_1", "run_1_2"]
    assert server.calls[0][2]["runs"][0]["input"] == {"n": 1}
    assert "input" not in server.calls[0][2]["runs"][1]


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        ("invalid_input", 422, errors.InvalidInput),
        ("too_large", 413, errors.TooLarge),
        ("not_found", 404, errors.NotFound),
        ("duplicate_name", 409, errors.DuplicateName),
        ("version_conflict", 412, errors.VersionConflict),
        ("unauthorized", 401, errors.Unauthorized),
        ("some_new_code", 418, errors.NoonmarkError),
    ],
)
async def test_a_problem_becomes_its_exception(server, client, code, status, kind):
    server.problem("POST", "/v1/jobs", code, status, field="name", fix="try another")
    with pytest.raises(errors.NoonmarkError) as caught:
        await client.create_job(JobSpec(name="a", task="t"))
    assert type(caught.value) is kind
    assert (caught.value.field, caught.value.fix) == ("name", "try another")
    assert len(server.calls) == 1


async def test_what_is_safe_to_repeat_is_repeated(server, client):
    server.problem("GET", "/v1/jobs/a", "unavailable", 503)
    server.on("GET", "/v1/jobs/a", job("a"))
    assert (await client.get_job("a")).name == "a"
    server.problem("POST", "/v1/jobs", "not_owner", 503)
    server.problem("POST", "/v1/jobs", "too_busy", 429, retry_after="0.01")
    server.on("POST", "/v1/jobs", job("a"), 201)
    assert (await client.create_job(JobSpec(name="a", task="t"))).name == "a"
    assert len(server.calls) == 5


async def test_nobody_there():
    async with noonmark.Client("http://127.0.0.1:1") as client:
        with pytest.raises(errors.Unavailable, match="no answer from http"):
            await client.nodes()


async def test_submitting_a_task_declares_it_and_makes_its_standing_job_once(server):
    server.on("PUT", "/v1/tasks", {"tasks": ["greet"]})
    server.problem("POST", "/v1/jobs", "duplicate_name", 409)
    server.on("GET", "/v1/jobs/task:greet", job("task:greet", queue="old"))
    server.on("PATCH", "/v1/jobs/task:greet", job("task:greet"))
    server.on("POST", "/v1/runs/batch", {"runs": ["run_1_1"]}, 202)
    async with noonmark.App(server.address) as app:

        @app.task
        async def greet(name: str) -> None: ...

        assert await greet.submit(name="you") == "run_1_1"
        await greet.submit_at(datetime(2030, 1, 1, tzinfo=UTC), name="you")
        await greet.submit_many([{"name": "a"}, ["b"]], priority=9)
        with pytest.raises(TypeError, match="name"):
            await greet.submit(wrong="name")
    methods = [(method, path) for method, path, _ in server.calls]
    assert methods[:4] == [
        ("PUT", "/v1/tasks"),
        ("POST", "/v1/jobs"),
        ("GET", "/v1/jobs/task:greet"),
        ("PATCH", "/v1/jobs/task:greet"),
    ]
    assert methods[4:] == [("POST", "/v1/runs/batch")] * 3
    now, later, many = (body["runs"] for _, _, body in server.calls[4:])
    assert (now[0]["job"], now[0]["input"], now[0]["at"]) == ("task:greet", {"name": "you"}, None)
    assert later[0]["at"] == "2030-01-01T00:00:00Z"
    assert [run["input"] for run in many] == [{"name": "a"}, ["b"]]


@pytest.mark.parametrize("half", ["async", "sync"])
async def test_a_key_that_makes_no_jobs_may_submit_to_one_that_is_there(server, half):
    server.problem("PUT", "/v1/tasks", "forbidden", 403)
    server.problem("GET", "/v1/jobs/task:greet", "not_found", 404)
    server.on("GET", "/v1/jobs/task:greet", job("task:greet"))
    server.on("POST", "/v1/runs/batch", {"runs": ["run_1_1"]}, 202)
    async with noonmark.App(server.address) as app:

        @app.task
        async def greet() -> None: ...

        async def submit() -> str:
            return await (asyncio.to_thread(greet.sync.submit) if half == "sync" else greet.submit())

        with pytest.raises(errors.Forbidden):
            await submit()
        assert await submit() == "run_1_1"
        app.sync.close()


async def test_scheduling_a_task(server):
    server.on("PUT", "/v1/tasks", {"tasks": ["greet"]})
    server.on("POST", "/v1/jobs", job("mornings"), 201)
    async with noonmark.App(server.address) as app:

        @app.task(queue="mail", timeout_s=30, retry=noonmark.Retry(max_attempts=2))
        def greet(name: str) -> None: ...

        await greet.schedule(noonmark.cron("0 8 * * *", tz="Europe/Zurich"), name="mornings", input={"name": "you"})
    sent = server.calls[1][2]
    assert (sent["name"], sent["task"], sent["queue"], sent["timeout_s"]) == ("mornings", "greet", "mail", 30)
    assert sent["schedule"] == {"kind": "cron", "cron": "0 8 * * *", "tz": "Europe/Zurich"}
    assert sent["input"] == {"name": "you"}
    assert sent["retry"] == {"max_attempts": 2}
