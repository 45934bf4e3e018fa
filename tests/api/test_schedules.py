"""Schedules through the API: previews with the crowd of a second, and schedules as one string."""

from typing import Any

import pytest

from noonmark.store.connect import Pool
from noonmark.store.reads import schedule_load as load_reads
from tests.api.conftest import Caller, RunningNode

BERLIN = {"kind": "cron", "cron": "30 2 * * *", "tz": "Europe/Berlin"}
BAD: list[tuple[dict[str, Any], str]] = [
    ({}, "body"),
    ({"schedule": "61 * * * *"}, "schedule.cron"),
    ({"schedule": {"kind": "sometimes"}}, "schedule.kind"),
    ({"schedule": 5}, "schedule"),
    ({"schedule": "every blursday"}, "schedule.english"),
    ({"schedule": "0 0 31 2 *"}, "schedule.cron"),
    ({"schedule": "0 9 * * *", "tz": "Mars/Base"}, "schedule.tz"),
    ({"schedule": "5m", "tz": "Mars/Base"}, "schedule.tz"),
    ({"schedule": "5m", "count": 101}, "count"),
    ({"schedule": "5m", "count": 0}, "count"),
    ({"schedule": "5m", "jitter_s": -1}, "jitter_s"),
    ({"schedule": "5m", "name": "no spaces"}, "name"),
    ({"schedule": "5m", "from": "2026-01-01T00:00:00"}, "from"),
    ({"schedule": "5m", "from": "0001-01-01T00:00:00Z"}, "from"),
    ({"schedule": "5m", "colour": "red"}, "body"),
]


async def preview(call: Caller, schedule: Any, **more: Any) -> Any:
    answer = await call("POST", "/v1/schedules/preview", {"schedule": schedule, **more})
    assert answer.status == 200, answer.body
    return answer.json


async def fill(pool: Pool, text: str, jobs: int, first: int = 0) -> None:
    """Jobs as rows: a thousand of them through the API would take longer than they are worth."""
    schedule_id = await pool.fetchval("INSERT INTO noonmark.schedule (text) VALUES ($1) RETURNING schedule_id", text)
    await pool.execute(
        """
        INSERT INTO noonmark.job (shard, job_id, tenant_id, version, policy_id, schedule_id, priority, catch_up,
            created_at, updated_at, planned_from, name)
        SELECT 0, $2::integer + n, 1, 1, 1, $1::integer, 5, 0, now(), now(), now(), 'x' || $2::integer + n
        FROM generate_series(1, $3::integer) AS n
        """,
        schedule_id, first, jobs,
    )  # fmt: skip


def codes(found: Any) -> list[str]:
    return [notice["code"] for notice in found["warnings"]]


async def test_a_preview_says_all_of_it(call: Caller) -> None:
    found = await preview(call, BERLIN, count=2, **{"from": "2026-03-28T12:00:00Z"})
    assert found["schedule"] == BERLIN
    assert found["canonical"] == "TZ=Europe/Berlin 30 2 * * *"
    assert (found["tz"], found["ends"], found["last_at"]) == ("Europe/Berlin", False, None)
    assert found["description"]
    assert found["fires"] == [
        {
            "at": "2026-03-29T01:00:00Z",
            "local": "2026-03-29T03:00:00+02:00",
            "zone": "CEST",
            "note": "the clock goes forward: moved from 02:30",
        },
        {"at": "2026-03-30T00:30:00Z", "local": "2026-03-30T02:30:00+02:00", "zone": "CEST", "note": None},
    ]
    assert "daylight_once" in codes(found)


async def test_a_preview_takes_a_string_in_any_form(call: Caller, node: RunningNode) -> None:
    for text, kind in (
        ("0 9 * * 1-5", "cron"),
        ("every weekday at 9:30", "cron"),
        ("5m", "every"),
        ("R/2026-01-01T00:00Z/PT5M", "iso"),
        ("FREQ=DAILY", "rrule"),
        ("now", "now"),
        ("manual", "manual"),
    ):
        assert (await preview(call, text))["schedule"]["kind"] == kind, text
    zoned = await preview(call, "0 9 * * *", tz="Asia/Tokyo", count=1)
    assert (zoned["schedule"]["tz"], zoned["fires"][0]["zone"]) == ("Asia/Tokyo", "JST")


async def test_h_is_that_of_the_job_of_the_name(call: Caller) -> None:
    found = await preview(call, "H H * * *", name="nightly", count=1)
    job = {"name": "nightly", "task": "greet", "schedule": "H H * * *"}
    made = (await call("POST", "/v1/jobs", job)).json
    assert made["next_at"] == found["fires"][0]["at"]


async def test_a_bad_preview_names_the_field(call: Caller) -> None:
    for body, field in BAD:
        answer = await call("POST", "/v1/schedules/preview", body)
        assert (answer.status, answer.json["field"]) == (422, field), body
        assert answer.json["fix"]


async def test_an_unknown_kind_lists_those_that_there_are(call: Caller) -> None:
    answer = await call("POST", "/v1/schedules/preview", {"schedule": {"kind": "sometimes"}})
    assert answer.json["fix"] == "use one of now, at, every, cron, rrule, iso, times, solar, english, manual"


async def test_a_crowd_in_the_same_second_is_counted(call: Caller, pool: Pool) -> None:
    await fill(pool, "cron:0 9 * * *|UTC|j0", 900)
    await fill(pool, "cron:0 */3 * * *|Asia/Tokyo|j0", 100, 1000)  # 18:00 in Tokyo is 9:00 in UTC
    await fill(pool, "cron:0 9 * * *|UTC|j60", 600, 2000)  # a sixtieth of these falls into the second
    await fill(pool, "cron:0 8 * * *|UTC|j0", 5000, 5000)
    found = await preview(call, "0 9 * * *", count=1)
    assert found["warnings"][0]["code"] == "crowd"
    assert found["warnings"][0]["message"].startswith("1,010 other jobs fire in this second, ")
    assert "crowd" not in codes(await preview(call, "1 9 * * *"))
    assert "crowd" not in codes(await preview(call, "0 9 * * *", jitter_s=30))


async def test_paused_jobs_make_no_crowd_and_a_count_is_kept_for_a_while(call: Caller, pool: Pool) -> None:
    await fill(pool, "cron:0 9 * * *|UTC|j0", 1000)
    await pool.execute("UPDATE noonmark.job SET active = false WHERE job_id = 1")
    assert "crowd" not in codes(await preview(call, "0 9 * * *"))
    await pool.execute("UPDATE noonmark.job SET active = true")
    assert "crowd" not in codes(await preview(call, "0 9 * * *"))


async def test_many_jobs_are_estimated(call: Caller, pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_reads, "COUNTED", 1000)
    await fill(pool, "cron:0 9 * * *|UTC|j0", 6000)
    await fill(pool, "cron:0 8 * * *|UTC|j0", 2000, 10_000)
    await pool.execute("ANALYZE noonmark.job")
    found = await preview(call, "0 9 * * *")
    assert found["warnings"][0]["message"].startswith("about 6,000 other jobs")


async def test_a_job_takes_a_string_and_says_what_it_understood(call: Caller) -> None:
    spec = {"name": "a", "task": "greet", "schedule": "every weekday at 9:30"}
    made = (await call("POST", "/v1/jobs", spec)).json
    assert made["schedule"] == {"kind": "english", "english": "every weekday at 9:30"}
    assert made["canonical"] == "30 9 * * 1-5"
    assert made["description"]
    assert made["next_at"].endswith("T09:30:00Z")
    changed = (await call("PATCH", "/v1/jobs/a", {"schedule": "TZ=Asia/Tokyo @daily"})).json
    assert changed["schedule"] == {"kind": "cron", "cron": "@daily", "tz": "Asia/Tokyo"}
    assert changed["canonical"] == "TZ=Asia/Tokyo 0 0 * * *"
    listed = (await call("GET", "/v1/jobs")).json["jobs"]
    assert [(job["canonical"], job["description"]) for job in listed] == [
        (changed["canonical"], changed["description"])
    ]


async def test_a_bad_string_names_its_place(call: Caller, pool: Pool) -> None:
    good = {"name": "a", "task": "greet", "schedule": "5m"}
    bad = {"name": "b", "task": "greet", "schedule": "2026-01-01T00:00"}
    alone = await call("POST", "/v1/jobs", bad)
    assert (alone.status, alone.json["code"], alone.json["field"]) == (422, "invalid_schedule", "schedule")
    assert "offset" in alone.json["fix"]
    batch = await call("POST", "/v1/jobs/batch", {"jobs": [good, bad]})
    assert (batch.status, batch.json["code"], batch.json["field"]) == (422, "invalid_schedule", "jobs[1].schedule")
    number = await call("POST", "/v1/jobs", good | {"schedule": 5})
    assert (number.status, number.json["field"]) == (422, "schedule")
    assert await pool.fetchval("SELECT count(*) FROM noonmark.job") == 0


async def test_the_next_time_keeps_within_the_bounds(call: Caller) -> None:
    start = {"kind": "cron", "cron": "0 9 * * *", "start": "2101-05-05T10:00:00Z"}
    made = (await call("POST", "/v1/jobs", {"name": "a", "task": "greet", "schedule": start})).json
    assert made["next_at"] == "2101-05-06T09:00:00Z"
