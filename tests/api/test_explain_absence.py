"""Why did my job not run at that time: every answer, through the API."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from noonmark.clock import SettableClock, from_datetime, to_datetime
from noonmark.model.ids import parse_job, shard_of
from noonmark.model.reason import Outcome, Reason
from noonmark.store.connect import Connection, Pool
from noonmark.store.migrate import make_partitions
from tests.api.conftest import Caller, MovedClock, RunningNode

Later = Callable[[], Awaitable[None]]

CREATED = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)  # a Monday
NOW = datetime(2026, 3, 20, 12, 0, tzinfo=UTC)


def set_to(clock: MovedClock, at: datetime) -> None:
    clock.move_to(from_datetime(at))


@pytest.fixture
async def clock(node: RunningNode, connection: Connection) -> MovedClock:
    """Jobs are created on 2 March; it is 20 March when the questions are asked (see `later`)."""
    await make_partitions(connection, SettableClock(from_datetime(CREATED)), (NOW - CREATED).days)
    set_to(node.clock, CREATED)
    return node.clock


@pytest.fixture
def later(clock: MovedClock, pool: Pool) -> Later:
    """The shards' watermarks are ahead of both days, so a new job's runs up to them exist at once: here, they did."""

    async def later() -> None:
        await pool.execute("DELETE FROM noonmark.run")
        set_to(clock, NOW)

    return later


async def created(call: Caller, schedule: Any, **more: Any) -> str:
    made = await call("POST", "/v1/jobs", {"name": "a", "task": "greet", "schedule": schedule, **more})
    assert made.status == 201, made.body
    return str(made.json["id"])


async def why(call: Caller, at: datetime | str, ref: str = "a") -> Any:
    text = at if isinstance(at, str) else at.isoformat().replace("+00:00", "Z")
    answer = await call("GET", f"/v1/jobs/{ref}/explain?at={text}")
    assert answer.status == 200, answer.body
    return answer.json


async def test_a_time_that_the_schedule_does_not_name(call: Caller, later: Later) -> None:
    await created(call, "0 9 * * *")
    await later()
    told = await why(call, "2026-03-10T10:00:00Z")
    assert told["code"] == "not_due"
    assert "0 9 * * *" in told["sentence"]
    assert (told["previous_at"], told["next_at"]) == ("2026-03-10T09:00:00Z", "2026-03-11T09:00:00Z")
    assert (told["run"], [line["code"] for line in told["story"]]) == (None, ["created"])
    assert (await why(call, "2026-03-10T09:00:01Z"))["code"] == "not_due"
    assert (await why(call, "2026-02-10T09:00:00Z"))["code"] == "created_later"
    assert (await why(call, "2026-03-21T09:00:00Z"))["code"] == "to_come"
    assert (await why(call, "2026-03-10T09:00:00Z"))["code"] == "forgotten"
    now = (await call("GET", "/v1/jobs/a/explain")).json
    assert (now["at"][:16], now["code"]) == ("2026-03-20T12:00", "not_due")


async def test_a_time_that_a_rule_keeps_out(call: Caller, later: Later) -> None:
    await created(call, {"kind": "cron", "cron": "0 9 * * *", "exclude": ["sat-sun"]})
    await later()
    told = await why(call, "2026-03-14T09:00:00Z")
    assert told["code"] == "excluded"
    assert "sat" in told["sentence"].lower()
    assert told["next_at"] == "2026-03-16T09:00:00Z"
    assert (await why(call, "2026-03-14T10:00:00Z"))["code"] == "not_due"


async def test_a_time_outside_of_the_bounds(call: Caller, later: Later) -> None:
    bounds = {"start": "2026-03-05T00:00:00Z", "end": "2026-03-08T00:00:00Z"}
    await created(call, {"kind": "cron", "cron": "0 9 * * *", **bounds})
    await later()
    assert (await why(call, "2026-03-04T09:00:00Z"))["code"] == "not_started"
    assert (await why(call, "2026-03-09T09:00:00Z"))["code"] == "ended"


async def test_a_job_that_runs_when_asked_once_or_by_its_own_end(call: Caller, later: Later) -> None:
    await created(call, {"kind": "manual"})
    await created(call, {"kind": "every", "every": "1h", "pace": "delay"}, name="b")
    await created(call, {"kind": "at", "at": "2026-03-05T09:00:00Z"}, name="c")
    await later()
    at = "2026-03-10T09:00:00Z"
    assert (await why(call, at))["code"] == "no_schedule"
    assert (await why(call, at, "b"))["code"] == "not_due"
    once = await why(call, at, "c")
    assert once["code"] == "not_due"
    assert "2026-03-05" in once["sentence"]


async def test_a_job_that_was_paused_then(call: Caller, clock: MovedClock, later: Later) -> None:
    await created(call, "0 9 * * *")
    set_to(clock, CREATED + timedelta(days=3))
    await call("POST", "/v1/jobs/a/pause")
    set_to(clock, CREATED + timedelta(days=10))
    await call("POST", "/v1/jobs/a/resume")
    await later()
    told = await why(call, "2026-03-08T09:00:00Z")
    assert told["code"] == "paused"
    assert "2026-03-05T12:00:00" in told["sentence"]
    assert [line["code"] for line in told["story"]] == ["created", "paused", "resumed"]
    assert (await why(call, "2026-03-14T09:00:00Z"))["code"] == "forgotten"


async def test_an_occurrence_that_nobody_fired(call: Caller, later: Later, pool: Pool) -> None:
    job = await created(call, "0 9 * * *", misfire={"policy": "skip"})
    await later()
    at = datetime(2026, 3, 10, 9, 0, tzinfo=UTC)
    await pool.execute(
        "INSERT INTO noonmark.gap VALUES ($1, $2, $3)",
        shard_of(parse_job(job)), from_datetime(at) - 60_000_000, from_datetime(at) + 60_000_000,
    )  # fmt: skip
    told = await why(call, at)
    assert told["code"] == "missed"
    assert "skips what was missed" in told["sentence"]
    assert [line["code"] for line in told["story"]] == ["created", "gap_began", "gap_ended"]
    assert (await why(call, "2026-03-11T09:00:00Z"))["code"] == "forgotten"


@pytest.mark.parametrize(
    ("outcome", "reason", "code"),
    [
        (Outcome.SUCCEEDED, Reason.SUCCEEDED, "ran"),
        (Outcome.FAILED, Reason.ATTEMPTS_EXHAUSTED, "dead"),
        (Outcome.EXPIRED, Reason.START_DEADLINE_PASSED, "expired"),
        (Outcome.WITHDRAWN, Reason.SKIPPED, "skipped"),
    ],
)
async def test_a_time_of_which_there_is_a_run(
    call: Caller, later: Later, pool: Pool, outcome: Outcome, reason: Reason, code: str
) -> None:
    job = await created(call, "0 9 * * *")
    await later()
    at_us = from_datetime(datetime(2026, 3, 10, 9, 0, tzinfo=UTC))
    number = 1 if code in ("ran", "dead") else 0
    await pool.execute(
        "INSERT INTO noonmark.attempt VALUES"
        " ($1, $2, $3, $4, now(), 1, 1, 7, $3, $3, $3, $5, $6, true, 'OSError: no luck', NULL)",
        shard_of(parse_job(job)), parse_job(job), at_us, number, outcome, reason,
    )  # fmt: skip
    told = await why(call, to_datetime(at_us))
    assert told["code"] == code
    run = (await call("GET", f"/v1/runs/{told['run']}")).json
    assert run["nominal_at"] == "2026-03-10T09:00:00Z"
    assert told["story"][0]["code"] == "scheduled"


async def test_a_run_that_still_waits_says_for_what(call: Caller, clock: MovedClock) -> None:
    await created(call, {"kind": "manual"})
    run = (await call("POST", "/v1/jobs/a/trigger")).json
    set_to(clock, datetime.fromisoformat(run["nominal_at"]) + timedelta(minutes=1))
    told = await why(call, run["nominal_at"])
    assert (told["code"], told["run"]) == ("waiting", run["id"])
    assert "no worker serves" in told["sentence"]


async def test_a_job_that_is_gone_or_never_was(call: Caller, clock: MovedClock) -> None:
    job = await created(call, "0 9 * * *")
    await call("DELETE", "/v1/jobs/a")
    set_to(clock, NOW)
    told = await why(call, "2026-03-10T09:00:00Z", job)
    assert told["code"] == "deleted"
    assert "anyone deleted it at 2026-03-02T12:00" in told["sentence"]
    assert (await call("GET", "/v1/jobs/a/explain?at=2026-03-10T09:00:00Z")).status == 404
    assert (await call("GET", "/v1/jobs/job_1/explain?at=2026-03-10T09:00:00Z")).status == 404
    for query in ("?at=", "?at=noon", "?at=2026-03-10T09:00:00"):
        refused = await call("GET", f"/v1/jobs/{job}/explain{query}")
        assert (refused.status, refused.json["field"]) == (422, "at"), query
