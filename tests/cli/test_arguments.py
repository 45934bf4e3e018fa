"""What is wrong with a command line is said in one line, with the field and the fix, before anything is sent."""

import subprocess
import sys

import pytest

NOBODY = "http://127.0.0.1:9"  # the discard port: nothing listens there


def test_help_names_every_noun(noonmark):
    shown = noonmark("--help").stdout
    for noun in (
        "up",
        "node",
        "worker",
        "migrate",
        "job",
        "run",
        "dead",
        "schedule",
        "apply",
        "import",
        "export",
        "doctor",
    ):
        assert f" {noun} " in shown


def test_version(noonmark):
    from noonmark import __version__

    assert noonmark("--version").stdout == f"noonmark {__version__}\n"


def test_help_loads_nothing_heavy():
    heavy = ["uvloop", "uvicorn", "aiohttp", "asyncpg", "structlog", "psutil", "prometheus_client"]
    code = f"import sys, noonmark.cli.root; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--every", "5m", "--now"], "schedule: more than one was given"),
        (["--every", "5m", "--tz", "Europe/Zurich"], "--tz: a period is the same in every time zone"),
        (["--tz", "Europe/Zurich"], "--tz: there is no schedule that it belongs to"),
        (["--now", "--end", "2030-01-01T00:00:00Z"], "--end: a schedule of the kind 'now' has no such part"),
        (["--schedule", "0 9 * * *", "--cron", "0 9 * * *"], "schedule: more than one was given"),
        (["--at", "tomorrow"], "--at: 'tomorrow' is not a time"),
        (["--at", "2030-01-01T00:00:00"], "has no time zone"),
        (["--input", "{name: Ada}"], "--input: this is not JSON"),
    ],
)
def test_create_refuses(noonmark, options, said):
    shown = noonmark.refuses("job", "create", "x", "--task", "hello", *options)
    assert said in shown
    assert shown.startswith("error: ")
    assert shown.count("\n") == 1


def test_create_needs_a_task(noonmark):
    assert "--task" in noonmark.refuses("job", "create", "x")


def test_create_refuses_an_unknown_misfire_policy(noonmark):
    assert "--misfire" in noonmark.refuses("job", "create", "x", "--task", "t", "--misfire", "never")


def test_update_needs_a_change(noonmark):
    assert "nothing to change" in noonmark.refuses("job", "update", "x")


@pytest.mark.parametrize("options", [[], ["run_1", "--all"], ["--job", "x", "--all"]])
def test_redrive_needs_exactly_one_choice(noonmark, options):
    assert "say in one way which dead letters" in noonmark.refuses("dead", "redrive", *options)


def test_no_server_is_exit_code_7(noonmark):
    shown = noonmark.refuses("job", "pause", "x", "--server", NOBODY, exit_code=7)
    assert f"no answer from {NOBODY}" in shown
    assert "is the node running" in shown


def test_an_answer_that_is_not_ours_is_told(noonmark, monkeypatch):
    from noonmark.client.transport import Transport

    async def answer(*_args, **_details):
        return b"<html>"

    monkeypatch.setattr(Transport, "call", answer)
    assert "was not understood" in noonmark.refuses("job", "show", "x", exit_code=1)


def test_a_database_that_does_not_answer_is_exit_code_7(noonmark):
    shown = noonmark.refuses("migrate", "--database-url", "postgresql://127.0.0.1:9/x", exit_code=7)
    assert "--database-url: cannot connect" in shown


@pytest.mark.parametrize("command", ["node", "migrate"])
def test_an_address_that_is_none_is_exit_code_7(noonmark, command):
    assert "--database-url: cannot connect" in noonmark.refuses(command, "--database-url", "mysql://x", exit_code=7)


def test_a_node_needs_a_database(noonmark):
    assert "--database-url" in noonmark.refuses("node")
