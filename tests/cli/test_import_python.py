"""`noonmark import celery` and `apscheduler`, from files that are run; their objects are shaped as the real ones."""

import json

import msgspec
import pytest

from noonmark.cli.manifest.read import read_text
from noonmark.schedule.spec import At, Cron, Every, Solar

CELERY = '''
from datetime import timedelta

class crontab:
    """As celery.schedules.crontab is inside: what was given, and the sets that it stands for."""
    def __init__(self, minute="*", hour="*", day_of_week="*", day_of_month="*", month_of_year="*", **sets):
        self._orig_minute, self._orig_hour, self._orig_day_of_week = minute, hour, day_of_week
        self._orig_day_of_month, self._orig_month_of_year = day_of_month, month_of_year
        self.minute = sets.get("minutes", set(range(60)))
        self.hour = sets.get("hours", set(range(24)))
        self.day_of_week = sets.get("days", set(range(7)))
        self.day_of_month = sets.get("dates", set(range(1, 32)))
        self.month_of_year = set(range(1, 13))

class solar:
    def __init__(self, event, lat, lon):
        self.event, self.lat, self.lon = event, lat, lon

class schedule:
    def __init__(self, run_every):
        self.run_every = run_every

class Conf:
    timezone = "Europe/London"
    beat_schedule = {
        "seconds": {"task": "tasks.add", "schedule": 30.0, "args": (16, 16)},
        "delta": {"task": "tasks.add", "schedule": timedelta(minutes=5), "kwargs": {"x": 1},
                  "options": {"queue": "q", "expires": 60, "routing_key": "r", "priority": 3}},
        "nested": {"task": "tasks.add", "schedule": schedule(timedelta(seconds=10))},
        "cron": {"task": "t", "schedule": crontab(0, "*/3", "mon,fri", minutes={0}, hours={0, 3}, days={1, 5})},
        "both": {"task": "t", "schedule": crontab(0, 0, "sunday", "1-7", minutes={0}, hours={0}, days={0},
                                                  dates={1, 2, 3, 4, 5, 6, 7})},
        "set": {"task": "t", "schedule": crontab({0, 30}, minutes={0, 30})},
        "sun": {"task": "t", "schedule": solar("solar_noon", 52.5, 13.4)},
        "nautical": {"task": "t", "schedule": solar("dawn_nautical", 52.5, 13.4)},
        "mixed": {"task": "t", "schedule": 5, "args": (1,), "kwargs": {"a": 2}},
        "odd": {"task": "t", "schedule": object()},
        "empty": {"schedule": 5},
    }

class App:
    conf = Conf()

app = App()
'''

TRIGGERS = """
from datetime import UTC, datetime, timedelta

class Field:
    def __init__(self, name, text):
        self.name, self.text = name, text
    def __str__(self):
        return self.text

class CronTrigger:
    timezone, start_date, end_date, jitter = "Europe/Berlin", None, None, 10
    def __init__(self, **fields):
        least = dict(year="*", month="*", day="*", week="*", day_of_week="*", hour="*", minute="0", second="0")
        self.fields = [Field(name, text) for name, text in (least | fields).items()]

class IntervalTrigger:
    timezone, end_date, jitter = "UTC", None, None
    interval, start_date = timedelta(hours=2), datetime(2030, 1, 1, 0, 0, 0, 77, UTC)

class DateTrigger:
    run_date = datetime(2030, 1, 1, 12, tzinfo=UTC)

class AndTrigger:
    pass

class Job:
    def __init__(self, id, trigger, **more):
        self.id, self.trigger, self.func_ref, self.args, self.kwargs = id, trigger, "work.shop:paint", (), {}
        self.misfire_grace_time, self.coalesce = None, True
        vars(self).update(more)

class Scheduler:
    def get_jobs(self):
        return [
            Job("weekdays", CronTrigger(hour="5", day_of_week="mon-fri")),
            Job("third", CronTrigger(hour="2", day="3rd fri")),
            Job("last-day", CronTrigger(hour="2", day="last")),
            Job("from-monday", CronTrigger(hour="2", day_of_week="0,6")),
            Job("both", CronTrigger(hour="2", day="1-7", day_of_week="sun")),
            Job("seconds", CronTrigger(minute="*", second="*/5")),
            Job("one-year", CronTrigger(year="2030", hour="0")),
            Job("week", CronTrigger(week="1")),
            Job("often", IntervalTrigger(), kwargs={"x": 3}, misfire_grace_time=60, coalesce=False),
            Job("once", DateTrigger(), args=(1, 2)),
            Job("and", AndTrigger()),
        ]

scheduler = Scheduler()
"""


def imported(noonmark, *arguments):
    result = noonmark("import", *arguments)
    assert result.exit_code == 0, result.output
    return {name: wanted.spec for name, wanted in read_text("out", result.stdout).jobs.items()}, result.stderr


def test_a_beat_schedule(noonmark, tmp_path):
    file = tmp_path / "beat_app.py"
    file.write_text(CELERY)
    specs, report = imported(noonmark, "celery", str(file))
    zone = "Europe/London"
    assert {name: spec.schedule for name, spec in specs.items()} == {
        "seconds": Every("30s"),
        "delta": Every("300s"),
        "nested": Every("10s"),
        "cron": Cron("0 */3 * * 1,5", zone),
        "both": Cron("0 0 1-7 * *", zone, only=("sun",)),
        "set": Cron("0,30 * * * *", zone),
        "sun": Solar("noon", 52.5, 13.4),
    }
    assert (specs["delta"].queue, specs["delta"].start_deadline_s, specs["delta"].priority) == ("q", 60.0, 3)
    assert msgspec.json.decode(bytes(specs["seconds"].input)) == [16, 16]
    assert msgspec.json.decode(bytes(specs["delta"].input)) == {"x": 1}
    assert specs["seconds"].task == "tasks.add"
    for said in ("routing_key", "dawn_nautical", "args and kwargs", "of type object", "names no task"):
        assert said in report
    assert "7 jobs, 4 not carried over." in report


@pytest.mark.parametrize("target", ["beat_app.py:app", "beat_app.py:Conf.beat_schedule"])
def test_the_object_may_be_named(noonmark, tmp_path, monkeypatch, target):
    (tmp_path / "beat_app.py").write_text(CELERY)
    monkeypatch.chdir(tmp_path)
    assert len(imported(noonmark, "celery", target)[0]) == 7


@pytest.mark.parametrize("kind", ["celery", "apscheduler"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import nowhere_at_all\n", "needs the module 'nowhere_at_all'"),
        ("1 / 0\n", "raised ZeroDivisionError"),
        ("x = 1\n", "was found in it"),
    ],
)
def test_what_cannot_be_loaded_is_told(noonmark, tmp_path, kind, text, said):
    file = tmp_path / "broken_config.py"
    file.write_text(text)
    assert said in noonmark.refuses("import", kind, str(file))


def test_a_scheduler(noonmark, tmp_path):
    file = tmp_path / "aps_jobs.py"
    file.write_text(TRIGGERS)
    specs, report = imported(noonmark, "apscheduler", f"{file}:scheduler")
    zone = "Europe/Berlin"
    assert {name: specs[name].schedule for name in specs if name not in ("one-year", "often", "once")} == {
        "weekdays": Cron("0 5 * * mon-fri", zone),
        "third": Cron("0 2 * * 5#3", zone),
        "last-day": Cron("0 2 L * *", zone),
        "from-monday": Cron("0 2 * * mon,sun", zone),
        "both": Cron("0 2 1-7 * *", zone, only=("sun",)),
        "seconds": Cron("*/5 * * * * *", zone),
    }
    year = specs["one-year"].schedule
    assert (year.start.isoformat(), year.end.isoformat()) == ("2030-01-01T00:00:00+01:00", "2030-12-31T23:59:59+01:00")
    often = specs["often"]
    assert (often.schedule.every, often.schedule.anchor.isoformat()) == ("7200s", "2030-01-01T00:00:00+00:00")
    assert (often.misfire.policy, often.misfire.window_s) == ("all", 60.0)
    assert isinstance(specs["once"].schedule, At)
    assert specs["once"].task == "work.shop.paint"
    assert specs["weekdays"].jitter_s == 10.0
    for said in ("week=1 has no counterpart", "AndTrigger", "max_instances"):
        assert said in report


def test_what_add_job_is_called_with(noonmark, tmp_path):
    jobs = [
        {"id": "five", "func": "jobs:run", "trigger": "cron", "hour": 5, "executor": "big"},
        {"id": "ten", "func": "jobs:run", "trigger": "interval", "minutes": 10, "args": [1]},
        {"id": "then", "func": "jobs:run", "trigger": "date", "run_date": "2030-01-01T00:00:00"},
        {"id": "monthly", "func": "jobs:run", "trigger": "cron", "month": "*/3"},
        {"id": "now", "func": "jobs:run"},
    ]
    file = tmp_path / "jobs.json"
    file.write_text(json.dumps(jobs))
    specs, report = imported(noonmark, "apscheduler", str(file), "--tz", "Asia/Tokyo")
    assert specs["five"].schedule == Cron("0 5 * * *", "Asia/Tokyo")
    assert specs["ten"].schedule == Every("600s")
    assert specs["then"].schedule.at.isoformat() == "2029-12-31T15:00:00+00:00"
    assert specs["monthly"].schedule == Cron("0 0 1 */3 *", "Asia/Tokyo")
    assert "'executor' has no counterpart" in report
    assert "runs once when the scheduler starts" in report
