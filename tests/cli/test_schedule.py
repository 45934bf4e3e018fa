"""`noonmark schedule explain` without a server, and the options of a job that say when."""

import msgspec
import pytest

from noonmark.client.client import Client
from noonmark.schedule.preview import Notice
from noonmark.schedule.preview.compose import preview
from noonmark.wire.resources import Job, JobPatch, JobSpec

BERLIN = ("--tz", "Europe/Berlin", "--from", "2026-03-28T12:00:00Z")


def explained(noonmark, *arguments):
    result = noonmark("schedule", "explain", *arguments, "-o", "json")
    assert result.exit_code == 0, result.output
    return msgspec.json.decode(result.stdout)


def test_the_table_has_a_sentence_the_times_and_the_warnings(noonmark):
    result = noonmark("schedule", "explain", "30 2 * * *", *BERLIN, "--count", "2")
    assert result.exit_code == 0, result.output
    shown = " ".join(result.stdout.split())
    assert "canonical TZ=Europe/Berlin 30 2 * * *" in shown
    assert "2026-03-29 03:00:00 CEST +02:00 2026-03-29 01:00:00 the clock goes forward: moved from 02:30" in shown
    assert "2026-03-30 02:30:00 CEST +02:00 2026-03-30 00:30:00" in shown
    assert "2026-03-31" not in shown
    assert "! 02:30 does not exist on Sunday 29 March 2026" in shown
    assert "! the clock shows 02:30 twice on Sunday 25 October 2026" in shown


def test_every_part_is_an_option(noonmark):
    found = explained(
        noonmark, "0 2 * * *", *BERLIN, "--gap", "skip", "--overlap", "both", "--exclude", "sat", "--exclude", "12-24",
        "--only", "jan-jun", "--when-excluded", "move", "--start", "2026-04-01T00:00", "--end", "2026-05-01T00:00:00Z",
        "--max-runs", "5",
    )  # fmt: skip
    spec = found["schedule"]
    assert (spec["gap"], spec["overlap"], spec["when_excluded"], spec["max_runs"]) == ("skip", "both", "move", 5)
    assert (len(spec["exclude"]), len(spec["only"])) == (2, 1)
    assert spec["start"] == "2026-04-01T00:00:00+02:00"
    assert found["fires"][0]["local"] == "2026-04-01T02:00:00+02:00"
    assert found["ends"]
    assert len(found["fires"]) == 5


def test_a_name_decides_h(noonmark):
    texts = {name: explained(noonmark, "H H * * *", "--name", name)["canonical"] for name in ("a", "b")}
    assert texts["a"] != texts["b"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["61 * * * *"], "schedule.cron: "),
        (["0 9 * * *", "--tz", "Mars/Base"], "schedule.tz: 'Mars/Base' is not a known time zone"),
        (["every blursday"], "blursday"),
        (["now", "--max-runs", "2"], "--max-runs: a schedule of the kind 'now' has no such part"),
        (["5m", "--gap", "skip"], "--gap: a schedule of the kind 'every' has no such part"),
        (["5m", "--from", "yesterday"], "--from: 'yesterday' is not a time"),
        (["5m", "--name", "no spaces"], "--name: "),
        (["0 9 * * *", "--exclude", "blursday"], "schedule.exclude[0]: "),
    ],
)
def test_what_is_wrong_is_said_in_one_line(noonmark, arguments, said):
    shown = noonmark.refuses("schedule", "explain", *arguments)
    assert said in shown
    assert shown.startswith("error: ")
    assert shown.count("\n") == 1


def test_no_server_is_asked_unless_for_the_crowd(noonmark, monkeypatch):
    asked = []

    async def ask(_client, schedule, **details):
        asked.append((schedule, details["tz"], details["count"]))
        found = preview(schedule, now_us=0, count=details["count"])
        return msgspec.structs.replace(found, warnings=(Notice("crowd", "10,000 other jobs"),))

    monkeypatch.setattr(Client, "preview_schedule", ask)
    assert noonmark("schedule", "explain", "5m").exit_code == 0
    assert asked == []
    shown = noonmark("schedule", "explain", "5m", "--crowd", "--count", "3")
    assert "! 10,000 other jobs" in shown.stdout
    assert [(schedule.every, tz, count) for schedule, tz, count in asked] == [("5m", None, 3)]


@pytest.fixture
def sent(monkeypatch):
    """What `job create` and `job update` send, with a job that is there already."""
    specs = []
    moment = "2030-01-01T00:00:00Z"
    known = {
        "id": "job_1", "name": "x", "tenant": "default", "version": 4, "state": "active", "task": "t", "input": None,
        "schedule": {"kind": "cron", "cron": "0 9 * * *", "exclude": ["sat"]}, "queue": "q", "priority": 5,
        "timeout_s": 1.0, "start_deadline_s": None, "retry": {}, "delivery": "at_least_once", "misfire": {"limit": 7},
        "jitter_s": 0.0, "next_at": None, "created_at": moment, "updated_at": moment,
    }  # fmt: skip
    job = msgspec.json.decode(msgspec.json.encode(known), type=Job)

    async def create(_client, spec: JobSpec) -> Job:
        specs.append(msgspec.to_builtins(spec.schedule))
        return job

    async def update(_client, _ref: str, patch: JobPatch, version: int | None = None) -> Job:
        specs.append(patch)
        assert version == 4
        return job

    async def get(_client, _ref: str) -> Job:
        return job

    monkeypatch.setattr(Client, "create_job", create)
    monkeypatch.setattr(Client, "update_job", update)
    monkeypatch.setattr(Client, "get_job", get)
    return specs


@pytest.mark.parametrize(
    ("options", "schedule"),
    [
        ([], {"kind": "manual"}),
        (["--schedule", "every weekday at 9:30"], {"kind": "english", "english": "every weekday at 9:30"}),
        (["--schedule", "0 9 * * *", "--tz", "Asia/Tokyo"], {"kind": "cron", "cron": "0 9 * * *", "tz": "Asia/Tokyo"}),
        (["--every", "5m", "--max-runs", "3"], {"kind": "every", "every": "5m", "max_runs": 3}),
        (["--delay", "5m"], {"kind": "every", "every": "5m", "pace": "delay"}),
        (["--cron", "0 9 * * *", "--gap", "skip"], {"kind": "cron", "cron": "0 9 * * *", "gap": "skip"}),
        (["--rrule", "FREQ=DAILY"], {"kind": "rrule", "rrule": "FREQ=DAILY"}),
        (["--iso", "R/2030-01-01T00:00Z/PT5M"], {"kind": "iso", "iso": "R/2030-01-01T00:00Z/PT5M"}),
        (["--at", "2030-01-01T00:00:00Z"], {"kind": "at", "at": "2030-01-01T00:00:00Z"}),
        (["--at", "2030-01-01T00:00", "--tz", "Asia/Tokyo"], {"kind": "at", "at": "2030-01-01T00:00:00+09:00"}),
        (
            ["--at", "2030-01-01T00:00:00Z", "--at", "2031-01-01T00:00:00Z"],
            {"kind": "times", "times": ["2030-01-01T00:00:00Z", "2031-01-01T00:00:00Z"]},
        ),
        (
            ["--every", "5m", "--exclude", "sat", "--only", "jan", "--tz", "Asia/Tokyo"],
            {"kind": "every", "every": "5m", "exclude": ["sat"], "only": ["jan"], "tz": "Asia/Tokyo"},
        ),
        (["--now"], {"kind": "now"}),
        (["--manual"], {"kind": "manual"}),
    ],
)
def test_each_form_has_its_option(noonmark, sent, options, schedule):
    result = noonmark("job", "create", "x", "--task", "t", *options)
    assert result.exit_code == 0, result.output
    assert msgspec.json.decode(msgspec.json.encode(sent[0])) == schedule


def test_a_part_alone_changes_that_part_alone(noonmark, sent):
    result = noonmark("job", "update", "x", "--only", "jan-jun", "--misfire-window-s", "60")
    assert result.exit_code == 0, result.output
    [patch] = sent
    assert msgspec.json.decode(msgspec.json.encode(patch)) == {
        "schedule": {"kind": "cron", "cron": "0 9 * * *", "exclude": ["sat"], "only": ["jan-jun"]},
        "misfire": {"limit": 7, "window_s": 60.0},
    }
