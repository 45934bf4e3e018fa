"""Logs of structlog and of the standard library come out alike."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import logging, sys, structlog
from noonmark.cli.logs import LogFormat, LogLevel, set_up_logs
set_up_logs(LogFormat(sys.argv[1]), LogLevel.INFO)
structlog.get_logger("ours").info("started", port=7171)
structlog.get_logger("ours").debug("hidden")
logging.getLogger("uvicorn.error").info("theirs %d", 5)
logging.getLogger("uvicorn.access").info("hidden")
try:
    1 / 0
except ZeroDivisionError:
    structlog.get_logger("ours").exception("failed", thing={1, 2})
"""


def logged(form: str) -> str:
    done = subprocess.run([sys.executable, "-c", PROGRAM, form], capture_output=True, text=True, check=True)
    assert not done.stdout
    return done.stderr


def test_json_is_one_object_a_line():
    ours, theirs, failed = map(json.loads, logged("json").splitlines())
    assert (ours["event"], ours["port"], ours["logger"], ours["level"]) == ("started", 7171, "ours", "info")
    assert (theirs["event"], theirs["logger"]) == ("theirs 5", "uvicorn.error")
    assert "ZeroDivisionError" in failed["exception"]
    assert all("timestamp" in line for line in (ours, theirs, failed))


@pytest.mark.parametrize("text", ["started", "port=7171", "theirs 5", "ZeroDivisionError"])
def test_console_is_readable_and_uncoloured_when_piped(text):
    shown = logged("console")
    assert text in shown
    assert "\x1b" not in shown
    assert "hidden" not in shown
