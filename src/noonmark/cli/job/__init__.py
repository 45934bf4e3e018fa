"""`noonmark job`: make, read, change and trigger jobs; a file for each side of them."""

from noonmark.cli.job import definition, runs, state, times, versions
from noonmark.cli.job.group import jobs

__all__ = ["definition", "jobs", "runs", "state", "times", "versions"]
