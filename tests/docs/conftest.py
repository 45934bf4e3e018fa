"""The command line in this process, which leaves no trace of its logging."""

from tests.cli.conftest import noonmark

__all__ = ["noonmark"]
