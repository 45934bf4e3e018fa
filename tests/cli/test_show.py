"""Tables are safe to look at, and whole when piped."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from noonmark.cli.show import console, duration_text, first_line, plain, schedule_text, table
from noonmark.cli.up.follow import run_line
from noonmark.model.job import Misfire
from noonmark.model.policy import Retry
from noonmark.schedule.spec import At, Cron, English, Every, Manual, Now, ScheduleSpec
from noonmark.wire.resources import NO_INPUT, Attempt, Job

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


def test_escape_sequences_are_taken_out():
    assert plain("a\x1b[31mred\nb") == "a [31mred b"


def test_markup_of_users_stays_text(capsys):
    console().print(table(["error"], [["[bold]x[/bold]"]]))
    assert "[bold]x[/bold]" in capsys.readouterr().out


def test_a_piped_table_is_not_cut(capsys):
    console().print(table(["a", "b"], [["x" * 150, "y" * 150]]))
    assert "x" * 150 + "  " + "y" * 150 in capsys.readouterr().out


def test_an_empty_table_says_so(capsys):
    console().print(table(["a"], [], "No jobs."))
    assert capsys.readouterr().out == "No jobs.\n"


def test_the_last_line_of_a_traceback_is_the_error():
    assert first_line("Traceback:\n  File …\nValueError: no") == "ValueError: no"
    assert len(first_line("x" * 500)) == 80


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-0.001, "0 ms"), (0.00004, "40 µs"), (0.0034, "3 ms"), (1.25, "1.2 s"), (240, "4 min"), (8 * 3600, "8 h")],
)
def test_durations(seconds, text):
    assert duration_text(seconds) == text


def job(schedule: ScheduleSpec, canonical: str = "") -> Job:
    return Job(
        id="job_1", name="x", tenant="default", version=1, state="active", task="t", schedule=schedule, input=NO_INPUT,
        queue="q", priority=5, timeout_s=1.0, start_deadline_s=None, retry=Retry(), delivery="at_least_once",
        misfire=Misfire(), jitter_s=0.0, next_at=None, created_at=NOON, updated_at=NOON, canonical=canonical,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("schedule", "text"),
    [
        (Every(every="5m"), "every 5m"),
        (Every(every="5m", pace="delay"), "every 5m after the previous run ended"),
        (Cron(cron="0 1 * * *", tz="Europe/Zurich"), "TZ=Europe/Zurich 0 1 * * *"),
        (English(english="every weekday"), "every weekday"),
        (Now(), "now"),
        (Manual(), "manual"),
    ],
)
def test_schedules(schedule, text):
    assert schedule_text(job(schedule)) == text


def test_what_the_server_understood_is_shown_unless_it_is_english():
    assert schedule_text(job(Cron(cron="@daily"), "0 0 * * *")) == "0 0 * * *"
    assert schedule_text(job(English(english="every weekday"), "0 0 * * 1-5")) == "every weekday"


def test_a_time_is_shown_where_the_reader_is():
    assert schedule_text(job(At(at=NOON))) == "at " + NOON.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def test_the_line_of_a_run():
    ms = timedelta(milliseconds=1)
    attempt = Attempt(
        run="run_1", attempt=1, outcome="succeeded", reason="r", why="w", final=True, worker=1, nominal_at=NOON,
        due_at=NOON, granted_at=NOON, started_at=NOON + 4 * ms, finished_at=NOON + 7 * ms, error=None, result=None,
    )  # fmt: skip
    shown = NOON.astimezone().strftime("%H:%M:%S")
    assert run_line("hello", attempt) == f"{shown}  hello  succeeded in 3 ms, started 4 ms after due"
    failed = msgspec.structs.replace(attempt, outcome="timed_out", error="Traceback\nTimeoutError: slow")
    assert run_line("hello", failed).endswith("timed out in 3 ms, started 4 ms after due: TimeoutError: slow")
