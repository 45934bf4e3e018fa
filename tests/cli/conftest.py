"""A folder that the database's account can enter, also when the tests run as root."""

import logging
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from typer.testing import CliRunner, Result

from noonmark.cli.root import root


class Noonmark:
    """The command line in this process, for what needs no server."""

    def __call__(self, *arguments: str, **environment: str) -> Result:
        return CliRunner().invoke(root, arguments, env={"COLUMNS": "200", **environment})

    def refuses(self, *arguments: str, exit_code: int = 2) -> str:
        """What it says on stderr."""
        result = self(*arguments)
        assert result.exit_code == exit_code, result.output
        assert not result.stdout
        assert "Traceback" not in result.stderr
        return result.stderr


@pytest.fixture
def noonmark(monkeypatch: pytest.MonkeyPatch) -> Iterator[Noonmark]:
    for name in ("SERVER", "TOKEN", "TENANT", "DATABASE_URL", "DATA_DIR"):
        monkeypatch.delenv(f"NOONMARK_{name}", raising=False)
    handlers, level = logging.root.handlers[:], logging.root.level
    yield Noonmark()
    logging.captureWarnings(False)
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)
    structlog.reset_defaults()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="noonmark-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
