"""Shell completion: the scripts, the commands that they ask for, and names of jobs from the server."""

import asyncio
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from noonmark.cli.completion import complete_jobs


def completed(line: str, **environment: str) -> list[str]:
    """What bash would offer for the last word of the line."""
    words = line.split(" ")
    answer = subprocess.run(
        [sys.executable, "-c", "from noonmark.cli import main; main()"],
        env={
            **os.environ, "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_NOONMARK_COMPLETE": "complete_bash",
            **environment,
        },
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Traceback" not in answer.stderr
    return answer.stdout.split()


@pytest.mark.parametrize(("shell", "said"), [("bash", "complete -o"), ("zsh", "#compdef"), ("fish", "--command")])
def test_the_script_of_each_shell(noonmark, shell, said):
    script = noonmark("completion", shell)
    assert script.exit_code == 0, script.output
    assert said in script.stdout
    assert "_NOONMARK_COMPLETE" in script.stdout


def test_an_unknown_shell_is_refused(noonmark):
    noonmark.refuses("completion", "tcsh")


def test_commands_and_options():
    assert "job" in completed("noonmark ")
    assert completed("noonmark job tr") == ["trigger"]
    assert "--dry-run" in completed("noonmark job pause --d")


async def test_names_of_jobs(served):
    for name in ("report-daily", "report-weekly", "other"):
        await served("job", "create", name, "--task", "greet")
    found = await asyncio.to_thread(completed, "noonmark job show rep", **served.environment)
    assert found == ["report-daily", "report-weekly"]


def test_no_server_is_no_offer():
    context = SimpleNamespace(params={"server": "http://127.0.0.1:9"})
    assert complete_jobs(context, "") == []
