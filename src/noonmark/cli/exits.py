"""How a command ends: 0, the exit code of an error (errors.py), or one of these."""

from enum import IntEnum


class Exit(IntEnum):
    RUN_FAILED = 9
    """The run that was waited for ended, but did not succeed."""
    DIFFERENT = 10
    """`apply --exit-code` found something to do, or `doctor` something to look at."""
    UNHEALTHY = 11
    """`doctor` found something that must be seen to."""
    INTERRUPTED = 130
    """Ctrl-C."""
