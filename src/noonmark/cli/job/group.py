"""The group that the commands of a job belong to."""

from enum import StrEnum

import typer

jobs = typer.Typer(no_args_is_help=True, help="Make, read, change and trigger jobs.")


class JobState(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
